/* Made by tools/median_tree.py, which explains these networks; do not edit.
 *
 * They work on wires, an array of values. MM(a, b) puts the minimum of wires a and b on a and their maximum on b; MIN(a, b) does only the
 * first (b is not used any more), MAX(a, b) only the second; MIN3(a, b, c) puts the least of three on a; COPY(to, from). Other
 * names put a value on the wire named first, all lists ascending:
 *   COLUMN_SIZE  SAMPLE(wire, place): sorts SIZE - 1 samples, one below the other; OUT(wire, place)
 *   JOIN_SIZE    COLUMN(wire, i, place): merges four sorted columns; OUT(wire, place)
 *   ROW_SIZE     SAMPLE(wire, place): sorts SIZE - 3 samples, one beside the other; OUT(wire, place)
 *   CORE_SIZE    JOINED(wire, i, place): the joined list that starts in column 3 + 4 i of the tile; COLUMN(wire, x, place): its sorted
 *                column x; OUT(wire, place): MEDIAN_CORE_SIZE values
 *   HALF_SIZE    CORE(wire, place); COLUMN(wire, i, place), SAMPLE(wire, i, row): a sorted column and its sample in the row above
 *                (0) or below (1): 0 and 1 are the columns that the half adds to the core, 2 and 3 those of its left and its right
 *                medians alone; ROW(wire, row, place): the sorted row; OUT(wire, x, row) */
#ifndef MEDIAN_TREE_H
#define MEDIAN_TREE_H

/* ---- 7 x 7 */
#define MEDIAN_CORE_7 24
/* 24 operations */
#define MEDIAN_TREE_COLUMN_WIRES_7 6
#define MEDIAN_TREE_COLUMN_7(MM, MIN, MAX, SAMPLE, OUT)                                                                        \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(3, 5) \
    MM(4, 5) MM(0, 3) MM(2, 5) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(5, 5)
/* 158 operations */
#define MEDIAN_TREE_JOIN_WIRES_7 24
#define MEDIAN_TREE_JOIN_7(MM, MIN, MAX, COLUMN, OUT)                                                                            \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 1, 0)              \
    COLUMN(7, 1, 1) COLUMN(8, 1, 2) COLUMN(9, 1, 3) COLUMN(10, 1, 4) COLUMN(11, 1, 5) COLUMN(12, 2, 0) COLUMN(13, 2, 1)          \
    COLUMN(14, 2, 2) COLUMN(15, 2, 3) COLUMN(16, 2, 4) COLUMN(17, 2, 5) COLUMN(18, 3, 0) COLUMN(19, 3, 1) COLUMN(20, 3, 2)       \
    COLUMN(21, 3, 3) COLUMN(22, 3, 4) COLUMN(23, 3, 5) MM(0, 6) MM(4, 10) MM(4, 6) MM(2, 8) MM(2, 4) MM(8, 6) MM(1, 7) MM(5, 11) \
    MM(5, 7) MM(3, 9) MM(3, 5) MM(9, 7) MM(1, 2) MM(3, 4) MM(5, 8) MM(9, 6) MM(7, 10) MM(12, 18) MM(16, 22) MM(16, 18)           \
    MM(14, 20) MM(14, 16) MM(20, 18) MM(13, 19) MM(17, 23) MM(17, 19) MM(15, 21) MM(15, 17) MM(21, 19) MM(13, 14) MM(15, 16)     \
    MM(17, 20) MM(21, 18) MM(19, 22) MM(0, 12) MM(6, 18) MM(6, 12) MM(4, 16) MM(4, 6) MM(16, 12) MM(2, 14) MM(10, 22) MM(10, 14) \
    MM(8, 20) MM(8, 10) MM(20, 14) MM(2, 4) MM(8, 6) MM(10, 16) MM(20, 12) MM(14, 18) MM(1, 13) MM(7, 19) MM(7, 13) MM(5, 17)    \
    MM(5, 7) MM(17, 13) MM(3, 15) MM(11, 23) MM(11, 15) MM(9, 21) MM(9, 11) MM(21, 15) MM(3, 5) MM(9, 7) MM(11, 17) MM(21, 13)   \
    MM(15, 19) MM(1, 2) MM(3, 4) MM(5, 8) MM(9, 6) MM(7, 10) MM(11, 16) MM(17, 20) MM(21, 12) MM(13, 14) MM(15, 18) MM(19, 22)   \
    OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(8, 6) OUT(9, 7) OUT(6, 8) OUT(7, 9) OUT(10, 10) OUT(11, 11)  \
    OUT(16, 12) OUT(17, 13) OUT(20, 14) OUT(21, 15) OUT(12, 16) OUT(13, 17) OUT(14, 18) OUT(15, 19) OUT(18, 20) OUT(19, 21)      \
    OUT(22, 22) OUT(23, 23)
/* 10 operations */
#define MEDIAN_TREE_ROW_WIRES_7 4
#define MEDIAN_TREE_ROW_7(MM, MIN, MAX, SAMPLE, OUT)                                                                     \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) MM(0, 1) MM(2, 3) MM(0, 2) MM(1, 3) MM(1, 2) OUT(0, 0) OUT(1, 1) \
    OUT(2, 2) OUT(3, 3)
/* 0 operations */
#define MEDIAN_TREE_CORE_WIRES_7 24
#define MEDIAN_TREE_CORE_7(MM, MIN, MAX, JOINED, COLUMN, OUT)                                                                 \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)           \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)   \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)               \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) \
    OUT(5, 5) OUT(6, 6) OUT(7, 7) OUT(8, 8) OUT(9, 9) OUT(10, 10) OUT(11, 11) OUT(12, 12) OUT(13, 13) OUT(14, 14) OUT(15, 15) \
    OUT(16, 16) OUT(17, 17) OUT(18, 18) OUT(19, 19) OUT(20, 20) OUT(21, 21) OUT(22, 22) OUT(23, 23)
/* 338 operations */
#define MEDIAN_TREE_HALF_WIRES_7 136
#define MEDIAN_TREE_HALF_7(MM, MIN, MAX, CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT)                                             \
    CORE(0, 0) CORE(1, 1) CORE(2, 2) CORE(3, 3) CORE(4, 4) CORE(5, 5) CORE(6, 6) CORE(7, 7) CORE(8, 8) CORE(9, 9) CORE(10, 10)   \
    CORE(11, 11) CORE(12, 12) CORE(13, 13) CORE(14, 14) CORE(15, 15) CORE(16, 16) CORE(17, 17) CORE(18, 18) CORE(19, 19)         \
    CORE(20, 20) CORE(21, 21) CORE(22, 22) CORE(23, 23) COLUMN(24, 0, 0) COLUMN(25, 0, 1) COLUMN(26, 0, 2) COLUMN(27, 0, 3)      \
    COLUMN(28, 0, 4) COLUMN(29, 0, 5) COLUMN(30, 1, 0) COLUMN(31, 1, 1) COLUMN(32, 1, 2) COLUMN(33, 1, 3) COLUMN(34, 1, 4)       \
    COLUMN(35, 1, 5) MM(24, 30) MM(28, 34) MM(28, 30) MM(26, 32) MM(26, 28) MM(32, 30) MM(25, 31) MM(29, 35) MM(29, 31)          \
    MM(27, 33) MM(27, 29) MM(33, 31) MM(25, 26) MM(27, 28) MM(29, 32) MM(33, 30) MM(31, 34) MAX(0, 24) MM(16, 24) MM(8, 30)      \
    MAX(8, 16) MIN(30, 24) MAX(4, 28) MIN(20, 28) MM(12, 20) MM(12, 16) MM(20, 30) MAX(2, 26) MM(18, 26) MM(10, 34) MM(10, 18)   \
    MIN(34, 26) MM(6, 32) MIN(22, 32) MM(14, 22) MAX(6, 10) MM(14, 18) MIN(22, 34) MAX(10, 12) MM(14, 16) MM(18, 20) MM(22, 30)  \
    MAX(1, 25) MM(17, 25) MM(9, 31) MAX(9, 17) MIN(31, 25) MAX(5, 29) MIN(21, 29) MM(13, 21) MM(13, 17) MM(21, 31) MAX(3, 27)    \
    MM(19, 27) MM(11, 35) MM(11, 19) MIN(35, 27) MM(7, 33) MIN(23, 33) MM(15, 23) MAX(7, 11) MM(15, 19) MIN(23, 35) MM(11, 13)   \
    MM(15, 17) MM(19, 21) MIN(23, 31) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 30)               \
    SAMPLE(36, 0, 0) SAMPLE(37, 1, 0) MM(36, 37) ROW(38, 0, 0) ROW(39, 0, 1) ROW(40, 0, 2) ROW(41, 0, 3) MM(38, 36) MM(40, 36)   \
    MM(39, 37) MM(41, 37) MM(39, 40) MM(41, 36) COPY(42, 11) COPY(43, 12) COPY(44, 13) COPY(45, 14) COPY(46, 15) COPY(47, 16)    \
    COPY(48, 17) COPY(49, 18) COPY(50, 19) COPY(51, 20) COPY(52, 21) COPY(53, 22) COPY(54, 23) COPY(55, 30) MAX(42, 38)          \
    MM(50, 38) MM(46, 36) MIN(54, 36) MAX(46, 50) MM(54, 38) MAX(44, 40) MM(52, 40) MM(48, 52) MM(48, 50) MM(52, 54) MIN(40, 38) \
    MAX(43, 39) MM(51, 39) MM(47, 37) MIN(55, 37) MM(47, 51) MIN(55, 39) MM(45, 41) MIN(53, 41) MM(49, 53) MAX(45, 47)           \
    MM(49, 51) MM(53, 55) MAX(47, 48) MM(49, 50) MM(51, 52) MM(53, 54) MIN(55, 40) SAMPLE(56, 2, 0) COLUMN(57, 2, 0)             \
    COLUMN(58, 2, 1) COLUMN(59, 2, 2) COLUMN(60, 2, 3) COLUMN(61, 2, 4) COLUMN(62, 2, 5) MM(57, 56) MM(61, 56) MM(59, 61)        \
    MM(58, 59) MM(60, 61) MM(62, 56) COPY(63, 48) COPY(64, 49) COPY(65, 50) COPY(66, 51) COPY(67, 52) COPY(68, 53) COPY(69, 54)  \
    COPY(70, 55) MAX(56, 63) MAX(62, 64) MAX(61, 65) MAX(60, 66) MAX(59, 67) MAX(58, 68) MAX(57, 69) MIN3(63, 64, 65)            \
    MIN3(66, 67, 68) MIN(69, 70) MIN3(63, 66, 69) OUT(63, 0, 0) SAMPLE(71, 3, 0) COLUMN(72, 3, 0) COLUMN(73, 3, 1)               \
    COLUMN(74, 3, 2) COLUMN(75, 3, 3) COLUMN(76, 3, 4) COLUMN(77, 3, 5) MM(72, 71) MM(76, 71) MM(74, 76) MM(73, 74) MM(75, 76)   \
    MM(77, 71) COPY(78, 48) COPY(79, 49) COPY(80, 50) COPY(81, 51) COPY(82, 52) COPY(83, 53) COPY(84, 54) COPY(85, 55)           \
    MAX(71, 78) MAX(77, 79) MAX(76, 80) MAX(75, 81) MAX(74, 82) MAX(73, 83) MAX(72, 84) MIN3(78, 79, 80) MIN3(81, 82, 83)        \
    MIN(84, 85) MIN3(78, 81, 84) OUT(78, 1, 0) SAMPLE(86, 0, 1) SAMPLE(87, 1, 1) MM(86, 87) ROW(88, 1, 0) ROW(89, 1, 1)          \
    ROW(90, 1, 2) ROW(91, 1, 3) MM(88, 86) MM(90, 86) MM(89, 87) MM(91, 87) MM(89, 90) MM(91, 86) COPY(92, 11) COPY(93, 12)      \
    COPY(94, 13) COPY(95, 14) COPY(96, 15) COPY(97, 16) COPY(98, 17) COPY(99, 18) COPY(100, 19) COPY(101, 20) COPY(102, 21)      \
    COPY(103, 22) COPY(104, 23) COPY(105, 30) MAX(92, 88) MM(100, 88) MM(96, 86) MIN(104, 86) MAX(96, 100) MM(104, 88)           \
    MAX(94, 90) MM(102, 90) MM(98, 102) MM(98, 100) MM(102, 104) MIN(90, 88) MAX(93, 89) MM(101, 89) MM(97, 87) MIN(105, 87)     \
    MM(97, 101) MIN(105, 89) MM(95, 91) MIN(103, 91) MM(99, 103) MAX(95, 97) MM(99, 101) MM(103, 105) MAX(97, 98) MM(99, 100)    \
    MM(101, 102) MM(103, 104) MIN(105, 90) SAMPLE(106, 2, 1) COLUMN(107, 2, 0) COLUMN(108, 2, 1) COLUMN(109, 2, 2)               \
    COLUMN(110, 2, 3) COLUMN(111, 2, 4) COLUMN(112, 2, 5) MM(107, 106) MM(111, 106) MM(109, 111) MM(108, 109) MM(110, 111)       \
    MM(112, 106) COPY(113, 98) COPY(114, 99) COPY(115, 100) COPY(116, 101) COPY(117, 102) COPY(118, 103) COPY(119, 104)          \
    COPY(120, 105) MAX(106, 113) MAX(112, 114) MAX(111, 115) MAX(110, 116) MAX(109, 117) MAX(108, 118) MAX(107, 119)             \
    MIN3(113, 114, 115) MIN3(116, 117, 118) MIN(119, 120) MIN3(113, 116, 119) OUT(113, 0, 1) SAMPLE(121, 3, 1) COLUMN(122, 3, 0) \
    COLUMN(123, 3, 1) COLUMN(124, 3, 2) COLUMN(125, 3, 3) COLUMN(126, 3, 4) COLUMN(127, 3, 5) MM(122, 121) MM(126, 121)          \
    MM(124, 126) MM(123, 124) MM(125, 126) MM(127, 121) COPY(128, 98) COPY(129, 99) COPY(130, 100) COPY(131, 101) COPY(132, 102) \
    COPY(133, 103) COPY(134, 104) COPY(135, 105) MAX(121, 128) MAX(127, 129) MAX(126, 130) MAX(125, 131) MAX(124, 132)           \
    MAX(123, 133) MAX(122, 134) MIN3(128, 129, 130) MIN3(131, 132, 133) MIN(134, 135) MIN3(128, 131, 134) OUT(128, 1, 1)

/* ---- 9 x 9 */
#define MEDIAN_CORE_9 34
/* 38 operations */
#define MEDIAN_TREE_COLUMN_WIRES_9 8
#define MEDIAN_TREE_COLUMN_9(MM, MIN, MAX, SAMPLE, OUT)                                                                       \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) MM(0, 1) MM(2, 3) \
    MM(0, 2) MM(1, 3) MM(1, 2) MM(4, 5) MM(6, 7) MM(4, 6) MM(5, 7) MM(5, 6) MM(0, 4) MM(2, 6) MM(2, 4) MM(1, 5) MM(3, 7)      \
    MM(3, 5) MM(1, 2) MM(3, 4) MM(5, 6) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(7, 7)
/* 230 operations */
#define MEDIAN_TREE_JOIN_WIRES_9 32
#define MEDIAN_TREE_JOIN_9(MM, MIN, MAX, COLUMN, OUT)                                                                            \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 0, 6)              \
    COLUMN(7, 0, 7) COLUMN(8, 1, 0) COLUMN(9, 1, 1) COLUMN(10, 1, 2) COLUMN(11, 1, 3) COLUMN(12, 1, 4) COLUMN(13, 1, 5)          \
    COLUMN(14, 1, 6) COLUMN(15, 1, 7) COLUMN(16, 2, 0) COLUMN(17, 2, 1) COLUMN(18, 2, 2) COLUMN(19, 2, 3) COLUMN(20, 2, 4)       \
    COLUMN(21, 2, 5) COLUMN(22, 2, 6) COLUMN(23, 2, 7) COLUMN(24, 3, 0) COLUMN(25, 3, 1) COLUMN(26, 3, 2) COLUMN(27, 3, 3)       \
    COLUMN(28, 3, 4) COLUMN(29, 3, 5) COLUMN(30, 3, 6) COLUMN(31, 3, 7) MM(0, 8) MM(4, 12) MM(4, 8) MM(2, 10) MM(6, 14)          \
    MM(6, 10) MM(2, 4) MM(6, 8) MM(10, 12) MM(1, 9) MM(5, 13) MM(5, 9) MM(3, 11) MM(7, 15) MM(7, 11) MM(3, 5) MM(7, 9)           \
    MM(11, 13) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14) MM(16, 24) MM(20, 28) MM(20, 24) MM(18, 26)   \
    MM(22, 30) MM(22, 26) MM(18, 20) MM(22, 24) MM(26, 28) MM(17, 25) MM(21, 29) MM(21, 25) MM(19, 27) MM(23, 31) MM(23, 27)     \
    MM(19, 21) MM(23, 25) MM(27, 29) MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(0, 16)      \
    MM(8, 24) MM(8, 16) MM(4, 20) MM(12, 28) MM(12, 20) MM(4, 8) MM(12, 16) MM(20, 24) MM(2, 18) MM(10, 26) MM(10, 18) MM(6, 22) \
    MM(14, 30) MM(14, 22) MM(6, 10) MM(14, 18) MM(22, 26) MM(2, 4) MM(6, 8) MM(10, 12) MM(14, 16) MM(18, 20) MM(22, 24)          \
    MM(26, 28) MM(1, 17) MM(9, 25) MM(9, 17) MM(5, 21) MM(13, 29) MM(13, 21) MM(5, 9) MM(13, 17) MM(21, 25) MM(3, 19) MM(11, 27) \
    MM(11, 19) MM(7, 23) MM(15, 31) MM(15, 23) MM(7, 11) MM(15, 19) MM(23, 27) MM(3, 5) MM(7, 9) MM(11, 13) MM(15, 17)           \
    MM(19, 21) MM(23, 25) MM(27, 29) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18)   \
    MM(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4)          \
    OUT(5, 5) OUT(6, 6) OUT(7, 7) OUT(8, 8) OUT(9, 9) OUT(10, 10) OUT(11, 11) OUT(12, 12) OUT(13, 13) OUT(14, 14) OUT(15, 15)    \
    OUT(16, 16) OUT(17, 17) OUT(18, 18) OUT(19, 19) OUT(20, 20) OUT(21, 21) OUT(22, 22) OUT(23, 23) OUT(24, 24) OUT(25, 25)      \
    OUT(26, 26) OUT(27, 27) OUT(28, 28) OUT(29, 29) OUT(30, 30) OUT(31, 31)
/* 24 operations */
#define MEDIAN_TREE_ROW_WIRES_9 6
#define MEDIAN_TREE_ROW_9(MM, MIN, MAX, SAMPLE, OUT)                                                                           \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(3, 5) \
    MM(4, 5) MM(0, 3) MM(2, 5) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(5, 5)
/* 242 operations */
#define MEDIAN_TREE_CORE_WIRES_9 48
#define MEDIAN_TREE_CORE_9(MM, MIN, MAX, JOINED, COLUMN, OUT)                                                                    \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)              \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)      \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)                  \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) JOINED(24, 0, 24) JOINED(25, 0, 25)                  \
    JOINED(26, 0, 26) JOINED(27, 0, 27) JOINED(28, 0, 28) JOINED(29, 0, 29) JOINED(30, 0, 30) JOINED(31, 0, 31) COLUMN(32, 7, 0) \
    COLUMN(33, 7, 1) COLUMN(34, 7, 2) COLUMN(35, 7, 3) COLUMN(36, 7, 4) COLUMN(37, 7, 5) COLUMN(38, 7, 6) COLUMN(39, 7, 7)       \
    COLUMN(40, 8, 0) COLUMN(41, 8, 1) COLUMN(42, 8, 2) COLUMN(43, 8, 3) COLUMN(44, 8, 4) COLUMN(45, 8, 5) COLUMN(46, 8, 6)       \
    COLUMN(47, 8, 7) MM(32, 40) MM(36, 44) MM(36, 40) MM(34, 42) MM(38, 46) MM(38, 42) MM(34, 36) MM(38, 40) MM(42, 44)          \
    MM(33, 41) MM(37, 45) MM(37, 41) MM(35, 43) MM(39, 47) MM(39, 43) MM(35, 37) MM(39, 41) MM(43, 45) MM(33, 34) MM(35, 36)     \
    MM(37, 38) MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46) MAX(0, 32) MM(16, 32) MM(8, 40) MM(24, 40) MM(8, 16) MM(24, 32)       \
    MM(4, 36) MM(20, 36) MM(12, 44) MIN(28, 44) MM(12, 20) MM(28, 36) MAX(4, 8) MM(12, 16) MM(20, 24) MM(28, 32) MM(36, 40)      \
    MAX(2, 34) MM(18, 34) MM(10, 42) MM(26, 42) MM(10, 18) MM(26, 34) MM(6, 38) MM(22, 38) MM(14, 46) MIN(30, 46) MM(14, 22)     \
    MM(30, 38) MM(6, 10) MM(14, 18) MM(22, 26) MM(30, 34) MIN(38, 42) MAX(6, 8) MM(10, 12) MM(14, 16) MM(18, 20) MM(22, 24)      \
    MM(26, 28) MM(30, 32) MM(34, 36) MM(38, 40) MAX(1, 33) MM(17, 33) MM(9, 41) MM(25, 41) MM(9, 17) MM(25, 33) MM(5, 37)        \
    MM(21, 37) MM(13, 45) MIN(29, 45) MM(13, 21) MM(29, 37) MAX(5, 9) MM(13, 17) MM(21, 25) MM(29, 33) MM(37, 41) MAX(3, 35)     \
    MM(19, 35) MM(11, 43) MM(27, 43) MM(11, 19) MM(27, 35) MM(7, 39) MM(23, 39) MM(15, 47) MIN(31, 47) MM(15, 23) MM(31, 39)     \
    MM(7, 11) MM(15, 19) MM(23, 27) MM(31, 35) MIN(39, 43) MM(7, 9) MM(11, 13) MM(15, 17) MM(19, 21) MM(23, 25) MM(27, 29)       \
    MM(31, 33) MM(35, 37) MIN(39, 41) MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18) MM(19, 20) MM(21, 22)       \
    MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 40) OUT(7, 0) OUT(8, 1)       \
    OUT(9, 2) OUT(10, 3) OUT(11, 4) OUT(12, 5) OUT(13, 6) OUT(14, 7) OUT(15, 8) OUT(16, 9) OUT(17, 10) OUT(18, 11) OUT(19, 12)   \
    OUT(20, 13) OUT(21, 14) OUT(22, 15) OUT(23, 16) OUT(24, 17) OUT(25, 18) OUT(26, 19) OUT(27, 20) OUT(28, 21) OUT(29, 22)      \
    OUT(30, 23) OUT(31, 24) OUT(32, 25) OUT(33, 26) OUT(34, 27) OUT(35, 28) OUT(36, 29) OUT(37, 30) OUT(38, 31) OUT(39, 32)      \
    OUT(40, 33)
/* 476 operations */
#define MEDIAN_TREE_HALF_WIRES_9 178
#define MEDIAN_TREE_HALF_9(MM, MIN, MAX, CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT)                                             \
    CORE(0, 0) CORE(1, 1) CORE(2, 2) CORE(3, 3) CORE(4, 4) CORE(5, 5) CORE(6, 6) CORE(7, 7) CORE(8, 8) CORE(9, 9) CORE(10, 10)   \
    CORE(11, 11) CORE(12, 12) CORE(13, 13) CORE(14, 14) CORE(15, 15) CORE(16, 16) CORE(17, 17) CORE(18, 18) CORE(19, 19)         \
    CORE(20, 20) CORE(21, 21) CORE(22, 22) CORE(23, 23) CORE(24, 24) CORE(25, 25) CORE(26, 26) CORE(27, 27) CORE(28, 28)         \
    CORE(29, 29) CORE(30, 30) CORE(31, 31) CORE(32, 32) CORE(33, 33) COLUMN(34, 0, 0) COLUMN(35, 0, 1) COLUMN(36, 0, 2)          \
    COLUMN(37, 0, 3) COLUMN(38, 0, 4) COLUMN(39, 0, 5) COLUMN(40, 0, 6) COLUMN(41, 0, 7) COLUMN(42, 1, 0) COLUMN(43, 1, 1)       \
    COLUMN(44, 1, 2) COLUMN(45, 1, 3) COLUMN(46, 1, 4) COLUMN(47, 1, 5) COLUMN(48, 1, 6) COLUMN(49, 1, 7) MM(34, 42) MM(38, 46)  \
    MM(38, 42) MM(36, 44) MM(40, 48) MM(40, 44) MM(36, 38) MM(40, 42) MM(44, 46) MM(35, 43) MM(39, 47) MM(39, 43) MM(37, 45)     \
    MM(41, 49) MM(41, 45) MM(37, 39) MM(41, 43) MM(45, 47) MM(35, 36) MM(37, 38) MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46)     \
    MM(47, 48) MAX(0, 34) MM(32, 34) MM(16, 32) MM(8, 42) MM(24, 42) MAX(8, 16) MM(24, 32) MIN(42, 34) MAX(4, 38) MM(20, 38)     \
    MM(12, 46) MIN(28, 46) MM(12, 20) MM(28, 38) MAX(12, 16) MM(20, 24) MM(28, 32) MIN(38, 42) MAX(2, 36) MM(18, 36) MM(10, 44)  \
    MIN(26, 44) MAX(10, 18) MM(26, 36) MAX(6, 40) MM(22, 40) MM(14, 48) MIN(30, 48) MM(14, 22) MIN(30, 40) MM(14, 18) MM(22, 26) \
    MM(30, 36) MAX(14, 16) MM(18, 20) MM(22, 24) MM(26, 28) MM(30, 32) MIN(36, 38) MAX(1, 35) MIN(33, 35) MM(17, 33) MM(9, 43)   \
    MIN(25, 43) MAX(9, 17) MM(25, 33) MAX(5, 39) MM(21, 39) MM(13, 47) MIN(29, 47) MM(13, 21) MIN(29, 39) MAX(13, 17) MM(21, 25) \
    MM(29, 33) MAX(3, 37) MM(19, 37) MM(11, 45) MIN(27, 45) MAX(11, 19) MM(27, 37) MAX(7, 41) MM(23, 41) MM(15, 49) MIN(31, 49)  \
    MM(15, 23) MIN(31, 41) MM(15, 19) MM(23, 27) MIN(31, 37) MM(15, 17) MM(19, 21) MM(23, 25) MM(27, 29) MM(31, 33) MAX(15, 16)  \
    MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 32) MIN(33, 36) SAMPLE(50, 0, 0)         \
    SAMPLE(51, 1, 0) MM(50, 51) ROW(52, 0, 0) ROW(53, 0, 1) ROW(54, 0, 2) ROW(55, 0, 3) ROW(56, 0, 4) ROW(57, 0, 5) MM(52, 50)   \
    MM(56, 50) MM(54, 56) MM(53, 51) MM(57, 51) MM(55, 57) MM(53, 54) MM(55, 56) MM(57, 50) COPY(58, 16) COPY(59, 17)            \
    COPY(60, 18) COPY(61, 19) COPY(62, 20) COPY(63, 21) COPY(64, 22) COPY(65, 23) COPY(66, 24) COPY(67, 25) COPY(68, 26)         \
    COPY(69, 27) COPY(70, 28) COPY(71, 29) COPY(72, 30) COPY(73, 31) COPY(74, 32) COPY(75, 33) MAX(58, 52) MM(74, 52) MM(66, 74) \
    MM(62, 56) MM(70, 56) MAX(62, 66) MM(70, 74) MIN(56, 52) MAX(60, 54) MM(68, 54) MM(64, 50) MIN(72, 50) MM(64, 68) MM(72, 54) \
    MAX(64, 66) MM(68, 70) MM(72, 74) MIN(54, 56) MAX(59, 53) MIN(75, 53) MM(67, 75) MM(63, 57) MIN(71, 57) MAX(63, 67)          \
    MM(71, 75) MAX(61, 55) MM(69, 55) MM(65, 51) MIN(73, 51) MM(65, 69) MIN(73, 55) MM(65, 67) MM(69, 71) MM(73, 75) MAX(65, 66) \
    MM(67, 68) MM(69, 70) MM(71, 72) MM(73, 74) MIN(75, 54) SAMPLE(76, 2, 0) COLUMN(77, 2, 0) COLUMN(78, 2, 1) COLUMN(79, 2, 2)  \
    COLUMN(80, 2, 3) COLUMN(81, 2, 4) COLUMN(82, 2, 5) COLUMN(83, 2, 6) COLUMN(84, 2, 7) MM(77, 76) MM(81, 76) MM(79, 81)        \
    MM(83, 76) MM(78, 79) MM(80, 81) MM(82, 83) MM(84, 76) COPY(85, 66) COPY(86, 67) COPY(87, 68) COPY(88, 69) COPY(89, 70)      \
    COPY(90, 71) COPY(91, 72) COPY(92, 73) COPY(93, 74) COPY(94, 75) MAX(76, 85) MAX(84, 86) MAX(83, 87) MAX(82, 88) MAX(81, 89) \
    MAX(80, 90) MAX(79, 91) MAX(78, 92) MAX(77, 93) MIN3(85, 86, 87) MIN3(88, 89, 90) MIN3(91, 92, 93) MIN3(85, 88, 91)          \
    MIN(85, 94) OUT(85, 0, 0) SAMPLE(95, 3, 0) COLUMN(96, 3, 0) COLUMN(97, 3, 1) COLUMN(98, 3, 2) COLUMN(99, 3, 3)               \
    COLUMN(100, 3, 4) COLUMN(101, 3, 5) COLUMN(102, 3, 6) COLUMN(103, 3, 7) MM(96, 95) MM(100, 95) MM(98, 100) MM(102, 95)       \
    MM(97, 98) MM(99, 100) MM(101, 102) MM(103, 95) COPY(104, 66) COPY(105, 67) COPY(106, 68) COPY(107, 69) COPY(108, 70)        \
    COPY(109, 71) COPY(110, 72) COPY(111, 73) COPY(112, 74) COPY(113, 75) MAX(95, 104) MAX(103, 105) MAX(102, 106) MAX(101, 107) \
    MAX(100, 108) MAX(99, 109) MAX(98, 110) MAX(97, 111) MAX(96, 112) MIN3(104, 105, 106) MIN3(107, 108, 109)                    \
    MIN3(110, 111, 112) MIN3(104, 107, 110) MIN(104, 113) OUT(104, 1, 0) SAMPLE(114, 0, 1) SAMPLE(115, 1, 1) MM(114, 115)        \
    ROW(116, 1, 0) ROW(117, 1, 1) ROW(118, 1, 2) ROW(119, 1, 3) ROW(120, 1, 4) ROW(121, 1, 5) MM(116, 114) MM(120, 114)          \
    MM(118, 120) MM(117, 115) MM(121, 115) MM(119, 121) MM(117, 118) MM(119, 120) MM(121, 114) COPY(122, 16) COPY(123, 17)       \
    COPY(124, 18) COPY(125, 19) COPY(126, 20) COPY(127, 21) COPY(128, 22) COPY(129, 23) COPY(130, 24) COPY(131, 25)              \
    COPY(132, 26) COPY(133, 27) COPY(134, 28) COPY(135, 29) COPY(136, 30) COPY(137, 31) COPY(138, 32) COPY(139, 33)              \
    MAX(122, 116) MM(138, 116) MM(130, 138) MM(126, 120) MM(134, 120) MAX(126, 130) MM(134, 138) MIN(120, 116) MAX(124, 118)     \
    MM(132, 118) MM(128, 114) MIN(136, 114) MM(128, 132) MM(136, 118) MAX(128, 130) MM(132, 134) MM(136, 138) MIN(118, 120)      \
    MAX(123, 117) MIN(139, 117) MM(131, 139) MM(127, 121) MIN(135, 121) MAX(127, 131) MM(135, 139) MAX(125, 119) MM(133, 119)    \
    MM(129, 115) MIN(137, 115) MM(129, 133) MIN(137, 119) MM(129, 131) MM(133, 135) MM(137, 139) MAX(129, 130) MM(131, 132)      \
    MM(133, 134) MM(135, 136) MM(137, 138) MIN(139, 118) SAMPLE(140, 2, 1) COLUMN(141, 2, 0) COLUMN(142, 2, 1) COLUMN(143, 2, 2) \
    COLUMN(144, 2, 3) COLUMN(145, 2, 4) COLUMN(146, 2, 5) COLUMN(147, 2, 6) COLUMN(148, 2, 7) MM(141, 140) MM(145, 140)          \
    MM(143, 145) MM(147, 140) MM(142, 143) MM(144, 145) MM(146, 147) MM(148, 140) COPY(149, 130) COPY(150, 131) COPY(151, 132)   \
    COPY(152, 133) COPY(153, 134) COPY(154, 135) COPY(155, 136) COPY(156, 137) COPY(157, 138) COPY(158, 139) MAX(140, 149)       \
    MAX(148, 150) MAX(147, 151) MAX(146, 152) MAX(145, 153) MAX(144, 154) MAX(143, 155) MAX(142, 156) MAX(141, 157)              \
    MIN3(149, 150, 151) MIN3(152, 153, 154) MIN3(155, 156, 157) MIN3(149, 152, 155) MIN(149, 158) OUT(149, 0, 1)                 \
    SAMPLE(159, 3, 1) COLUMN(160, 3, 0) COLUMN(161, 3, 1) COLUMN(162, 3, 2) COLUMN(163, 3, 3) COLUMN(164, 3, 4)                  \
    COLUMN(165, 3, 5) COLUMN(166, 3, 6) COLUMN(167, 3, 7) MM(160, 159) MM(164, 159) MM(162, 164) MM(166, 159) MM(161, 162)       \
    MM(163, 164) MM(165, 166) MM(167, 159) COPY(168, 130) COPY(169, 131) COPY(170, 132) COPY(171, 133) COPY(172, 134)            \
    COPY(173, 135) COPY(174, 136) COPY(175, 137) COPY(176, 138) COPY(177, 139) MAX(159, 168) MAX(167, 169) MAX(166, 170)         \
    MAX(165, 171) MAX(164, 172) MAX(163, 173) MAX(162, 174) MAX(161, 175) MAX(160, 176) MIN3(168, 169, 170) MIN3(171, 172, 173)  \
    MIN3(174, 175, 176) MIN3(168, 171, 174) MIN(168, 177) OUT(168, 1, 1)

/* ---- 11 x 11 */
#define MEDIAN_CORE_11 42
/* 62 operations */
#define MEDIAN_TREE_COLUMN_WIRES_11 10
#define MEDIAN_TREE_COLUMN_11(MM, MIN, MAX, SAMPLE, OUT)                                                                        \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) SAMPLE(8, 8)        \
    SAMPLE(9, 9) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(0, 3) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3) MM(5, 6) MM(5, 7) MM(6, 7)    \
    MM(8, 9) MM(5, 8) MM(7, 8) MM(6, 9) MM(6, 7) MM(9, 8) MM(0, 5) MM(3, 8) MM(3, 5) MM(2, 7) MM(2, 3) MM(7, 5) MM(1, 6)        \
    MM(4, 9) MM(4, 6) MM(1, 2) MM(4, 3) MM(6, 7) MM(9, 5) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(6, 5) OUT(7, 6) \
    OUT(9, 7) OUT(5, 8) OUT(8, 9)
/* 318 operations */
#define MEDIAN_TREE_JOIN_WIRES_11 40
#define MEDIAN_TREE_JOIN_11(MM, MIN, MAX, COLUMN, OUT)                                                                           \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 0, 6)              \
    COLUMN(7, 0, 7) COLUMN(8, 0, 8) COLUMN(9, 0, 9) COLUMN(10, 1, 0) COLUMN(11, 1, 1) COLUMN(12, 1, 2) COLUMN(13, 1, 3)          \
    COLUMN(14, 1, 4) COLUMN(15, 1, 5) COLUMN(16, 1, 6) COLUMN(17, 1, 7) COLUMN(18, 1, 8) COLUMN(19, 1, 9) COLUMN(20, 2, 0)       \
    COLUMN(21, 2, 1) COLUMN(22, 2, 2) COLUMN(23, 2, 3) COLUMN(24, 2, 4) COLUMN(25, 2, 5) COLUMN(26, 2, 6) COLUMN(27, 2, 7)       \
    COLUMN(28, 2, 8) COLUMN(29, 2, 9) COLUMN(30, 3, 0) COLUMN(31, 3, 1) COLUMN(32, 3, 2) COLUMN(33, 3, 3) COLUMN(34, 3, 4)       \
    COLUMN(35, 3, 5) COLUMN(36, 3, 6) COLUMN(37, 3, 7) COLUMN(38, 3, 8) COLUMN(39, 3, 9) MM(0, 10) MM(8, 18) MM(8, 10) MM(4, 14) \
    MM(4, 8) MM(14, 10) MM(2, 12) MM(6, 16) MM(6, 12) MM(2, 4) MM(6, 8) MM(12, 14) MM(16, 10) MM(1, 11) MM(9, 19) MM(9, 11)      \
    MM(5, 15) MM(5, 9) MM(15, 11) MM(3, 13) MM(7, 17) MM(7, 13) MM(3, 5) MM(7, 9) MM(13, 15) MM(17, 11) MM(1, 2) MM(3, 4)        \
    MM(5, 6) MM(7, 8) MM(9, 12) MM(13, 14) MM(15, 16) MM(17, 10) MM(11, 18) MM(20, 30) MM(28, 38) MM(28, 30) MM(24, 34)          \
    MM(24, 28) MM(34, 30) MM(22, 32) MM(26, 36) MM(26, 32) MM(22, 24) MM(26, 28) MM(32, 34) MM(36, 30) MM(21, 31) MM(29, 39)     \
    MM(29, 31) MM(25, 35) MM(25, 29) MM(35, 31) MM(23, 33) MM(27, 37) MM(27, 33) MM(23, 25) MM(27, 29) MM(33, 35) MM(37, 31)     \
    MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 32) MM(33, 34) MM(35, 36) MM(37, 30) MM(31, 38) MM(0, 20) MM(10, 30)      \
    MM(10, 20) MM(8, 28) MM(8, 10) MM(28, 20) MM(4, 24) MM(14, 34) MM(14, 24) MM(4, 8) MM(14, 10) MM(24, 28) MM(34, 20)          \
    MM(2, 22) MM(18, 38) MM(18, 22) MM(12, 32) MM(12, 18) MM(32, 22) MM(6, 26) MM(16, 36) MM(16, 26) MM(6, 12) MM(16, 18)        \
    MM(26, 32) MM(36, 22) MM(2, 4) MM(6, 8) MM(12, 14) MM(16, 10) MM(18, 24) MM(26, 28) MM(32, 34) MM(36, 20) MM(22, 30)         \
    MM(1, 21) MM(11, 31) MM(11, 21) MM(9, 29) MM(9, 11) MM(29, 21) MM(5, 25) MM(15, 35) MM(15, 25) MM(5, 9) MM(15, 11)           \
    MM(25, 29) MM(35, 21) MM(3, 23) MM(19, 39) MM(19, 23) MM(13, 33) MM(13, 19) MM(33, 23) MM(7, 27) MM(17, 37) MM(17, 27)       \
    MM(7, 13) MM(17, 19) MM(27, 33) MM(37, 23) MM(3, 5) MM(7, 9) MM(13, 15) MM(17, 11) MM(19, 25) MM(27, 29) MM(33, 35)          \
    MM(37, 21) MM(23, 31) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 12) MM(13, 14) MM(15, 16) MM(17, 10) MM(11, 18) MM(19, 24)   \
    MM(25, 26) MM(27, 28) MM(29, 32) MM(33, 34) MM(35, 36) MM(37, 20) MM(21, 22) MM(23, 30) MM(31, 38) OUT(0, 0) OUT(1, 1)       \
    OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(7, 7) OUT(8, 8) OUT(9, 9) OUT(12, 10) OUT(13, 11) OUT(14, 12)          \
    OUT(15, 13) OUT(16, 14) OUT(17, 15) OUT(10, 16) OUT(11, 17) OUT(18, 18) OUT(19, 19) OUT(24, 20) OUT(25, 21) OUT(26, 22)      \
    OUT(27, 23) OUT(28, 24) OUT(29, 25) OUT(32, 26) OUT(33, 27) OUT(34, 28) OUT(35, 29) OUT(36, 30) OUT(37, 31) OUT(20, 32)      \
    OUT(21, 33) OUT(22, 34) OUT(23, 35) OUT(30, 36) OUT(31, 37) OUT(38, 38) OUT(39, 39)
/* 38 operations */
#define MEDIAN_TREE_ROW_WIRES_11 8
#define MEDIAN_TREE_ROW_11(MM, MIN, MAX, SAMPLE, OUT)                                                                         \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) MM(0, 1) MM(2, 3) \
    MM(0, 2) MM(1, 3) MM(1, 2) MM(4, 5) MM(6, 7) MM(4, 6) MM(5, 7) MM(5, 6) MM(0, 4) MM(2, 6) MM(2, 4) MM(1, 5) MM(3, 7)      \
    MM(3, 5) MM(1, 2) MM(3, 4) MM(5, 6) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(7, 7)
/* 296 operations */
#define MEDIAN_TREE_CORE_WIRES_11 80
#define MEDIAN_TREE_CORE_11(MM, MIN, MAX, JOINED, COLUMN, OUT)                                                                   \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)              \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)      \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)                  \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) JOINED(24, 0, 24) JOINED(25, 0, 25)                  \
    JOINED(26, 0, 26) JOINED(27, 0, 27) JOINED(28, 0, 28) JOINED(29, 0, 29) JOINED(30, 0, 30) JOINED(31, 0, 31)                  \
    JOINED(32, 0, 32) JOINED(33, 0, 33) JOINED(34, 0, 34) JOINED(35, 0, 35) JOINED(36, 0, 36) JOINED(37, 0, 37)                  \
    JOINED(38, 0, 38) JOINED(39, 0, 39) JOINED(40, 1, 0) JOINED(41, 1, 1) JOINED(42, 1, 2) JOINED(43, 1, 3) JOINED(44, 1, 4)     \
    JOINED(45, 1, 5) JOINED(46, 1, 6) JOINED(47, 1, 7) JOINED(48, 1, 8) JOINED(49, 1, 9) JOINED(50, 1, 10) JOINED(51, 1, 11)     \
    JOINED(52, 1, 12) JOINED(53, 1, 13) JOINED(54, 1, 14) JOINED(55, 1, 15) JOINED(56, 1, 16) JOINED(57, 1, 17)                  \
    JOINED(58, 1, 18) JOINED(59, 1, 19) JOINED(60, 1, 20) JOINED(61, 1, 21) JOINED(62, 1, 22) JOINED(63, 1, 23)                  \
    JOINED(64, 1, 24) JOINED(65, 1, 25) JOINED(66, 1, 26) JOINED(67, 1, 27) JOINED(68, 1, 28) JOINED(69, 1, 29)                  \
    JOINED(70, 1, 30) JOINED(71, 1, 31) JOINED(72, 1, 32) JOINED(73, 1, 33) JOINED(74, 1, 34) JOINED(75, 1, 35)                  \
    JOINED(76, 1, 36) JOINED(77, 1, 37) JOINED(78, 1, 38) JOINED(79, 1, 39) MAX(0, 40) MIN(32, 72) MM(32, 40) MM(16, 56)         \
    MAX(16, 32) MM(56, 40) MAX(8, 48) MM(24, 64) MM(24, 48) MM(24, 32) MM(48, 56) MM(64, 40) MAX(4, 44) MIN(36, 76) MM(36, 44)   \
    MM(20, 60) MM(20, 36) MM(60, 44) MM(12, 52) MM(28, 68) MM(28, 52) MAX(12, 20) MM(28, 36) MM(52, 60) MIN(68, 44) MM(20, 24)   \
    MM(28, 32) MM(36, 48) MM(52, 56) MM(60, 64) MIN(68, 40) MAX(2, 42) MIN(34, 74) MM(34, 42) MM(18, 58) MM(18, 34) MM(58, 42)   \
    MM(10, 50) MM(26, 66) MM(26, 50) MAX(10, 18) MM(26, 34) MM(50, 58) MIN(66, 42) MAX(6, 46) MIN(38, 78) MM(38, 46) MM(22, 62)  \
    MM(22, 38) MIN(62, 46) MM(14, 54) MIN(30, 70) MM(30, 54) MM(14, 22) MM(30, 38) MM(54, 62) MAX(14, 18) MM(22, 26) MM(30, 34)  \
    MM(38, 50) MM(54, 58) MM(62, 66) MAX(18, 20) MM(22, 24) MM(26, 28) MM(30, 32) MM(34, 36) MM(38, 48) MM(50, 52) MM(54, 56)    \
    MM(58, 60) MM(62, 64) MM(66, 68) MAX(1, 41) MIN(33, 73) MM(33, 41) MM(17, 57) MAX(17, 33) MM(57, 41) MAX(9, 49) MM(25, 65)   \
    MM(25, 49) MM(25, 33) MM(49, 57) MM(65, 41) MAX(5, 45) MIN(37, 77) MM(37, 45) MM(21, 61) MM(21, 37) MM(61, 45) MM(13, 53)    \
    MM(29, 69) MM(29, 53) MAX(13, 21) MM(29, 37) MM(53, 61) MIN(69, 45) MM(21, 25) MM(29, 33) MM(37, 49) MM(53, 57) MM(61, 65)   \
    MIN(69, 41) MAX(3, 43) MIN(35, 75) MM(35, 43) MM(19, 59) MM(19, 35) MM(59, 43) MM(11, 51) MM(27, 67) MM(27, 51) MAX(11, 19)  \
    MM(27, 35) MM(51, 59) MIN(67, 43) MAX(7, 47) MIN(39, 79) MM(39, 47) MM(23, 63) MM(23, 39) MIN(63, 47) MM(15, 55) MIN(31, 71) \
    MM(31, 55) MM(15, 23) MM(31, 39) MM(55, 63) MAX(15, 19) MM(23, 27) MM(31, 35) MM(39, 51) MM(55, 59) MM(63, 67) MM(19, 21)    \
    MM(23, 25) MM(27, 29) MM(31, 33) MM(35, 37) MM(39, 49) MM(51, 53) MM(55, 57) MM(59, 61) MM(63, 65) MIN(67, 69) MM(19, 20)    \
    MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 48) MM(49, 50)     \
    MM(51, 52) MM(53, 54) MM(55, 56) MM(57, 58) MM(59, 60) MM(61, 62) MM(63, 64) MM(65, 66) MM(67, 68) OUT(19, 0) OUT(20, 1)     \
    OUT(21, 2) OUT(22, 3) OUT(23, 4) OUT(24, 5) OUT(25, 6) OUT(26, 7) OUT(27, 8) OUT(28, 9) OUT(29, 10) OUT(30, 11) OUT(31, 12)  \
    OUT(32, 13) OUT(33, 14) OUT(34, 15) OUT(35, 16) OUT(36, 17) OUT(37, 18) OUT(38, 19) OUT(39, 20) OUT(48, 21) OUT(49, 22)      \
    OUT(50, 23) OUT(51, 24) OUT(52, 25) OUT(53, 26) OUT(54, 27) OUT(55, 28) OUT(56, 29) OUT(57, 30) OUT(58, 31) OUT(59, 32)      \
    OUT(60, 33) OUT(61, 34) OUT(62, 35) OUT(63, 36) OUT(64, 37) OUT(65, 38) OUT(66, 39) OUT(67, 40) OUT(68, 41)
/* 612 operations */
#define MEDIAN_TREE_HALF_WIRES_11 218
#define MEDIAN_TREE_HALF_11(MM, MIN, MAX, CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT)                                            \
    CORE(0, 0) CORE(1, 1) CORE(2, 2) CORE(3, 3) CORE(4, 4) CORE(5, 5) CORE(6, 6) CORE(7, 7) CORE(8, 8) CORE(9, 9) CORE(10, 10)   \
    CORE(11, 11) CORE(12, 12) CORE(13, 13) CORE(14, 14) CORE(15, 15) CORE(16, 16) CORE(17, 17) CORE(18, 18) CORE(19, 19)         \
    CORE(20, 20) CORE(21, 21) CORE(22, 22) CORE(23, 23) CORE(24, 24) CORE(25, 25) CORE(26, 26) CORE(27, 27) CORE(28, 28)         \
    CORE(29, 29) CORE(30, 30) CORE(31, 31) CORE(32, 32) CORE(33, 33) CORE(34, 34) CORE(35, 35) CORE(36, 36) CORE(37, 37)         \
    CORE(38, 38) CORE(39, 39) CORE(40, 40) CORE(41, 41) COLUMN(42, 0, 0) COLUMN(43, 0, 1) COLUMN(44, 0, 2) COLUMN(45, 0, 3)      \
    COLUMN(46, 0, 4) COLUMN(47, 0, 5) COLUMN(48, 0, 6) COLUMN(49, 0, 7) COLUMN(50, 0, 8) COLUMN(51, 0, 9) COLUMN(52, 1, 0)       \
    COLUMN(53, 1, 1) COLUMN(54, 1, 2) COLUMN(55, 1, 3) COLUMN(56, 1, 4) COLUMN(57, 1, 5) COLUMN(58, 1, 6) COLUMN(59, 1, 7)       \
    COLUMN(60, 1, 8) COLUMN(61, 1, 9) MM(42, 52) MM(50, 60) MM(50, 52) MM(46, 56) MM(46, 50) MM(56, 52) MM(44, 54) MM(48, 58)    \
    MM(48, 54) MM(44, 46) MM(48, 50) MM(54, 56) MM(58, 52) MM(43, 53) MM(51, 61) MM(51, 53) MM(47, 57) MM(47, 51) MM(57, 53)     \
    MM(45, 55) MM(49, 59) MM(49, 55) MM(45, 47) MM(49, 51) MM(55, 57) MM(59, 53) MM(43, 44) MM(45, 46) MM(47, 48) MM(49, 50)     \
    MM(51, 54) MM(55, 56) MM(57, 58) MM(59, 52) MM(53, 60) MAX(0, 42) MM(32, 42) MM(16, 52) MAX(16, 32) MIN(52, 42) MAX(8, 50)   \
    MIN(40, 50) MM(24, 40) MM(24, 32) MM(40, 52) MAX(4, 46) MM(36, 46) MM(20, 36) MM(12, 56) MM(28, 56) MAX(12, 20) MM(28, 36)   \
    MIN(56, 46) MM(20, 24) MM(28, 32) MM(36, 40) MIN(56, 52) MAX(2, 44) MM(34, 44) MM(18, 60) MM(18, 34) MIN(60, 44) MM(10, 54)  \
    MM(26, 54) MAX(10, 18) MM(26, 34) MIN(54, 60) MAX(6, 48) MIN(38, 48) MM(22, 38) MM(14, 58) MIN(30, 58) MM(14, 22) MM(30, 38) \
    MAX(14, 18) MM(22, 26) MM(30, 34) MM(38, 54) MAX(18, 20) MM(22, 24) MM(26, 28) MM(30, 32) MM(34, 36) MM(38, 40) MIN(54, 56)  \
    MAX(1, 43) MM(33, 43) MM(17, 53) MAX(17, 33) MIN(53, 43) MAX(9, 51) MIN(41, 51) MM(25, 41) MM(25, 33) MIN(41, 53) MAX(5, 47) \
    MIN(37, 47) MM(21, 37) MM(13, 57) MIN(29, 57) MAX(13, 21) MM(29, 37) MM(21, 25) MM(29, 33) MM(37, 41) MAX(3, 45) MM(35, 45)  \
    MM(19, 61) MM(19, 35) MIN(61, 45) MM(11, 55) MM(27, 55) MAX(11, 19) MM(27, 35) MIN(55, 61) MAX(7, 49) MIN(39, 49) MM(23, 39) \
    MM(15, 59) MIN(31, 59) MM(15, 23) MM(31, 39) MAX(15, 19) MM(23, 27) MM(31, 35) MIN(39, 55) MM(19, 21) MM(23, 25) MM(27, 29)  \
    MM(31, 33) MM(35, 37) MM(39, 41) MAX(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 32) MM(33, 34)    \
    MM(35, 36) MM(37, 38) MM(39, 40) MIN(41, 54) SAMPLE(62, 0, 0) SAMPLE(63, 1, 0) MM(62, 63) ROW(64, 0, 0) ROW(65, 0, 1)        \
    ROW(66, 0, 2) ROW(67, 0, 3) ROW(68, 0, 4) ROW(69, 0, 5) ROW(70, 0, 6) ROW(71, 0, 7) MM(64, 62) MM(68, 62) MM(66, 68)         \
    MM(70, 62) MM(65, 63) MM(69, 63) MM(67, 69) MM(71, 63) MM(65, 66) MM(67, 68) MM(69, 70) MM(71, 62) COPY(72, 20) COPY(73, 21) \
    COPY(74, 22) COPY(75, 23) COPY(76, 24) COPY(77, 25) COPY(78, 26) COPY(79, 27) COPY(80, 28) COPY(81, 29) COPY(82, 30)         \
    COPY(83, 31) COPY(84, 32) COPY(85, 33) COPY(86, 34) COPY(87, 35) COPY(88, 36) COPY(89, 37) COPY(90, 38) COPY(91, 39)         \
    COPY(92, 40) COPY(93, 41) MAX(72, 64) MM(88, 64) MM(80, 62) MAX(80, 88) MIN(62, 64) MAX(76, 68) MIN(92, 68) MM(84, 92)       \
    MM(84, 88) MM(92, 62) MAX(74, 66) MM(90, 66) MM(82, 90) MM(78, 70) MM(86, 70) MAX(78, 82) MM(86, 90) MIN(70, 66) MM(82, 84)  \
    MM(86, 88) MM(90, 92) MIN(70, 62) MAX(73, 65) MM(89, 65) MM(81, 63) MM(81, 89) MIN(63, 65) MM(77, 69) MIN(93, 69) MM(85, 93) \
    MAX(77, 81) MM(85, 89) MIN(93, 63) MAX(75, 67) MIN(91, 67) MM(83, 91) MM(79, 71) MIN(87, 71) MM(79, 83) MM(87, 91)           \
    MAX(79, 81) MM(83, 85) MM(87, 89) MM(91, 93) MAX(81, 82) MM(83, 84) MM(85, 86) MM(87, 88) MM(89, 90) MM(91, 92) MIN(93, 70)  \
    SAMPLE(94, 2, 0) COLUMN(95, 2, 0) COLUMN(96, 2, 1) COLUMN(97, 2, 2) COLUMN(98, 2, 3) COLUMN(99, 2, 4) COLUMN(100, 2, 5)      \
    COLUMN(101, 2, 6) COLUMN(102, 2, 7) COLUMN(103, 2, 8) COLUMN(104, 2, 9) MM(95, 94) MM(103, 94) MM(99, 103) MM(97, 99)        \
    MM(101, 103) MM(96, 97) MM(98, 99) MM(100, 101) MM(102, 103) MM(104, 94) COPY(105, 82) COPY(106, 83) COPY(107, 84)           \
    COPY(108, 85) COPY(109, 86) COPY(110, 87) COPY(111, 88) COPY(112, 89) COPY(113, 90) COPY(114, 91) COPY(115, 92)              \
    COPY(116, 93) MAX(94, 105) MAX(104, 106) MAX(103, 107) MAX(102, 108) MAX(101, 109) MAX(100, 110) MAX(99, 111) MAX(98, 112)   \
    MAX(97, 113) MAX(96, 114) MAX(95, 115) MIN3(105, 106, 107) MIN3(108, 109, 110) MIN3(111, 112, 113) MIN3(114, 115, 116)       \
    MIN3(105, 108, 111) MIN(105, 114) OUT(105, 0, 0) SAMPLE(117, 3, 0) COLUMN(118, 3, 0) COLUMN(119, 3, 1) COLUMN(120, 3, 2)     \
    COLUMN(121, 3, 3) COLUMN(122, 3, 4) COLUMN(123, 3, 5) COLUMN(124, 3, 6) COLUMN(125, 3, 7) COLUMN(126, 3, 8)                  \
    COLUMN(127, 3, 9) MM(118, 117) MM(126, 117) MM(122, 126) MM(120, 122) MM(124, 126) MM(119, 120) MM(121, 122) MM(123, 124)    \
    MM(125, 126) MM(127, 117) COPY(128, 82) COPY(129, 83) COPY(130, 84) COPY(131, 85) COPY(132, 86) COPY(133, 87) COPY(134, 88)  \
    COPY(135, 89) COPY(136, 90) COPY(137, 91) COPY(138, 92) COPY(139, 93) MAX(117, 128) MAX(127, 129) MAX(126, 130)              \
    MAX(125, 131) MAX(124, 132) MAX(123, 133) MAX(122, 134) MAX(121, 135) MAX(120, 136) MAX(119, 137) MAX(118, 138)              \
    MIN3(128, 129, 130) MIN3(131, 132, 133) MIN3(134, 135, 136) MIN3(137, 138, 139) MIN3(128, 131, 134) MIN(128, 137)            \
    OUT(128, 1, 0) SAMPLE(140, 0, 1) SAMPLE(141, 1, 1) MM(140, 141) ROW(142, 1, 0) ROW(143, 1, 1) ROW(144, 1, 2) ROW(145, 1, 3)  \
    ROW(146, 1, 4) ROW(147, 1, 5) ROW(148, 1, 6) ROW(149, 1, 7) MM(142, 140) MM(146, 140) MM(144, 146) MM(148, 140) MM(143, 141) \
    MM(147, 141) MM(145, 147) MM(149, 141) MM(143, 144) MM(145, 146) MM(147, 148) MM(149, 140) COPY(150, 20) COPY(151, 21)       \
    COPY(152, 22) COPY(153, 23) COPY(154, 24) COPY(155, 25) COPY(156, 26) COPY(157, 27) COPY(158, 28) COPY(159, 29)              \
    COPY(160, 30) COPY(161, 31) COPY(162, 32) COPY(163, 33) COPY(164, 34) COPY(165, 35) COPY(166, 36) COPY(167, 37)              \
    COPY(168, 38) COPY(169, 39) COPY(170, 40) COPY(171, 41) MAX(150, 142) MM(166, 142) MM(158, 140) MAX(158, 166) MIN(140, 142)  \
    MAX(154, 146) MIN(170, 146) MM(162, 170) MM(162, 166) MM(170, 140) MAX(152, 144) MM(168, 144) MM(160, 168) MM(156, 148)      \
    MM(164, 148) MAX(156, 160) MM(164, 168) MIN(148, 144) MM(160, 162) MM(164, 166) MM(168, 170) MIN(148, 140) MAX(151, 143)     \
    MM(167, 143) MM(159, 141) MM(159, 167) MIN(141, 143) MM(155, 147) MIN(171, 147) MM(163, 171) MAX(155, 159) MM(163, 167)      \
    MIN(171, 141) MAX(153, 145) MIN(169, 145) MM(161, 169) MM(157, 149) MIN(165, 149) MM(157, 161) MM(165, 169) MAX(157, 159)    \
    MM(161, 163) MM(165, 167) MM(169, 171) MAX(159, 160) MM(161, 162) MM(163, 164) MM(165, 166) MM(167, 168) MM(169, 170)        \
    MIN(171, 148) SAMPLE(172, 2, 1) COLUMN(173, 2, 0) COLUMN(174, 2, 1) COLUMN(175, 2, 2) COLUMN(176, 2, 3) COLUMN(177, 2, 4)    \
    COLUMN(178, 2, 5) COLUMN(179, 2, 6) COLUMN(180, 2, 7) COLUMN(181, 2, 8) COLUMN(182, 2, 9) MM(173, 172) MM(181, 172)          \
    MM(177, 181) MM(175, 177) MM(179, 181) MM(174, 175) MM(176, 177) MM(178, 179) MM(180, 181) MM(182, 172) COPY(183, 160)       \
    COPY(184, 161) COPY(185, 162) COPY(186, 163) COPY(187, 164) COPY(188, 165) COPY(189, 166) COPY(190, 167) COPY(191, 168)      \
    COPY(192, 169) COPY(193, 170) COPY(194, 171) MAX(172, 183) MAX(182, 184) MAX(181, 185) MAX(180, 186) MAX(179, 187)           \
    MAX(178, 188) MAX(177, 189) MAX(176, 190) MAX(175, 191) MAX(174, 192) MAX(173, 193) MIN3(183, 184, 185) MIN3(186, 187, 188)  \
    MIN3(189, 190, 191) MIN3(192, 193, 194) MIN3(183, 186, 189) MIN(183, 192) OUT(183, 0, 1) SAMPLE(195, 3, 1) COLUMN(196, 3, 0) \
    COLUMN(197, 3, 1) COLUMN(198, 3, 2) COLUMN(199, 3, 3) COLUMN(200, 3, 4) COLUMN(201, 3, 5) COLUMN(202, 3, 6)                  \
    COLUMN(203, 3, 7) COLUMN(204, 3, 8) COLUMN(205, 3, 9) MM(196, 195) MM(204, 195) MM(200, 204) MM(198, 200) MM(202, 204)       \
    MM(197, 198) MM(199, 200) MM(201, 202) MM(203, 204) MM(205, 195) COPY(206, 160) COPY(207, 161) COPY(208, 162) COPY(209, 163) \
    COPY(210, 164) COPY(211, 165) COPY(212, 166) COPY(213, 167) COPY(214, 168) COPY(215, 169) COPY(216, 170) COPY(217, 171)      \
    MAX(195, 206) MAX(205, 207) MAX(204, 208) MAX(203, 209) MAX(202, 210) MAX(201, 211) MAX(200, 212) MAX(199, 213)              \
    MAX(198, 214) MAX(197, 215) MAX(196, 216) MIN3(206, 207, 208) MIN3(209, 210, 211) MIN3(212, 213, 214) MIN3(215, 216, 217)    \
    MIN3(206, 209, 212) MIN(206, 215) OUT(206, 1, 1)

/* ---- 13 x 13 */
#define MEDIAN_CORE_13 50
/* 82 operations */
#define MEDIAN_TREE_COLUMN_WIRES_13 12
#define MEDIAN_TREE_COLUMN_13(MM, MIN, MAX, SAMPLE, OUT)                                                                        \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) SAMPLE(8, 8)        \
    SAMPLE(9, 9) SAMPLE(10, 10) SAMPLE(11, 11) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(3, 5) MM(4, 5) MM(0, 3) MM(2, 5) MM(2, 3) \
    MM(1, 4) MM(1, 2) MM(4, 3) MM(6, 7) MM(6, 8) MM(7, 8) MM(9, 10) MM(9, 11) MM(10, 11) MM(6, 9) MM(8, 11) MM(8, 9) MM(7, 10)  \
    MM(7, 8) MM(10, 9) MM(0, 6) MM(3, 9) MM(3, 6) MM(2, 8) MM(2, 3) MM(8, 6) MM(1, 7) MM(5, 11) MM(5, 7) MM(4, 10) MM(4, 5)     \
    MM(10, 7) MM(1, 2) MM(4, 3) MM(5, 8) MM(10, 6) MM(7, 9) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(5, 5)         \
    OUT(8, 6) OUT(10, 7) OUT(6, 8) OUT(7, 9) OUT(9, 10) OUT(11, 11)
/* 406 operations */
#define MEDIAN_TREE_JOIN_WIRES_13 48
#define MEDIAN_TREE_JOIN_13(MM, MIN, MAX, COLUMN, OUT)                                                                           \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 0, 6)              \
    COLUMN(7, 0, 7) COLUMN(8, 0, 8) COLUMN(9, 0, 9) COLUMN(10, 0, 10) COLUMN(11, 0, 11) COLUMN(12, 1, 0) COLUMN(13, 1, 1)        \
    COLUMN(14, 1, 2) COLUMN(15, 1, 3) COLUMN(16, 1, 4) COLUMN(17, 1, 5) COLUMN(18, 1, 6) COLUMN(19, 1, 7) COLUMN(20, 1, 8)       \
    COLUMN(21, 1, 9) COLUMN(22, 1, 10) COLUMN(23, 1, 11) COLUMN(24, 2, 0) COLUMN(25, 2, 1) COLUMN(26, 2, 2) COLUMN(27, 2, 3)     \
    COLUMN(28, 2, 4) COLUMN(29, 2, 5) COLUMN(30, 2, 6) COLUMN(31, 2, 7) COLUMN(32, 2, 8) COLUMN(33, 2, 9) COLUMN(34, 2, 10)      \
    COLUMN(35, 2, 11) COLUMN(36, 3, 0) COLUMN(37, 3, 1) COLUMN(38, 3, 2) COLUMN(39, 3, 3) COLUMN(40, 3, 4) COLUMN(41, 3, 5)      \
    COLUMN(42, 3, 6) COLUMN(43, 3, 7) COLUMN(44, 3, 8) COLUMN(45, 3, 9) COLUMN(46, 3, 10) COLUMN(47, 3, 11) MM(0, 12) MM(8, 20)  \
    MM(8, 12) MM(4, 16) MM(4, 8) MM(16, 12) MM(2, 14) MM(10, 22) MM(10, 14) MM(6, 18) MM(6, 10) MM(18, 14) MM(2, 4) MM(6, 8)     \
    MM(10, 16) MM(18, 12) MM(14, 20) MM(1, 13) MM(9, 21) MM(9, 13) MM(5, 17) MM(5, 9) MM(17, 13) MM(3, 15) MM(11, 23) MM(11, 15) \
    MM(7, 19) MM(7, 11) MM(19, 15) MM(3, 5) MM(7, 9) MM(11, 17) MM(19, 13) MM(15, 21) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8)        \
    MM(9, 10) MM(11, 16) MM(17, 18) MM(19, 12) MM(13, 14) MM(15, 20) MM(21, 22) MM(24, 36) MM(32, 44) MM(32, 36) MM(28, 40)      \
    MM(28, 32) MM(40, 36) MM(26, 38) MM(34, 46) MM(34, 38) MM(30, 42) MM(30, 34) MM(42, 38) MM(26, 28) MM(30, 32) MM(34, 40)     \
    MM(42, 36) MM(38, 44) MM(25, 37) MM(33, 45) MM(33, 37) MM(29, 41) MM(29, 33) MM(41, 37) MM(27, 39) MM(35, 47) MM(35, 39)     \
    MM(31, 43) MM(31, 35) MM(43, 39) MM(27, 29) MM(31, 33) MM(35, 41) MM(43, 37) MM(39, 45) MM(25, 26) MM(27, 28) MM(29, 30)     \
    MM(31, 32) MM(33, 34) MM(35, 40) MM(41, 42) MM(43, 36) MM(37, 38) MM(39, 44) MM(45, 46) MM(0, 24) MM(12, 36) MM(12, 24)      \
    MM(8, 32) MM(8, 12) MM(32, 24) MM(4, 28) MM(20, 44) MM(20, 28) MM(16, 40) MM(16, 20) MM(40, 28) MM(4, 8) MM(16, 12)          \
    MM(20, 32) MM(40, 24) MM(28, 36) MM(2, 26) MM(14, 38) MM(14, 26) MM(10, 34) MM(10, 14) MM(34, 26) MM(6, 30) MM(22, 46)       \
    MM(22, 30) MM(18, 42) MM(18, 22) MM(42, 30) MM(6, 10) MM(18, 14) MM(22, 34) MM(42, 26) MM(30, 38) MM(2, 4) MM(6, 8)          \
    MM(10, 16) MM(18, 12) MM(14, 20) MM(22, 32) MM(34, 40) MM(42, 24) MM(26, 28) MM(30, 36) MM(38, 44) MM(1, 25) MM(13, 37)      \
    MM(13, 25) MM(9, 33) MM(9, 13) MM(33, 25) MM(5, 29) MM(21, 45) MM(21, 29) MM(17, 41) MM(17, 21) MM(41, 29) MM(5, 9)          \
    MM(17, 13) MM(21, 33) MM(41, 25) MM(29, 37) MM(3, 27) MM(15, 39) MM(15, 27) MM(11, 35) MM(11, 15) MM(35, 27) MM(7, 31)       \
    MM(23, 47) MM(23, 31) MM(19, 43) MM(19, 23) MM(43, 31) MM(7, 11) MM(19, 15) MM(23, 35) MM(43, 27) MM(31, 39) MM(3, 5)        \
    MM(7, 9) MM(11, 17) MM(19, 13) MM(15, 21) MM(23, 33) MM(35, 41) MM(43, 25) MM(27, 29) MM(31, 37) MM(39, 45) MM(1, 2)         \
    MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 16) MM(17, 18) MM(19, 12) MM(13, 14) MM(15, 20) MM(21, 22) MM(23, 32) MM(33, 34) \
    MM(35, 40) MM(41, 42) MM(43, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 36) MM(37, 38) MM(39, 44) MM(45, 46) OUT(0, 0)      \
    OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(7, 7) OUT(8, 8) OUT(9, 9) OUT(10, 10) OUT(11, 11)            \
    OUT(16, 12) OUT(17, 13) OUT(18, 14) OUT(19, 15) OUT(12, 16) OUT(13, 17) OUT(14, 18) OUT(15, 19) OUT(20, 20) OUT(21, 21)      \
    OUT(22, 22) OUT(23, 23) OUT(32, 24) OUT(33, 25) OUT(34, 26) OUT(35, 27) OUT(40, 28) OUT(41, 29) OUT(42, 30) OUT(43, 31)      \
    OUT(24, 32) OUT(25, 33) OUT(26, 34) OUT(27, 35) OUT(28, 36) OUT(29, 37) OUT(30, 38) OUT(31, 39) OUT(36, 40) OUT(37, 41)      \
    OUT(38, 42) OUT(39, 43) OUT(44, 44) OUT(45, 45) OUT(46, 46) OUT(47, 47)
/* 62 operations */
#define MEDIAN_TREE_ROW_WIRES_13 10
#define MEDIAN_TREE_ROW_13(MM, MIN, MAX, SAMPLE, OUT)                                                                           \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) SAMPLE(8, 8)        \
    SAMPLE(9, 9) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(0, 3) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3) MM(5, 6) MM(5, 7) MM(6, 7)    \
    MM(8, 9) MM(5, 8) MM(7, 8) MM(6, 9) MM(6, 7) MM(9, 8) MM(0, 5) MM(3, 8) MM(3, 5) MM(2, 7) MM(2, 3) MM(7, 5) MM(1, 6)        \
    MM(4, 9) MM(4, 6) MM(1, 2) MM(4, 3) MM(6, 7) MM(9, 5) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(6, 5) OUT(7, 6) \
    OUT(9, 7) OUT(5, 8) OUT(8, 9)
/* 942 operations */
#define MEDIAN_TREE_CORE_WIRES_13 120
#define MEDIAN_TREE_CORE_13(MM, MIN, MAX, JOINED, COLUMN, OUT)                                                                   \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)              \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)      \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)                  \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) JOINED(24, 0, 24) JOINED(25, 0, 25)                  \
    JOINED(26, 0, 26) JOINED(27, 0, 27) JOINED(28, 0, 28) JOINED(29, 0, 29) JOINED(30, 0, 30) JOINED(31, 0, 31)                  \
    JOINED(32, 0, 32) JOINED(33, 0, 33) JOINED(34, 0, 34) JOINED(35, 0, 35) JOINED(36, 0, 36) JOINED(37, 0, 37)                  \
    JOINED(38, 0, 38) JOINED(39, 0, 39) JOINED(40, 0, 40) JOINED(41, 0, 41) JOINED(42, 0, 42) JOINED(43, 0, 43)                  \
    JOINED(44, 0, 44) JOINED(45, 0, 45) JOINED(46, 0, 46) JOINED(47, 0, 47) JOINED(48, 1, 0) JOINED(49, 1, 1) JOINED(50, 1, 2)   \
    JOINED(51, 1, 3) JOINED(52, 1, 4) JOINED(53, 1, 5) JOINED(54, 1, 6) JOINED(55, 1, 7) JOINED(56, 1, 8) JOINED(57, 1, 9)       \
    JOINED(58, 1, 10) JOINED(59, 1, 11) JOINED(60, 1, 12) JOINED(61, 1, 13) JOINED(62, 1, 14) JOINED(63, 1, 15)                  \
    JOINED(64, 1, 16) JOINED(65, 1, 17) JOINED(66, 1, 18) JOINED(67, 1, 19) JOINED(68, 1, 20) JOINED(69, 1, 21)                  \
    JOINED(70, 1, 22) JOINED(71, 1, 23) JOINED(72, 1, 24) JOINED(73, 1, 25) JOINED(74, 1, 26) JOINED(75, 1, 27)                  \
    JOINED(76, 1, 28) JOINED(77, 1, 29) JOINED(78, 1, 30) JOINED(79, 1, 31) JOINED(80, 1, 32) JOINED(81, 1, 33)                  \
    JOINED(82, 1, 34) JOINED(83, 1, 35) JOINED(84, 1, 36) JOINED(85, 1, 37) JOINED(86, 1, 38) JOINED(87, 1, 39)                  \
    JOINED(88, 1, 40) JOINED(89, 1, 41) JOINED(90, 1, 42) JOINED(91, 1, 43) JOINED(92, 1, 44) JOINED(93, 1, 45)                  \
    JOINED(94, 1, 46) JOINED(95, 1, 47) MAX(0, 48) MM(32, 80) MM(32, 48) MM(16, 64) MM(16, 32) MM(64, 48) MM(8, 56) MM(40, 88)   \
    MM(40, 56) MM(24, 72) MM(24, 40) MM(72, 56) MAX(8, 16) MM(24, 32) MM(40, 64) MM(72, 48) MM(56, 80) MAX(4, 52) MM(36, 84)     \
    MM(36, 52) MM(20, 68) MM(20, 36) MM(68, 52) MM(12, 60) MIN(44, 92) MM(44, 60) MM(28, 76) MM(28, 44) MM(76, 60) MM(12, 20)    \
    MM(28, 36) MM(44, 68) MM(76, 52) MM(60, 84) MM(12, 16) MM(20, 24) MM(28, 32) MM(36, 40) MM(44, 64) MM(68, 72) MM(76, 48)     \
    MM(52, 56) MM(60, 80) MIN(84, 88) MAX(2, 50) MM(34, 82) MM(34, 50) MM(18, 66) MM(18, 34) MM(66, 50) MM(10, 58) MIN(42, 90)   \
    MM(42, 58) MM(26, 74) MM(26, 42) MM(74, 58) MM(10, 18) MM(26, 34) MM(42, 66) MM(74, 50) MM(58, 82) MM(6, 54) MM(38, 86)      \
    MM(38, 54) MM(22, 70) MM(22, 38) MM(70, 54) MM(14, 62) MIN(46, 94) MM(46, 62) MM(30, 78) MM(30, 46) MM(78, 62) MM(14, 22)    \
    MM(30, 38) MM(46, 70) MM(78, 54) MIN(62, 86) MAX(6, 10) MM(14, 18) MM(22, 26) MM(30, 34) MM(38, 42) MM(46, 66) MM(70, 74)    \
    MM(78, 50) MM(54, 58) MM(62, 82) MAX(10, 12) MM(14, 16) MM(18, 20) MM(22, 24) MM(26, 28) MM(30, 32) MM(34, 36) MM(38, 40)    \
    MM(42, 44) MM(46, 64) MM(66, 68) MM(70, 72) MM(74, 76) MM(78, 48) MM(50, 52) MM(54, 56) MM(58, 60) MM(62, 80) MM(82, 84)     \
    MAX(1, 49) MM(33, 81) MM(33, 49) MM(17, 65) MM(17, 33) MM(65, 49) MM(9, 57) MM(41, 89) MM(41, 57) MM(25, 73) MM(25, 41)      \
    MM(73, 57) MAX(9, 17) MM(25, 33) MM(41, 65) MM(73, 49) MM(57, 81) MAX(5, 53) MM(37, 85) MM(37, 53) MM(21, 69) MM(21, 37)     \
    MM(69, 53) MM(13, 61) MIN(45, 93) MM(45, 61) MM(29, 77) MM(29, 45) MM(77, 61) MM(13, 21) MM(29, 37) MM(45, 69) MM(77, 53)    \
    MM(61, 85) MM(13, 17) MM(21, 25) MM(29, 33) MM(37, 41) MM(45, 65) MM(69, 73) MM(77, 49) MM(53, 57) MM(61, 81) MIN(85, 89)    \
    MAX(3, 51) MM(35, 83) MM(35, 51) MM(19, 67) MM(19, 35) MM(67, 51) MM(11, 59) MIN(43, 91) MM(43, 59) MM(27, 75) MM(27, 43)    \
    MM(75, 59) MM(11, 19) MM(27, 35) MM(43, 67) MM(75, 51) MM(59, 83) MM(7, 55) MM(39, 87) MM(39, 55) MM(23, 71) MM(23, 39)      \
    MM(71, 55) MM(15, 63) MIN(47, 95) MM(47, 63) MM(31, 79) MM(31, 47) MM(79, 63) MM(15, 23) MM(31, 39) MM(47, 71) MM(79, 55)    \
    MIN(63, 87) MAX(7, 11) MM(15, 19) MM(23, 27) MM(31, 35) MM(39, 43) MM(47, 67) MM(71, 75) MM(79, 51) MM(55, 59) MM(63, 83)    \
    MM(11, 13) MM(15, 17) MM(19, 21) MM(23, 25) MM(27, 29) MM(31, 33) MM(35, 37) MM(39, 41) MM(43, 45) MM(47, 65) MM(67, 69)     \
    MM(71, 73) MM(75, 77) MM(79, 49) MM(51, 53) MM(55, 57) MM(59, 61) MM(63, 81) MIN(83, 85) MM(11, 12) MM(13, 14) MM(15, 16)    \
    MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38)     \
    MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46) MM(47, 64) MM(65, 66) MM(67, 68) MM(69, 70) MM(71, 72) MM(73, 74) MM(75, 76)     \
    MM(77, 78) MM(79, 48) MM(49, 50) MM(51, 52) MM(53, 54) MM(55, 56) MM(57, 58) MM(59, 60) MM(61, 62) MM(63, 80) MM(81, 82)     \
    MM(83, 84) COLUMN(96, 11, 0) COLUMN(97, 11, 1) COLUMN(98, 11, 2) COLUMN(99, 11, 3) COLUMN(100, 11, 4) COLUMN(101, 11, 5)     \
    COLUMN(102, 11, 6) COLUMN(103, 11, 7) COLUMN(104, 11, 8) COLUMN(105, 11, 9) COLUMN(106, 11, 10) COLUMN(107, 11, 11)          \
    COLUMN(108, 12, 0) COLUMN(109, 12, 1) COLUMN(110, 12, 2) COLUMN(111, 12, 3) COLUMN(112, 12, 4) COLUMN(113, 12, 5)            \
    COLUMN(114, 12, 6) COLUMN(115, 12, 7) COLUMN(116, 12, 8) COLUMN(117, 12, 9) COLUMN(118, 12, 10) COLUMN(119, 12, 11)          \
    MM(96, 108) MM(104, 116) MM(104, 108) MM(100, 112) MM(100, 104) MM(112, 108) MM(98, 110) MM(106, 118) MM(106, 110)           \
    MM(102, 114) MM(102, 106) MM(114, 110) MM(98, 100) MM(102, 104) MM(106, 112) MM(114, 108) MM(110, 116) MM(97, 109)           \
    MM(105, 117) MM(105, 109) MM(101, 113) MM(101, 105) MM(113, 109) MM(99, 111) MM(107, 119) MM(107, 111) MM(103, 115)          \
    MM(103, 107) MM(115, 111) MM(99, 101) MM(103, 105) MM(107, 113) MM(115, 109) MM(111, 117) MM(97, 98) MM(99, 100)             \
    MM(101, 102) MM(103, 104) MM(105, 106) MM(107, 112) MM(113, 114) MM(115, 108) MM(109, 110) MM(111, 116) MM(117, 118)         \
    MAX(11, 96) MM(59, 96) MM(43, 59) MM(27, 108) MM(75, 108) MAX(27, 43) MM(75, 59) MIN(108, 96) MAX(19, 104) MIN(83, 104)      \
    MM(67, 83) MM(35, 67) MM(51, 83) MM(35, 43) MM(67, 75) MM(51, 59) MM(83, 108) MAX(15, 100) MM(63, 100) MM(47, 63)            \
    MM(31, 116) MM(79, 116) MM(31, 47) MM(79, 63) MIN(116, 100) MM(23, 112) MM(71, 112) MM(39, 71) MM(55, 112) MAX(23, 31)       \
    MM(39, 47) MM(71, 79) MM(55, 63) MIN(112, 116) MAX(31, 35) MM(39, 43) MM(47, 67) MM(71, 75) MM(79, 51) MM(55, 59) MM(63, 83) \
    MIN(112, 108) MAX(13, 98) MM(61, 98) MM(45, 61) MM(29, 110) MM(77, 110) MAX(29, 45) MM(77, 61) MIN(110, 98) MAX(21, 106)     \
    MM(69, 106) MM(37, 69) MM(53, 106) MM(37, 45) MM(69, 77) MM(53, 61) MIN(106, 110) MAX(17, 102) MIN(81, 102) MM(65, 81)       \
    MM(33, 118) MIN(49, 118) MM(33, 65) MM(49, 81) MM(25, 114) MM(73, 114) MM(41, 73) MIN(57, 114) MAX(25, 33) MM(41, 65)        \
    MM(73, 49) MM(57, 81) MM(33, 37) MM(41, 45) MM(65, 69) MM(73, 77) MM(49, 53) MM(57, 61) MM(81, 106) MAX(33, 35) MM(37, 39)   \
    MM(41, 43) MM(45, 47) MM(65, 67) MM(69, 71) MM(73, 75) MM(77, 79) MM(49, 51) MM(53, 55) MM(57, 59) MM(61, 63) MM(81, 83)     \
    MIN(106, 112) MAX(12, 97) MM(60, 97) MM(44, 60) MM(28, 109) MM(76, 109) MAX(28, 44) MM(76, 60) MIN(109, 97) MAX(20, 105)     \
    MIN(84, 105) MM(68, 84) MM(36, 68) MM(52, 84) MM(36, 44) MM(68, 76) MM(52, 60) MIN(84, 109) MAX(16, 101) MIN(80, 101)        \
    MM(64, 80) MM(32, 117) MIN(48, 117) MM(32, 64) MM(48, 80) MM(24, 113) MM(72, 113) MM(40, 72) MIN(56, 113) MAX(24, 32)        \
    MM(40, 64) MM(72, 48) MM(56, 80) MAX(32, 36) MM(40, 44) MM(64, 68) MM(72, 76) MM(48, 52) MM(56, 60) MM(80, 84) MAX(14, 99)   \
    MM(62, 99) MM(46, 62) MM(30, 111) MM(78, 111) MAX(30, 46) MM(78, 62) MIN(111, 99) MAX(22, 107) MM(70, 107) MM(38, 70)        \
    MM(54, 107) MM(38, 46) MM(70, 78) MM(54, 62) MIN(107, 111) MAX(18, 103) MIN(82, 103) MM(66, 82) MM(34, 119) MIN(50, 119)     \
    MM(34, 66) MM(50, 82) MM(26, 115) MM(74, 115) MM(42, 74) MIN(58, 115) MAX(26, 34) MM(42, 66) MM(74, 50) MM(58, 82)           \
    MM(34, 38) MM(42, 46) MM(66, 70) MM(74, 78) MM(50, 54) MM(58, 62) MIN(82, 107) MM(34, 36) MM(38, 40) MM(42, 44) MM(46, 64)   \
    MM(66, 68) MM(70, 72) MM(74, 76) MM(78, 48) MM(50, 52) MM(54, 56) MM(58, 60) MM(62, 80) MM(82, 84) MAX(34, 35) MM(36, 37)    \
    MM(38, 39) MM(40, 41) MM(42, 43) MM(44, 45) MM(46, 47) MM(64, 65) MM(66, 67) MM(68, 69) MM(70, 71) MM(72, 73) MM(74, 75)     \
    MM(76, 77) MM(78, 79) MM(48, 49) MM(50, 51) MM(52, 53) MM(54, 55) MM(56, 57) MM(58, 59) MM(60, 61) MM(62, 63) MM(80, 81)     \
    MM(82, 83) MIN(84, 106) OUT(35, 0) OUT(36, 1) OUT(37, 2) OUT(38, 3) OUT(39, 4) OUT(40, 5) OUT(41, 6) OUT(42, 7) OUT(43, 8)   \
    OUT(44, 9) OUT(45, 10) OUT(46, 11) OUT(47, 12) OUT(64, 13) OUT(65, 14) OUT(66, 15) OUT(67, 16) OUT(68, 17) OUT(69, 18)       \
    OUT(70, 19) OUT(71, 20) OUT(72, 21) OUT(73, 22) OUT(74, 23) OUT(75, 24) OUT(76, 25) OUT(77, 26) OUT(78, 27) OUT(79, 28)      \
    OUT(48, 29) OUT(49, 30) OUT(50, 31) OUT(51, 32) OUT(52, 33) OUT(53, 34) OUT(54, 35) OUT(55, 36) OUT(56, 37) OUT(57, 38)      \
    OUT(58, 39) OUT(59, 40) OUT(60, 41) OUT(61, 42) OUT(62, 43) OUT(63, 44) OUT(80, 45) OUT(81, 46) OUT(82, 47) OUT(83, 48)      \
    OUT(84, 49)
/* 752 operations */
#define MEDIAN_TREE_HALF_WIRES_13 258
#define MEDIAN_TREE_HALF_13(MM, MIN, MAX, CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT)                                            \
    CORE(0, 0) CORE(1, 1) CORE(2, 2) CORE(3, 3) CORE(4, 4) CORE(5, 5) CORE(6, 6) CORE(7, 7) CORE(8, 8) CORE(9, 9) CORE(10, 10)   \
    CORE(11, 11) CORE(12, 12) CORE(13, 13) CORE(14, 14) CORE(15, 15) CORE(16, 16) CORE(17, 17) CORE(18, 18) CORE(19, 19)         \
    CORE(20, 20) CORE(21, 21) CORE(22, 22) CORE(23, 23) CORE(24, 24) CORE(25, 25) CORE(26, 26) CORE(27, 27) CORE(28, 28)         \
    CORE(29, 29) CORE(30, 30) CORE(31, 31) CORE(32, 32) CORE(33, 33) CORE(34, 34) CORE(35, 35) CORE(36, 36) CORE(37, 37)         \
    CORE(38, 38) CORE(39, 39) CORE(40, 40) CORE(41, 41) CORE(42, 42) CORE(43, 43) CORE(44, 44) CORE(45, 45) CORE(46, 46)         \
    CORE(47, 47) CORE(48, 48) CORE(49, 49) COLUMN(50, 0, 0) COLUMN(51, 0, 1) COLUMN(52, 0, 2) COLUMN(53, 0, 3) COLUMN(54, 0, 4)  \
    COLUMN(55, 0, 5) COLUMN(56, 0, 6) COLUMN(57, 0, 7) COLUMN(58, 0, 8) COLUMN(59, 0, 9) COLUMN(60, 0, 10) COLUMN(61, 0, 11)     \
    COLUMN(62, 1, 0) COLUMN(63, 1, 1) COLUMN(64, 1, 2) COLUMN(65, 1, 3) COLUMN(66, 1, 4) COLUMN(67, 1, 5) COLUMN(68, 1, 6)       \
    COLUMN(69, 1, 7) COLUMN(70, 1, 8) COLUMN(71, 1, 9) COLUMN(72, 1, 10) COLUMN(73, 1, 11) MM(50, 62) MM(58, 70) MM(58, 62)      \
    MM(54, 66) MM(54, 58) MM(66, 62) MM(52, 64) MM(60, 72) MM(60, 64) MM(56, 68) MM(56, 60) MM(68, 64) MM(52, 54) MM(56, 58)     \
    MM(60, 66) MM(68, 62) MM(64, 70) MM(51, 63) MM(59, 71) MM(59, 63) MM(55, 67) MM(55, 59) MM(67, 63) MM(53, 65) MM(61, 73)     \
    MM(61, 65) MM(57, 69) MM(57, 61) MM(69, 65) MM(53, 55) MM(57, 59) MM(61, 67) MM(69, 63) MM(65, 71) MM(51, 52) MM(53, 54)     \
    MM(55, 56) MM(57, 58) MM(59, 60) MM(61, 66) MM(67, 68) MM(69, 62) MM(63, 64) MM(65, 70) MM(71, 72) MAX(0, 50) MM(32, 50)     \
    MM(16, 62) MIN(48, 62) MAX(16, 32) MM(48, 50) MAX(8, 58) MM(40, 58) MM(24, 40) MM(24, 32) MM(40, 48) MIN(58, 50) MAX(4, 54)  \
    MM(36, 54) MM(20, 70) MM(20, 36) MIN(70, 54) MM(12, 66) MIN(44, 66) MM(28, 44) MAX(12, 20) MM(28, 36) MM(44, 70) MAX(20, 24) \
    MM(28, 32) MM(36, 40) MM(44, 48) MIN(70, 58) MAX(2, 52) MM(34, 52) MM(18, 64) MAX(18, 34) MIN(64, 52) MAX(10, 60)            \
    MIN(42, 60) MM(26, 42) MM(26, 34) MM(42, 64) MAX(6, 56) MM(38, 56) MM(22, 72) MM(22, 38) MIN(72, 56) MM(14, 68) MIN(46, 68)  \
    MM(30, 46) MAX(14, 22) MM(30, 38) MIN(46, 72) MM(22, 26) MM(30, 34) MM(38, 42) MM(46, 64) MAX(22, 24) MM(26, 28) MM(30, 32)  \
    MM(34, 36) MM(38, 40) MM(42, 44) MM(46, 48) MIN(64, 70) MAX(1, 51) MM(33, 51) MM(17, 63) MIN(49, 63) MAX(17, 33) MIN(49, 51) \
    MAX(9, 59) MIN(41, 59) MM(25, 41) MM(25, 33) MM(41, 49) MAX(5, 55) MM(37, 55) MM(21, 71) MM(21, 37) MIN(71, 55) MM(13, 67)   \
    MIN(45, 67) MM(29, 45) MAX(13, 21) MM(29, 37) MIN(45, 71) MAX(21, 25) MM(29, 33) MM(37, 41) MM(45, 49) MAX(3, 53) MM(35, 53) \
    MM(19, 65) MAX(19, 35) MIN(65, 53) MAX(11, 61) MIN(43, 61) MM(27, 43) MM(27, 35) MM(43, 65) MAX(7, 57) MM(39, 57) MM(23, 73) \
    MM(23, 39) MIN(73, 57) MM(15, 69) MIN(47, 69) MM(31, 47) MAX(15, 23) MM(31, 39) MIN(47, 73) MM(23, 27) MM(31, 35) MM(39, 43) \
    MIN(47, 65) MM(23, 25) MM(27, 29) MM(31, 33) MM(35, 37) MM(39, 41) MM(43, 45) MM(47, 49) MAX(23, 24) MM(25, 26) MM(27, 28)   \
    MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46) MM(47, 48) MIN(49, 64)    \
    SAMPLE(74, 0, 0) SAMPLE(75, 1, 0) MM(74, 75) ROW(76, 0, 0) ROW(77, 0, 1) ROW(78, 0, 2) ROW(79, 0, 3) ROW(80, 0, 4)           \
    ROW(81, 0, 5) ROW(82, 0, 6) ROW(83, 0, 7) ROW(84, 0, 8) ROW(85, 0, 9) MM(76, 74) MM(84, 74) MM(80, 84) MM(78, 80) MM(82, 84) \
    MM(77, 75) MM(85, 75) MM(81, 85) MM(79, 81) MM(83, 85) MM(77, 78) MM(79, 80) MM(81, 82) MM(83, 84) MM(85, 74) COPY(86, 24)   \
    COPY(87, 25) COPY(88, 26) COPY(89, 27) COPY(90, 28) COPY(91, 29) COPY(92, 30) COPY(93, 31) COPY(94, 32) COPY(95, 33)         \
    COPY(96, 34) COPY(97, 35) COPY(98, 36) COPY(99, 37) COPY(100, 38) COPY(101, 39) COPY(102, 40) COPY(103, 41) COPY(104, 42)    \
    COPY(105, 43) COPY(106, 44) COPY(107, 45) COPY(108, 46) COPY(109, 47) COPY(110, 48) COPY(111, 49) MAX(86, 76) MM(102, 76)    \
    MM(94, 84) MIN(110, 84) MAX(94, 102) MM(110, 76) MAX(90, 80) MM(106, 80) MM(98, 106) MM(98, 102) MM(106, 110) MIN(80, 76)    \
    MAX(88, 78) MM(104, 78) MM(96, 74) MM(96, 104) MIN(74, 78) MM(92, 82) MIN(108, 82) MM(100, 108) MAX(92, 96) MM(100, 104)     \
    MM(108, 74) MAX(96, 98) MM(100, 102) MM(104, 106) MM(108, 110) MIN(74, 80) MAX(87, 77) MM(103, 77) MM(95, 85) MIN(111, 85)   \
    MAX(95, 103) MIN(111, 77) MAX(91, 81) MIN(107, 81) MM(99, 107) MM(99, 103) MM(107, 111) MAX(89, 79) MM(105, 79) MM(97, 75)   \
    MM(97, 105) MIN(75, 79) MM(93, 83) MIN(109, 83) MM(101, 109) MAX(93, 97) MM(101, 105) MIN(109, 75) MM(97, 99) MM(101, 103)   \
    MM(105, 107) MM(109, 111) MAX(97, 98) MM(99, 100) MM(101, 102) MM(103, 104) MM(105, 106) MM(107, 108) MM(109, 110)           \
    MIN(111, 74) SAMPLE(112, 2, 0) COLUMN(113, 2, 0) COLUMN(114, 2, 1) COLUMN(115, 2, 2) COLUMN(116, 2, 3) COLUMN(117, 2, 4)     \
    COLUMN(118, 2, 5) COLUMN(119, 2, 6) COLUMN(120, 2, 7) COLUMN(121, 2, 8) COLUMN(122, 2, 9) COLUMN(123, 2, 10)                 \
    COLUMN(124, 2, 11) MM(113, 112) MM(121, 112) MM(117, 121) MM(115, 117) MM(119, 121) MM(123, 112) MM(114, 115) MM(116, 117)   \
    MM(118, 119) MM(120, 121) MM(122, 123) MM(124, 112) COPY(125, 98) COPY(126, 99) COPY(127, 100) COPY(128, 101) COPY(129, 102) \
    COPY(130, 103) COPY(131, 104) COPY(132, 105) COPY(133, 106) COPY(134, 107) COPY(135, 108) COPY(136, 109) COPY(137, 110)      \
    COPY(138, 111) MAX(112, 125) MAX(124, 126) MAX(123, 127) MAX(122, 128) MAX(121, 129) MAX(120, 130) MAX(119, 131)             \
    MAX(118, 132) MAX(117, 133) MAX(116, 134) MAX(115, 135) MAX(114, 136) MAX(113, 137) MIN3(125, 126, 127) MIN3(128, 129, 130)  \
    MIN3(131, 132, 133) MIN3(134, 135, 136) MIN(137, 138) MIN3(125, 128, 131) MIN(134, 137) MIN(125, 134) OUT(125, 0, 0)         \
    SAMPLE(139, 3, 0) COLUMN(140, 3, 0) COLUMN(141, 3, 1) COLUMN(142, 3, 2) COLUMN(143, 3, 3) COLUMN(144, 3, 4)                  \
    COLUMN(145, 3, 5) COLUMN(146, 3, 6) COLUMN(147, 3, 7) COLUMN(148, 3, 8) COLUMN(149, 3, 9) COLUMN(150, 3, 10)                 \
    COLUMN(151, 3, 11) MM(140, 139) MM(148, 139) MM(144, 148) MM(142, 144) MM(146, 148) MM(150, 139) MM(141, 142) MM(143, 144)   \
    MM(145, 146) MM(147, 148) MM(149, 150) MM(151, 139) COPY(152, 98) COPY(153, 99) COPY(154, 100) COPY(155, 101) COPY(156, 102) \
    COPY(157, 103) COPY(158, 104) COPY(159, 105) COPY(160, 106) COPY(161, 107) COPY(162, 108) COPY(163, 109) COPY(164, 110)      \
    COPY(165, 111) MAX(139, 152) MAX(151, 153) MAX(150, 154) MAX(149, 155) MAX(148, 156) MAX(147, 157) MAX(146, 158)             \
    MAX(145, 159) MAX(144, 160) MAX(143, 161) MAX(142, 162) MAX(141, 163) MAX(140, 164) MIN3(152, 153, 154) MIN3(155, 156, 157)  \
    MIN3(158, 159, 160) MIN3(161, 162, 163) MIN(164, 165) MIN3(152, 155, 158) MIN(161, 164) MIN(152, 161) OUT(152, 1, 0)         \
    SAMPLE(166, 0, 1) SAMPLE(167, 1, 1) MM(166, 167) ROW(168, 1, 0) ROW(169, 1, 1) ROW(170, 1, 2) ROW(171, 1, 3) ROW(172, 1, 4)  \
    ROW(173, 1, 5) ROW(174, 1, 6) ROW(175, 1, 7) ROW(176, 1, 8) ROW(177, 1, 9) MM(168, 166) MM(176, 166) MM(172, 176)            \
    MM(170, 172) MM(174, 176) MM(169, 167) MM(177, 167) MM(173, 177) MM(171, 173) MM(175, 177) MM(169, 170) MM(171, 172)         \
    MM(173, 174) MM(175, 176) MM(177, 166) COPY(178, 24) COPY(179, 25) COPY(180, 26) COPY(181, 27) COPY(182, 28) COPY(183, 29)   \
    COPY(184, 30) COPY(185, 31) COPY(186, 32) COPY(187, 33) COPY(188, 34) COPY(189, 35) COPY(190, 36) COPY(191, 37)              \
    COPY(192, 38) COPY(193, 39) COPY(194, 40) COPY(195, 41) COPY(196, 42) COPY(197, 43) COPY(198, 44) COPY(199, 45)              \
    COPY(200, 46) COPY(201, 47) COPY(202, 48) COPY(203, 49) MAX(178, 168) MM(194, 168) MM(186, 176) MIN(202, 176) MAX(186, 194)  \
    MM(202, 168) MAX(182, 172) MM(198, 172) MM(190, 198) MM(190, 194) MM(198, 202) MIN(172, 168) MAX(180, 170) MM(196, 170)      \
    MM(188, 166) MM(188, 196) MIN(166, 170) MM(184, 174) MIN(200, 174) MM(192, 200) MAX(184, 188) MM(192, 196) MM(200, 166)      \
    MAX(188, 190) MM(192, 194) MM(196, 198) MM(200, 202) MIN(166, 172) MAX(179, 169) MM(195, 169) MM(187, 177) MIN(203, 177)     \
    MAX(187, 195) MIN(203, 169) MAX(183, 173) MIN(199, 173) MM(191, 199) MM(191, 195) MM(199, 203) MAX(181, 171) MM(197, 171)    \
    MM(189, 167) MM(189, 197) MIN(167, 171) MM(185, 175) MIN(201, 175) MM(193, 201) MAX(185, 189) MM(193, 197) MIN(201, 167)     \
    MM(189, 191) MM(193, 195) MM(197, 199) MM(201, 203) MAX(189, 190) MM(191, 192) MM(193, 194) MM(195, 196) MM(197, 198)        \
    MM(199, 200) MM(201, 202) MIN(203, 166) SAMPLE(204, 2, 1) COLUMN(205, 2, 0) COLUMN(206, 2, 1) COLUMN(207, 2, 2)              \
    COLUMN(208, 2, 3) COLUMN(209, 2, 4) COLUMN(210, 2, 5) COLUMN(211, 2, 6) COLUMN(212, 2, 7) COLUMN(213, 2, 8)                  \
    COLUMN(214, 2, 9) COLUMN(215, 2, 10) COLUMN(216, 2, 11) MM(205, 204) MM(213, 204) MM(209, 213) MM(207, 209) MM(211, 213)     \
    MM(215, 204) MM(206, 207) MM(208, 209) MM(210, 211) MM(212, 213) MM(214, 215) MM(216, 204) COPY(217, 190) COPY(218, 191)     \
    COPY(219, 192) COPY(220, 193) COPY(221, 194) COPY(222, 195) COPY(223, 196) COPY(224, 197) COPY(225, 198) COPY(226, 199)      \
    COPY(227, 200) COPY(228, 201) COPY(229, 202) COPY(230, 203) MAX(204, 217) MAX(216, 218) MAX(215, 219) MAX(214, 220)          \
    MAX(213, 221) MAX(212, 222) MAX(211, 223) MAX(210, 224) MAX(209, 225) MAX(208, 226) MAX(207, 227) MAX(206, 228)              \
    MAX(205, 229) MIN3(217, 218, 219) MIN3(220, 221, 222) MIN3(223, 224, 225) MIN3(226, 227, 228) MIN(229, 230)                  \
    MIN3(217, 220, 223) MIN(226, 229) MIN(217, 226) OUT(217, 0, 1) SAMPLE(231, 3, 1) COLUMN(232, 3, 0) COLUMN(233, 3, 1)         \
    COLUMN(234, 3, 2) COLUMN(235, 3, 3) COLUMN(236, 3, 4) COLUMN(237, 3, 5) COLUMN(238, 3, 6) COLUMN(239, 3, 7)                  \
    COLUMN(240, 3, 8) COLUMN(241, 3, 9) COLUMN(242, 3, 10) COLUMN(243, 3, 11) MM(232, 231) MM(240, 231) MM(236, 240)             \
    MM(234, 236) MM(238, 240) MM(242, 231) MM(233, 234) MM(235, 236) MM(237, 238) MM(239, 240) MM(241, 242) MM(243, 231)         \
    COPY(244, 190) COPY(245, 191) COPY(246, 192) COPY(247, 193) COPY(248, 194) COPY(249, 195) COPY(250, 196) COPY(251, 197)      \
    COPY(252, 198) COPY(253, 199) COPY(254, 200) COPY(255, 201) COPY(256, 202) COPY(257, 203) MAX(231, 244) MAX(243, 245)        \
    MAX(242, 246) MAX(241, 247) MAX(240, 248) MAX(239, 249) MAX(238, 250) MAX(237, 251) MAX(236, 252) MAX(235, 253)              \
    MAX(234, 254) MAX(233, 255) MAX(232, 256) MIN3(244, 245, 246) MIN3(247, 248, 249) MIN3(250, 251, 252) MIN3(253, 254, 255)    \
    MIN(256, 257) MIN3(244, 247, 250) MIN(253, 256) MIN(244, 253) OUT(244, 1, 1)

/* ---- 15 x 15 */
#define MEDIAN_CORE_15 58
/* 106 operations */
#define MEDIAN_TREE_COLUMN_WIRES_15 14
#define MEDIAN_TREE_COLUMN_15(MM, MIN, MAX, SAMPLE, OUT)                                                                         \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) SAMPLE(8, 8)         \
    SAMPLE(9, 9) SAMPLE(10, 10) SAMPLE(11, 11) SAMPLE(12, 12) SAMPLE(13, 13) MM(0, 1) MM(2, 3) MM(0, 2) MM(1, 3) MM(1, 2)        \
    MM(4, 5) MM(4, 6) MM(5, 6) MM(0, 4) MM(2, 6) MM(2, 4) MM(1, 5) MM(3, 5) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10)        \
    MM(7, 9) MM(8, 10) MM(8, 9) MM(11, 12) MM(11, 13) MM(12, 13) MM(7, 11) MM(9, 13) MM(9, 11) MM(8, 12) MM(10, 12) MM(8, 9)     \
    MM(10, 11) MM(12, 13) MM(0, 7) MM(4, 11) MM(4, 7) MM(2, 9) MM(6, 13) MM(6, 9) MM(2, 4) MM(6, 7) MM(9, 11) MM(1, 8) MM(5, 12) \
    MM(5, 8) MM(3, 10) MM(3, 5) MM(10, 8) MM(1, 2) MM(3, 4) MM(5, 6) MM(10, 7) MM(8, 9) MM(12, 11) OUT(0, 0) OUT(1, 1) OUT(2, 2) \
    OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(10, 7) OUT(7, 8) OUT(8, 9) OUT(9, 10) OUT(12, 11) OUT(11, 12) OUT(13, 13)
/* 494 operations */
#define MEDIAN_TREE_JOIN_WIRES_15 56
#define MEDIAN_TREE_JOIN_15(MM, MIN, MAX, COLUMN, OUT)                                                                           \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 0, 6)              \
    COLUMN(7, 0, 7) COLUMN(8, 0, 8) COLUMN(9, 0, 9) COLUMN(10, 0, 10) COLUMN(11, 0, 11) COLUMN(12, 0, 12) COLUMN(13, 0, 13)      \
    COLUMN(14, 1, 0) COLUMN(15, 1, 1) COLUMN(16, 1, 2) COLUMN(17, 1, 3) COLUMN(18, 1, 4) COLUMN(19, 1, 5) COLUMN(20, 1, 6)       \
    COLUMN(21, 1, 7) COLUMN(22, 1, 8) COLUMN(23, 1, 9) COLUMN(24, 1, 10) COLUMN(25, 1, 11) COLUMN(26, 1, 12) COLUMN(27, 1, 13)   \
    COLUMN(28, 2, 0) COLUMN(29, 2, 1) COLUMN(30, 2, 2) COLUMN(31, 2, 3) COLUMN(32, 2, 4) COLUMN(33, 2, 5) COLUMN(34, 2, 6)       \
    COLUMN(35, 2, 7) COLUMN(36, 2, 8) COLUMN(37, 2, 9) COLUMN(38, 2, 10) COLUMN(39, 2, 11) COLUMN(40, 2, 12) COLUMN(41, 2, 13)   \
    COLUMN(42, 3, 0) COLUMN(43, 3, 1) COLUMN(44, 3, 2) COLUMN(45, 3, 3) COLUMN(46, 3, 4) COLUMN(47, 3, 5) COLUMN(48, 3, 6)       \
    COLUMN(49, 3, 7) COLUMN(50, 3, 8) COLUMN(51, 3, 9) COLUMN(52, 3, 10) COLUMN(53, 3, 11) COLUMN(54, 3, 12) COLUMN(55, 3, 13)   \
    MM(0, 14) MM(8, 22) MM(8, 14) MM(4, 18) MM(12, 26) MM(12, 18) MM(4, 8) MM(12, 14) MM(18, 22) MM(2, 16) MM(10, 24) MM(10, 16) \
    MM(6, 20) MM(6, 10) MM(20, 16) MM(2, 4) MM(6, 8) MM(10, 12) MM(20, 14) MM(16, 18) MM(24, 22) MM(1, 15) MM(9, 23) MM(9, 15)   \
    MM(5, 19) MM(13, 27) MM(13, 19) MM(5, 9) MM(13, 15) MM(19, 23) MM(3, 17) MM(11, 25) MM(11, 17) MM(7, 21) MM(7, 11)           \
    MM(21, 17) MM(3, 5) MM(7, 9) MM(11, 13) MM(21, 15) MM(17, 19) MM(25, 23) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10)       \
    MM(11, 12) MM(13, 20) MM(21, 14) MM(15, 16) MM(17, 18) MM(19, 24) MM(25, 22) MM(23, 26) MM(28, 42) MM(36, 50) MM(36, 42)     \
    MM(32, 46) MM(40, 54) MM(40, 46) MM(32, 36) MM(40, 42) MM(46, 50) MM(30, 44) MM(38, 52) MM(38, 44) MM(34, 48) MM(34, 38)     \
    MM(48, 44) MM(30, 32) MM(34, 36) MM(38, 40) MM(48, 42) MM(44, 46) MM(52, 50) MM(29, 43) MM(37, 51) MM(37, 43) MM(33, 47)     \
    MM(41, 55) MM(41, 47) MM(33, 37) MM(41, 43) MM(47, 51) MM(31, 45) MM(39, 53) MM(39, 45) MM(35, 49) MM(35, 39) MM(49, 45)     \
    MM(31, 33) MM(35, 37) MM(39, 41) MM(49, 43) MM(45, 47) MM(53, 51) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38)     \
    MM(39, 40) MM(41, 48) MM(49, 42) MM(43, 44) MM(45, 46) MM(47, 52) MM(53, 50) MM(51, 54) MM(0, 28) MM(14, 42) MM(14, 28)      \
    MM(8, 36) MM(22, 50) MM(22, 36) MM(8, 14) MM(22, 28) MM(36, 42) MM(4, 32) MM(18, 46) MM(18, 32) MM(12, 40) MM(12, 18)        \
    MM(40, 32) MM(4, 8) MM(12, 14) MM(18, 22) MM(40, 28) MM(32, 36) MM(46, 42) MM(2, 30) MM(16, 44) MM(16, 30) MM(10, 38)        \
    MM(26, 54) MM(26, 38) MM(10, 16) MM(26, 30) MM(38, 44) MM(6, 34) MM(24, 52) MM(24, 34) MM(20, 48) MM(20, 24) MM(48, 34)      \
    MM(6, 10) MM(20, 16) MM(24, 26) MM(48, 30) MM(34, 38) MM(52, 44) MM(2, 4) MM(6, 8) MM(10, 12) MM(20, 14) MM(16, 18)          \
    MM(24, 22) MM(26, 40) MM(48, 28) MM(30, 32) MM(34, 36) MM(38, 46) MM(52, 42) MM(44, 50) MM(1, 29) MM(15, 43) MM(15, 29)      \
    MM(9, 37) MM(23, 51) MM(23, 37) MM(9, 15) MM(23, 29) MM(37, 43) MM(5, 33) MM(19, 47) MM(19, 33) MM(13, 41) MM(13, 19)        \
    MM(41, 33) MM(5, 9) MM(13, 15) MM(19, 23) MM(41, 29) MM(33, 37) MM(47, 43) MM(3, 31) MM(17, 45) MM(17, 31) MM(11, 39)        \
    MM(27, 55) MM(27, 39) MM(11, 17) MM(27, 31) MM(39, 45) MM(7, 35) MM(25, 53) MM(25, 35) MM(21, 49) MM(21, 25) MM(49, 35)      \
    MM(7, 11) MM(21, 17) MM(25, 27) MM(49, 31) MM(35, 39) MM(53, 45) MM(3, 5) MM(7, 9) MM(11, 13) MM(21, 15) MM(17, 19)          \
    MM(25, 23) MM(27, 41) MM(49, 29) MM(31, 33) MM(35, 37) MM(39, 47) MM(53, 43) MM(45, 51) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8)  \
    MM(9, 10) MM(11, 12) MM(13, 20) MM(21, 14) MM(15, 16) MM(17, 18) MM(19, 24) MM(25, 22) MM(23, 26) MM(27, 40) MM(41, 48)      \
    MM(49, 28) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 46) MM(47, 52) MM(53, 42) MM(43, 44) MM(45, 50)     \
    MM(51, 54) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(3, 3) OUT(4, 4) OUT(5, 5) OUT(6, 6) OUT(7, 7) OUT(8, 8) OUT(9, 9) OUT(10, 10)   \
    OUT(11, 11) OUT(12, 12) OUT(13, 13) OUT(20, 14) OUT(21, 15) OUT(14, 16) OUT(15, 17) OUT(16, 18) OUT(17, 19) OUT(18, 20)      \
    OUT(19, 21) OUT(24, 22) OUT(25, 23) OUT(22, 24) OUT(23, 25) OUT(26, 26) OUT(27, 27) OUT(40, 28) OUT(41, 29) OUT(48, 30)      \
    OUT(49, 31) OUT(28, 32) OUT(29, 33) OUT(30, 34) OUT(31, 35) OUT(32, 36) OUT(33, 37) OUT(34, 38) OUT(35, 39) OUT(36, 40)      \
    OUT(37, 41) OUT(38, 42) OUT(39, 43) OUT(46, 44) OUT(47, 45) OUT(52, 46) OUT(53, 47) OUT(42, 48) OUT(43, 49) OUT(44, 50)      \
    OUT(45, 51) OUT(50, 52) OUT(51, 53) OUT(54, 54) OUT(55, 55)
/* 82 operations */
#define MEDIAN_TREE_ROW_WIRES_15 12
#define MEDIAN_TREE_ROW_15(MM, MIN, MAX, SAMPLE, OUT)                                                                           \
    SAMPLE(0, 0) SAMPLE(1, 1) SAMPLE(2, 2) SAMPLE(3, 3) SAMPLE(4, 4) SAMPLE(5, 5) SAMPLE(6, 6) SAMPLE(7, 7) SAMPLE(8, 8)        \
    SAMPLE(9, 9) SAMPLE(10, 10) SAMPLE(11, 11) MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(3, 5) MM(4, 5) MM(0, 3) MM(2, 5) MM(2, 3) \
    MM(1, 4) MM(1, 2) MM(4, 3) MM(6, 7) MM(6, 8) MM(7, 8) MM(9, 10) MM(9, 11) MM(10, 11) MM(6, 9) MM(8, 11) MM(8, 9) MM(7, 10)  \
    MM(7, 8) MM(10, 9) MM(0, 6) MM(3, 9) MM(3, 6) MM(2, 8) MM(2, 3) MM(8, 6) MM(1, 7) MM(5, 11) MM(5, 7) MM(4, 10) MM(4, 5)     \
    MM(10, 7) MM(1, 2) MM(4, 3) MM(5, 8) MM(10, 6) MM(7, 9) OUT(0, 0) OUT(1, 1) OUT(2, 2) OUT(4, 3) OUT(3, 4) OUT(5, 5)         \
    OUT(8, 6) OUT(10, 7) OUT(6, 8) OUT(7, 9) OUT(9, 10) OUT(11, 11)
/* 1210 operations */
#define MEDIAN_TREE_CORE_WIRES_15 168
#define MEDIAN_TREE_CORE_15(MM, MIN, MAX, JOINED, COLUMN, OUT)                                                                   \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)              \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)      \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)                  \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) JOINED(24, 0, 24) JOINED(25, 0, 25)                  \
    JOINED(26, 0, 26) JOINED(27, 0, 27) JOINED(28, 0, 28) JOINED(29, 0, 29) JOINED(30, 0, 30) JOINED(31, 0, 31)                  \
    JOINED(32, 0, 32) JOINED(33, 0, 33) JOINED(34, 0, 34) JOINED(35, 0, 35) JOINED(36, 0, 36) JOINED(37, 0, 37)                  \
    JOINED(38, 0, 38) JOINED(39, 0, 39) JOINED(40, 0, 40) JOINED(41, 0, 41) JOINED(42, 0, 42) JOINED(43, 0, 43)                  \
    JOINED(44, 0, 44) JOINED(45, 0, 45) JOINED(46, 0, 46) JOINED(47, 0, 47) JOINED(48, 0, 48) JOINED(49, 0, 49)                  \
    JOINED(50, 0, 50) JOINED(51, 0, 51) JOINED(52, 0, 52) JOINED(53, 0, 53) JOINED(54, 0, 54) JOINED(55, 0, 55) JOINED(56, 1, 0) \
    JOINED(57, 1, 1) JOINED(58, 1, 2) JOINED(59, 1, 3) JOINED(60, 1, 4) JOINED(61, 1, 5) JOINED(62, 1, 6) JOINED(63, 1, 7)       \
    JOINED(64, 1, 8) JOINED(65, 1, 9) JOINED(66, 1, 10) JOINED(67, 1, 11) JOINED(68, 1, 12) JOINED(69, 1, 13) JOINED(70, 1, 14)  \
    JOINED(71, 1, 15) JOINED(72, 1, 16) JOINED(73, 1, 17) JOINED(74, 1, 18) JOINED(75, 1, 19) JOINED(76, 1, 20)                  \
    JOINED(77, 1, 21) JOINED(78, 1, 22) JOINED(79, 1, 23) JOINED(80, 1, 24) JOINED(81, 1, 25) JOINED(82, 1, 26)                  \
    JOINED(83, 1, 27) JOINED(84, 1, 28) JOINED(85, 1, 29) JOINED(86, 1, 30) JOINED(87, 1, 31) JOINED(88, 1, 32)                  \
    JOINED(89, 1, 33) JOINED(90, 1, 34) JOINED(91, 1, 35) JOINED(92, 1, 36) JOINED(93, 1, 37) JOINED(94, 1, 38)                  \
    JOINED(95, 1, 39) JOINED(96, 1, 40) JOINED(97, 1, 41) JOINED(98, 1, 42) JOINED(99, 1, 43) JOINED(100, 1, 44)                 \
    JOINED(101, 1, 45) JOINED(102, 1, 46) JOINED(103, 1, 47) JOINED(104, 1, 48) JOINED(105, 1, 49) JOINED(106, 1, 50)            \
    JOINED(107, 1, 51) JOINED(108, 1, 52) JOINED(109, 1, 53) JOINED(110, 1, 54) JOINED(111, 1, 55) MM(0, 56) MM(32, 88)          \
    MM(32, 56) MM(16, 72) MM(48, 104) MM(48, 72) MM(16, 32) MM(48, 56) MM(72, 88) MM(8, 64) MM(40, 96) MM(40, 64) MM(24, 80)     \
    MM(24, 40) MM(80, 64) MM(8, 16) MM(24, 32) MM(40, 48) MM(80, 56) MM(64, 72) MM(96, 88) MM(4, 60) MM(36, 92) MM(36, 60)       \
    MM(20, 76) MM(52, 108) MM(52, 76) MM(20, 36) MM(52, 60) MM(76, 92) MM(12, 68) MM(44, 100) MM(44, 68) MM(28, 84) MM(28, 44)   \
    MM(84, 68) MM(12, 20) MM(28, 36) MM(44, 52) MM(84, 60) MM(68, 76) MM(100, 92) MM(4, 8) MM(12, 16) MM(20, 24) MM(28, 32)      \
    MM(36, 40) MM(44, 48) MM(52, 80) MM(84, 56) MM(60, 64) MM(68, 72) MM(76, 96) MM(100, 88) MM(92, 104) MM(2, 58) MM(34, 90)    \
    MM(34, 58) MM(18, 74) MM(50, 106) MM(50, 74) MM(18, 34) MM(50, 58) MM(74, 90) MM(10, 66) MM(42, 98) MM(42, 66) MM(26, 82)    \
    MM(26, 42) MM(82, 66) MM(10, 18) MM(26, 34) MM(42, 50) MM(82, 58) MM(66, 74) MM(98, 90) MM(6, 62) MM(38, 94) MM(38, 62)      \
    MM(22, 78) MM(54, 110) MM(54, 78) MM(22, 38) MM(54, 62) MM(78, 94) MM(14, 70) MM(46, 102) MM(46, 70) MM(30, 86) MM(30, 46)   \
    MM(86, 70) MM(14, 22) MM(30, 38) MM(46, 54) MM(86, 62) MM(70, 78) MM(102, 94) MM(6, 10) MM(14, 18) MM(22, 26) MM(30, 34)     \
    MM(38, 42) MM(46, 50) MM(54, 82) MM(86, 58) MM(62, 66) MM(70, 74) MM(78, 98) MM(102, 90) MM(94, 106) MM(2, 4) MM(6, 8)       \
    MM(10, 12) MM(14, 16) MM(18, 20) MM(22, 24) MM(26, 28) MM(30, 32) MM(34, 36) MM(38, 40) MM(42, 44) MM(46, 48) MM(50, 52)     \
    MM(54, 80) MM(82, 84) MM(86, 56) MM(58, 60) MM(62, 64) MM(66, 68) MM(70, 72) MM(74, 76) MM(78, 96) MM(98, 100) MM(102, 88)   \
    MM(90, 92) MM(94, 104) MM(106, 108) MM(1, 57) MM(33, 89) MM(33, 57) MM(17, 73) MM(49, 105) MM(49, 73) MM(17, 33) MM(49, 57)  \
    MM(73, 89) MM(9, 65) MM(41, 97) MM(41, 65) MM(25, 81) MM(25, 41) MM(81, 65) MM(9, 17) MM(25, 33) MM(41, 49) MM(81, 57)       \
    MM(65, 73) MM(97, 89) MM(5, 61) MM(37, 93) MM(37, 61) MM(21, 77) MM(53, 109) MM(53, 77) MM(21, 37) MM(53, 61) MM(77, 93)     \
    MM(13, 69) MM(45, 101) MM(45, 69) MM(29, 85) MM(29, 45) MM(85, 69) MM(13, 21) MM(29, 37) MM(45, 53) MM(85, 61) MM(69, 77)    \
    MM(101, 93) MM(5, 9) MM(13, 17) MM(21, 25) MM(29, 33) MM(37, 41) MM(45, 49) MM(53, 81) MM(85, 57) MM(61, 65) MM(69, 73)      \
    MM(77, 97) MM(101, 89) MM(93, 105) MM(3, 59) MM(35, 91) MM(35, 59) MM(19, 75) MM(51, 107) MM(51, 75) MM(19, 35) MM(51, 59)   \
    MM(75, 91) MM(11, 67) MM(43, 99) MM(43, 67) MM(27, 83) MM(27, 43) MM(83, 67) MM(11, 19) MM(27, 35) MM(43, 51) MM(83, 59)     \
    MM(67, 75) MM(99, 91) MM(7, 63) MM(39, 95) MM(39, 63) MM(23, 79) MM(55, 111) MM(55, 79) MM(23, 39) MM(55, 63) MM(79, 95)     \
    MM(15, 71) MM(47, 103) MM(47, 71) MM(31, 87) MM(31, 47) MM(87, 71) MM(15, 23) MM(31, 39) MM(47, 55) MM(87, 63) MM(71, 79)    \
    MM(103, 95) MM(7, 11) MM(15, 19) MM(23, 27) MM(31, 35) MM(39, 43) MM(47, 51) MM(55, 83) MM(87, 59) MM(63, 67) MM(71, 75)     \
    MM(79, 99) MM(103, 91) MM(95, 107) MM(3, 5) MM(7, 9) MM(11, 13) MM(15, 17) MM(19, 21) MM(23, 25) MM(27, 29) MM(31, 33)       \
    MM(35, 37) MM(39, 41) MM(43, 45) MM(47, 49) MM(51, 53) MM(55, 81) MM(83, 85) MM(87, 57) MM(59, 61) MM(63, 65) MM(67, 69)     \
    MM(71, 73) MM(75, 77) MM(79, 97) MM(99, 101) MM(103, 89) MM(91, 93) MM(95, 105) MM(107, 109) MM(1, 2) MM(3, 4) MM(5, 6)      \
    MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 24) MM(25, 26) MM(27, 28)        \
    MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46) MM(47, 48) MM(49, 50)     \
    MM(51, 52) MM(53, 54) MM(55, 80) MM(81, 82) MM(83, 84) MM(85, 86) MM(87, 56) MM(57, 58) MM(59, 60) MM(61, 62) MM(63, 64)     \
    MM(65, 66) MM(67, 68) MM(69, 70) MM(71, 72) MM(73, 74) MM(75, 76) MM(77, 78) MM(79, 96) MM(97, 98) MM(99, 100) MM(101, 102)  \
    MM(103, 88) MM(89, 90) MM(91, 92) MM(93, 94) MM(95, 104) MM(105, 106) MM(107, 108) MM(109, 110) JOINED(112, 2, 0)            \
    JOINED(113, 2, 1) JOINED(114, 2, 2) JOINED(115, 2, 3) JOINED(116, 2, 4) JOINED(117, 2, 5) JOINED(118, 2, 6)                  \
    JOINED(119, 2, 7) JOINED(120, 2, 8) JOINED(121, 2, 9) JOINED(122, 2, 10) JOINED(123, 2, 11) JOINED(124, 2, 12)               \
    JOINED(125, 2, 13) JOINED(126, 2, 14) JOINED(127, 2, 15) JOINED(128, 2, 16) JOINED(129, 2, 17) JOINED(130, 2, 18)            \
    JOINED(131, 2, 19) JOINED(132, 2, 20) JOINED(133, 2, 21) JOINED(134, 2, 22) JOINED(135, 2, 23) JOINED(136, 2, 24)            \
    JOINED(137, 2, 25) JOINED(138, 2, 26) JOINED(139, 2, 27) JOINED(140, 2, 28) JOINED(141, 2, 29) JOINED(142, 2, 30)            \
    JOINED(143, 2, 31) JOINED(144, 2, 32) JOINED(145, 2, 33) JOINED(146, 2, 34) JOINED(147, 2, 35) JOINED(148, 2, 36)            \
    JOINED(149, 2, 37) JOINED(150, 2, 38) JOINED(151, 2, 39) JOINED(152, 2, 40) JOINED(153, 2, 41) JOINED(154, 2, 42)            \
    JOINED(155, 2, 43) JOINED(156, 2, 44) JOINED(157, 2, 45) JOINED(158, 2, 46) JOINED(159, 2, 47) JOINED(160, 2, 48)            \
    JOINED(161, 2, 49) JOINED(162, 2, 50) JOINED(163, 2, 51) JOINED(164, 2, 52) JOINED(165, 2, 53) JOINED(166, 2, 54)            \
    JOINED(167, 2, 55) MAX(0, 112) MM(56, 112) MM(32, 144) MIN(88, 144) MAX(32, 56) MM(88, 112) MAX(16, 128) MM(72, 128)         \
    MM(48, 160) MM(48, 72) MIN(160, 128) MAX(48, 56) MM(72, 88) MIN(160, 112) MAX(8, 120) MM(64, 120) MM(40, 152) MIN(104, 152)  \
    MAX(40, 64) MIN(104, 120) MAX(24, 136) MIN(96, 136) MM(80, 96) MM(80, 64) MM(96, 104) MM(80, 56) MM(64, 72) MM(96, 88)       \
    MM(104, 160) MAX(4, 116) MM(60, 116) MM(36, 148) MIN(92, 148) MAX(36, 60) MM(92, 116) MAX(20, 132) MM(76, 132) MM(52, 164)   \
    MM(52, 76) MIN(164, 132) MM(52, 60) MM(76, 92) MIN(164, 116) MAX(12, 124) MM(68, 124) MM(44, 156) MIN(108, 156) MM(44, 68)   \
    MIN(108, 124) MM(28, 140) MIN(100, 140) MM(84, 100) MAX(28, 44) MM(84, 68) MM(100, 108) MAX(44, 52) MM(84, 60) MM(68, 76)    \
    MM(100, 92) MIN(108, 164) MAX(52, 80) MM(84, 56) MM(60, 64) MM(68, 72) MM(76, 96) MM(100, 88) MM(92, 104) MM(108, 160)       \
    MAX(2, 114) MM(58, 114) MM(34, 146) MIN(90, 146) MAX(34, 58) MM(90, 114) MAX(18, 130) MM(74, 130) MM(50, 162) MM(50, 74)     \
    MIN(162, 130) MAX(50, 58) MM(74, 90) MIN(162, 114) MAX(10, 122) MM(66, 122) MM(42, 154) MIN(106, 154) MAX(42, 66)            \
    MIN(106, 122) MAX(26, 138) MIN(98, 138) MM(82, 98) MM(82, 66) MM(98, 106) MM(82, 58) MM(66, 74) MM(98, 90) MM(106, 162)      \
    MAX(6, 118) MM(62, 118) MM(38, 150) MIN(94, 150) MAX(38, 62) MM(94, 118) MAX(22, 134) MM(78, 134) MM(54, 166) MM(54, 78)     \
    MIN(166, 134) MM(54, 62) MM(78, 94) MIN(166, 118) MAX(14, 126) MM(70, 126) MM(46, 158) MIN(110, 158) MM(46, 70)              \
    MIN(110, 126) MM(30, 142) MIN(102, 142) MM(86, 102) MAX(30, 46) MM(86, 70) MM(102, 110) MAX(46, 54) MM(86, 62) MM(70, 78)    \
    MM(102, 94) MIN(110, 166) MM(54, 82) MM(86, 58) MM(62, 66) MM(70, 74) MM(78, 98) MM(102, 90) MM(94, 106) MIN(110, 162)       \
    MAX(54, 80) MM(82, 84) MM(86, 56) MM(58, 60) MM(62, 64) MM(66, 68) MM(70, 72) MM(74, 76) MM(78, 96) MM(98, 100) MM(102, 88)  \
    MM(90, 92) MM(94, 104) MM(106, 108) MM(110, 160) MAX(1, 113) MM(57, 113) MM(33, 145) MIN(89, 145) MAX(33, 57) MM(89, 113)    \
    MAX(17, 129) MM(73, 129) MM(49, 161) MM(49, 73) MIN(161, 129) MAX(49, 57) MM(73, 89) MIN(161, 113) MAX(9, 121) MM(65, 121)   \
    MM(41, 153) MIN(105, 153) MAX(41, 65) MIN(105, 121) MAX(25, 137) MIN(97, 137) MM(81, 97) MM(81, 65) MM(97, 105) MM(81, 57)   \
    MM(65, 73) MM(97, 89) MM(105, 161) MAX(5, 117) MM(61, 117) MM(37, 149) MIN(93, 149) MAX(37, 61) MM(93, 117) MAX(21, 133)     \
    MM(77, 133) MM(53, 165) MM(53, 77) MIN(165, 133) MM(53, 61) MM(77, 93) MIN(165, 117) MAX(13, 125) MM(69, 125) MM(45, 157)    \
    MIN(109, 157) MM(45, 69) MIN(109, 125) MM(29, 141) MIN(101, 141) MM(85, 101) MAX(29, 45) MM(85, 69) MM(101, 109) MAX(45, 53) \
    MM(85, 61) MM(69, 77) MM(101, 93) MIN(109, 165) MAX(53, 81) MM(85, 57) MM(61, 65) MM(69, 73) MM(77, 97) MM(101, 89)          \
    MM(93, 105) MM(109, 161) MAX(3, 115) MM(59, 115) MM(35, 147) MIN(91, 147) MAX(35, 59) MM(91, 115) MAX(19, 131) MM(75, 131)   \
    MM(51, 163) MM(51, 75) MIN(163, 131) MAX(51, 59) MM(75, 91) MIN(163, 115) MAX(11, 123) MM(67, 123) MM(43, 155) MIN(107, 155) \
    MAX(43, 67) MIN(107, 123) MAX(27, 139) MIN(99, 139) MM(83, 99) MM(83, 67) MM(99, 107) MM(83, 59) MM(67, 75) MM(99, 91)       \
    MM(107, 163) MAX(7, 119) MM(63, 119) MM(39, 151) MIN(95, 151) MAX(39, 63) MM(95, 119) MAX(23, 135) MM(79, 135) MM(55, 167)   \
    MM(55, 79) MIN(167, 135) MM(55, 63) MM(79, 95) MIN(167, 119) MAX(15, 127) MM(71, 127) MM(47, 159) MIN(111, 159) MM(47, 71)   \
    MIN(111, 127) MM(31, 143) MIN(103, 143) MM(87, 103) MAX(31, 47) MM(87, 71) MM(103, 111) MAX(47, 55) MM(87, 63) MM(71, 79)    \
    MM(103, 95) MIN(111, 167) MM(55, 83) MM(87, 59) MM(63, 67) MM(71, 75) MM(79, 99) MM(103, 91) MM(95, 107) MIN(111, 163)       \
    MM(55, 81) MM(83, 85) MM(87, 57) MM(59, 61) MM(63, 65) MM(67, 69) MM(71, 73) MM(75, 77) MM(79, 97) MM(99, 101) MM(103, 89)   \
    MM(91, 93) MM(95, 105) MM(107, 109) MIN(111, 161) MM(55, 80) MM(81, 82) MM(83, 84) MM(85, 86) MM(87, 56) MM(57, 58)          \
    MM(59, 60) MM(61, 62) MM(63, 64) MM(65, 66) MM(67, 68) MM(69, 70) MM(71, 72) MM(73, 74) MM(75, 76) MM(77, 78) MM(79, 96)     \
    MM(97, 98) MM(99, 100) MM(101, 102) MM(103, 88) MM(89, 90) MM(91, 92) MM(93, 94) MM(95, 104) MM(105, 106) MM(107, 108)       \
    MM(109, 110) MM(111, 160) OUT(55, 0) OUT(80, 1) OUT(81, 2) OUT(82, 3) OUT(83, 4) OUT(84, 5) OUT(85, 6) OUT(86, 7) OUT(87, 8) \
    OUT(56, 9) OUT(57, 10) OUT(58, 11) OUT(59, 12) OUT(60, 13) OUT(61, 14) OUT(62, 15) OUT(63, 16) OUT(64, 17) OUT(65, 18)       \
    OUT(66, 19) OUT(67, 20) OUT(68, 21) OUT(69, 22) OUT(70, 23) OUT(71, 24) OUT(72, 25) OUT(73, 26) OUT(74, 27) OUT(75, 28)      \
    OUT(76, 29) OUT(77, 30) OUT(78, 31) OUT(79, 32) OUT(96, 33) OUT(97, 34) OUT(98, 35) OUT(99, 36) OUT(100, 37) OUT(101, 38)    \
    OUT(102, 39) OUT(103, 40) OUT(88, 41) OUT(89, 42) OUT(90, 43) OUT(91, 44) OUT(92, 45) OUT(93, 46) OUT(94, 47) OUT(95, 48)    \
    OUT(104, 49) OUT(105, 50) OUT(106, 51) OUT(107, 52) OUT(108, 53) OUT(109, 54) OUT(110, 55) OUT(111, 56) OUT(160, 57)
/* 884 operations */
#define MEDIAN_TREE_HALF_WIRES_15 298
#define MEDIAN_TREE_HALF_15(MM, MIN, MAX, CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT)                                            \
    CORE(0, 0) CORE(1, 1) CORE(2, 2) CORE(3, 3) CORE(4, 4) CORE(5, 5) CORE(6, 6) CORE(7, 7) CORE(8, 8) CORE(9, 9) CORE(10, 10)   \
    CORE(11, 11) CORE(12, 12) CORE(13, 13) CORE(14, 14) CORE(15, 15) CORE(16, 16) CORE(17, 17) CORE(18, 18) CORE(19, 19)         \
    CORE(20, 20) CORE(21, 21) CORE(22, 22) CORE(23, 23) CORE(24, 24) CORE(25, 25) CORE(26, 26) CORE(27, 27) CORE(28, 28)         \
    CORE(29, 29) CORE(30, 30) CORE(31, 31) CORE(32, 32) CORE(33, 33) CORE(34, 34) CORE(35, 35) CORE(36, 36) CORE(37, 37)         \
    CORE(38, 38) CORE(39, 39) CORE(40, 40) CORE(41, 41) CORE(42, 42) CORE(43, 43) CORE(44, 44) CORE(45, 45) CORE(46, 46)         \
    CORE(47, 47) CORE(48, 48) CORE(49, 49) CORE(50, 50) CORE(51, 51) CORE(52, 52) CORE(53, 53) CORE(54, 54) CORE(55, 55)         \
    CORE(56, 56) CORE(57, 57) COLUMN(58, 0, 0) COLUMN(59, 0, 1) COLUMN(60, 0, 2) COLUMN(61, 0, 3) COLUMN(62, 0, 4)               \
    COLUMN(63, 0, 5) COLUMN(64, 0, 6) COLUMN(65, 0, 7) COLUMN(66, 0, 8) COLUMN(67, 0, 9) COLUMN(68, 0, 10) COLUMN(69, 0, 11)     \
    COLUMN(70, 0, 12) COLUMN(71, 0, 13) COLUMN(72, 1, 0) COLUMN(73, 1, 1) COLUMN(74, 1, 2) COLUMN(75, 1, 3) COLUMN(76, 1, 4)     \
    COLUMN(77, 1, 5) COLUMN(78, 1, 6) COLUMN(79, 1, 7) COLUMN(80, 1, 8) COLUMN(81, 1, 9) COLUMN(82, 1, 10) COLUMN(83, 1, 11)     \
    COLUMN(84, 1, 12) COLUMN(85, 1, 13) MM(58, 72) MM(66, 80) MM(66, 72) MM(62, 76) MM(70, 84) MM(70, 76) MM(62, 66) MM(70, 72)  \
    MM(76, 80) MM(60, 74) MM(68, 82) MM(68, 74) MM(64, 78) MM(64, 68) MM(78, 74) MM(60, 62) MM(64, 66) MM(68, 70) MM(78, 72)     \
    MM(74, 76) MM(82, 80) MM(59, 73) MM(67, 81) MM(67, 73) MM(63, 77) MM(71, 85) MM(71, 77) MM(63, 67) MM(71, 73) MM(77, 81)     \
    MM(61, 75) MM(69, 83) MM(69, 75) MM(65, 79) MM(65, 69) MM(79, 75) MM(61, 63) MM(65, 67) MM(69, 71) MM(79, 73) MM(75, 77)     \
    MM(83, 81) MM(59, 60) MM(61, 62) MM(63, 64) MM(65, 66) MM(67, 68) MM(69, 70) MM(71, 78) MM(79, 72) MM(73, 74) MM(75, 76)     \
    MM(77, 82) MM(83, 80) MM(81, 84) MAX(0, 58) MM(32, 58) MM(16, 72) MIN(48, 72) MAX(16, 32) MM(48, 58) MAX(8, 66) MM(40, 66)   \
    MM(24, 80) MIN(56, 80) MM(24, 40) MIN(56, 66) MAX(24, 32) MM(40, 48) MM(56, 58) MAX(4, 62) MM(36, 62) MM(20, 76) MIN(52, 76) \
    MAX(20, 36) MM(52, 62) MAX(12, 70) MM(44, 70) MM(28, 44) MM(28, 36) MM(44, 52) MIN(70, 62) MM(28, 32) MM(36, 40) MM(44, 48)  \
    MM(52, 56) MIN(70, 58) MAX(2, 60) MM(34, 60) MM(18, 74) MIN(50, 74) MAX(18, 34) MM(50, 60) MAX(10, 68) MM(42, 68) MM(26, 84) \
    MM(26, 42) MIN(84, 68) MM(26, 34) MM(42, 50) MIN(84, 60) MAX(6, 64) MM(38, 64) MM(22, 82) MIN(54, 82) MM(22, 38) MIN(54, 64) \
    MM(14, 78) MIN(46, 78) MM(30, 46) MAX(14, 22) MM(30, 38) MM(46, 54) MAX(22, 26) MM(30, 34) MM(38, 42) MM(46, 50) MM(54, 84)  \
    MAX(26, 28) MM(30, 32) MM(34, 36) MM(38, 40) MM(42, 44) MM(46, 48) MM(50, 52) MM(54, 56) MIN(84, 70) MAX(1, 59) MM(33, 59)   \
    MM(17, 73) MIN(49, 73) MAX(17, 33) MM(49, 59) MAX(9, 67) MM(41, 67) MM(25, 81) MIN(57, 81) MM(25, 41) MIN(57, 67)            \
    MAX(25, 33) MM(41, 49) MIN(57, 59) MAX(5, 63) MM(37, 63) MM(21, 77) MIN(53, 77) MAX(21, 37) MIN(53, 63) MAX(13, 71)          \
    MIN(45, 71) MM(29, 45) MM(29, 37) MM(45, 53) MM(29, 33) MM(37, 41) MM(45, 49) MM(53, 57) MAX(3, 61) MM(35, 61) MM(19, 75)    \
    MIN(51, 75) MAX(19, 35) MM(51, 61) MAX(11, 69) MM(43, 69) MM(27, 85) MM(27, 43) MIN(85, 69) MM(27, 35) MM(43, 51)            \
    MIN(85, 61) MAX(7, 65) MM(39, 65) MM(23, 83) MIN(55, 83) MM(23, 39) MIN(55, 65) MM(15, 79) MIN(47, 79) MM(31, 47)            \
    MAX(15, 23) MM(31, 39) MM(47, 55) MAX(23, 27) MM(31, 35) MM(39, 43) MM(47, 51) MIN(55, 85) MM(27, 29) MM(31, 33) MM(35, 37)  \
    MM(39, 41) MM(43, 45) MM(47, 49) MM(51, 53) MM(55, 57) MAX(27, 28) MM(29, 30) MM(31, 32) MM(33, 34) MM(35, 36) MM(37, 38)    \
    MM(39, 40) MM(41, 42) MM(43, 44) MM(45, 46) MM(47, 48) MM(49, 50) MM(51, 52) MM(53, 54) MM(55, 56) MIN(57, 84)               \
    SAMPLE(86, 0, 0) SAMPLE(87, 1, 0) MM(86, 87) ROW(88, 0, 0) ROW(89, 0, 1) ROW(90, 0, 2) ROW(91, 0, 3) ROW(92, 0, 4)           \
    ROW(93, 0, 5) ROW(94, 0, 6) ROW(95, 0, 7) ROW(96, 0, 8) ROW(97, 0, 9) ROW(98, 0, 10) ROW(99, 0, 11) MM(88, 86) MM(96, 86)    \
    MM(92, 96) MM(90, 92) MM(94, 96) MM(98, 86) MM(89, 87) MM(97, 87) MM(93, 97) MM(91, 93) MM(95, 97) MM(99, 87) MM(89, 90)     \
    MM(91, 92) MM(93, 94) MM(95, 96) MM(97, 98) MM(99, 86) COPY(100, 28) COPY(101, 29) COPY(102, 30) COPY(103, 31) COPY(104, 32) \
    COPY(105, 33) COPY(106, 34) COPY(107, 35) COPY(108, 36) COPY(109, 37) COPY(110, 38) COPY(111, 39) COPY(112, 40)              \
    COPY(113, 41) COPY(114, 42) COPY(115, 43) COPY(116, 44) COPY(117, 45) COPY(118, 46) COPY(119, 47) COPY(120, 48)              \
    COPY(121, 49) COPY(122, 50) COPY(123, 51) COPY(124, 52) COPY(125, 53) COPY(126, 54) COPY(127, 55) COPY(128, 56)              \
    COPY(129, 57) MAX(100, 88) MM(116, 88) MM(108, 96) MIN(124, 96) MAX(108, 116) MM(124, 88) MAX(104, 92) MM(120, 92)           \
    MM(112, 86) MIN(128, 86) MM(112, 120) MIN(128, 92) MAX(112, 116) MM(120, 124) MM(128, 88) MAX(102, 90) MM(118, 90)           \
    MM(110, 98) MIN(126, 98) MAX(110, 118) MM(126, 90) MAX(106, 94) MM(122, 94) MM(114, 122) MM(114, 118) MM(122, 126)           \
    MIN(94, 90) MM(114, 116) MM(118, 120) MM(122, 124) MM(126, 128) MIN(94, 88) MAX(101, 89) MM(117, 89) MM(109, 97)             \
    MIN(125, 97) MAX(109, 117) MM(125, 89) MAX(105, 93) MM(121, 93) MM(113, 87) MIN(129, 87) MM(113, 121) MIN(129, 93)           \
    MM(113, 117) MM(121, 125) MIN(129, 89) MAX(103, 91) MM(119, 91) MM(111, 99) MIN(127, 99) MM(111, 119) MIN(127, 91)           \
    MM(107, 95) MIN(123, 95) MM(115, 123) MAX(107, 111) MM(115, 119) MM(123, 127) MAX(111, 113) MM(115, 117) MM(119, 121)        \
    MM(123, 125) MM(127, 129) MAX(113, 114) MM(115, 116) MM(117, 118) MM(119, 120) MM(121, 122) MM(123, 124) MM(125, 126)        \
    MM(127, 128) MIN(129, 94) SAMPLE(130, 2, 0) COLUMN(131, 2, 0) COLUMN(132, 2, 1) COLUMN(133, 2, 2) COLUMN(134, 2, 3)          \
    COLUMN(135, 2, 4) COLUMN(136, 2, 5) COLUMN(137, 2, 6) COLUMN(138, 2, 7) COLUMN(139, 2, 8) COLUMN(140, 2, 9)                  \
    COLUMN(141, 2, 10) COLUMN(142, 2, 11) COLUMN(143, 2, 12) COLUMN(144, 2, 13) MM(131, 130) MM(139, 130) MM(135, 139)           \
    MM(143, 130) MM(133, 135) MM(137, 139) MM(141, 143) MM(132, 133) MM(134, 135) MM(136, 137) MM(138, 139) MM(140, 141)         \
    MM(142, 143) MM(144, 130) COPY(145, 114) COPY(146, 115) COPY(147, 116) COPY(148, 117) COPY(149, 118) COPY(150, 119)          \
    COPY(151, 120) COPY(152, 121) COPY(153, 122) COPY(154, 123) COPY(155, 124) COPY(156, 125) COPY(157, 126) COPY(158, 127)      \
    COPY(159, 128) COPY(160, 129) MAX(130, 145) MAX(144, 146) MAX(143, 147) MAX(142, 148) MAX(141, 149) MAX(140, 150)            \
    MAX(139, 151) MAX(138, 152) MAX(137, 153) MAX(136, 154) MAX(135, 155) MAX(134, 156) MAX(133, 157) MAX(132, 158)              \
    MAX(131, 159) MIN3(145, 146, 147) MIN3(148, 149, 150) MIN3(151, 152, 153) MIN3(154, 155, 156) MIN3(157, 158, 159)            \
    MIN3(145, 148, 151) MIN3(154, 157, 160) MIN(145, 154) OUT(145, 0, 0) SAMPLE(161, 3, 0) COLUMN(162, 3, 0) COLUMN(163, 3, 1)   \
    COLUMN(164, 3, 2) COLUMN(165, 3, 3) COLUMN(166, 3, 4) COLUMN(167, 3, 5) COLUMN(168, 3, 6) COLUMN(169, 3, 7)                  \
    COLUMN(170, 3, 8) COLUMN(171, 3, 9) COLUMN(172, 3, 10) COLUMN(173, 3, 11) COLUMN(174, 3, 12) COLUMN(175, 3, 13) MM(162, 161) \
    MM(170, 161) MM(166, 170) MM(174, 161) MM(164, 166) MM(168, 170) MM(172, 174) MM(163, 164) MM(165, 166) MM(167, 168)         \
    MM(169, 170) MM(171, 172) MM(173, 174) MM(175, 161) COPY(176, 114) COPY(177, 115) COPY(178, 116) COPY(179, 117)              \
    COPY(180, 118) COPY(181, 119) COPY(182, 120) COPY(183, 121) COPY(184, 122) COPY(185, 123) COPY(186, 124) COPY(187, 125)      \
    COPY(188, 126) COPY(189, 127) COPY(190, 128) COPY(191, 129) MAX(161, 176) MAX(175, 177) MAX(174, 178) MAX(173, 179)          \
    MAX(172, 180) MAX(171, 181) MAX(170, 182) MAX(169, 183) MAX(168, 184) MAX(167, 185) MAX(166, 186) MAX(165, 187)              \
    MAX(164, 188) MAX(163, 189) MAX(162, 190) MIN3(176, 177, 178) MIN3(179, 180, 181) MIN3(182, 183, 184) MIN3(185, 186, 187)    \
    MIN3(188, 189, 190) MIN3(176, 179, 182) MIN3(185, 188, 191) MIN(176, 185) OUT(176, 1, 0) SAMPLE(192, 0, 1) SAMPLE(193, 1, 1) \
    MM(192, 193) ROW(194, 1, 0) ROW(195, 1, 1) ROW(196, 1, 2) ROW(197, 1, 3) ROW(198, 1, 4) ROW(199, 1, 5) ROW(200, 1, 6)        \
    ROW(201, 1, 7) ROW(202, 1, 8) ROW(203, 1, 9) ROW(204, 1, 10) ROW(205, 1, 11) MM(194, 192) MM(202, 192) MM(198, 202)          \
    MM(196, 198) MM(200, 202) MM(204, 192) MM(195, 193) MM(203, 193) MM(199, 203) MM(197, 199) MM(201, 203) MM(205, 193)         \
    MM(195, 196) MM(197, 198) MM(199, 200) MM(201, 202) MM(203, 204) MM(205, 192) COPY(206, 28) COPY(207, 29) COPY(208, 30)      \
    COPY(209, 31) COPY(210, 32) COPY(211, 33) COPY(212, 34) COPY(213, 35) COPY(214, 36) COPY(215, 37) COPY(216, 38)              \
    COPY(217, 39) COPY(218, 40) COPY(219, 41) COPY(220, 42) COPY(221, 43) COPY(222, 44) COPY(223, 45) COPY(224, 46)              \
    COPY(225, 47) COPY(226, 48) COPY(227, 49) COPY(228, 50) COPY(229, 51) COPY(230, 52) COPY(231, 53) COPY(232, 54)              \
    COPY(233, 55) COPY(234, 56) COPY(235, 57) MAX(206, 194) MM(222, 194) MM(214, 202) MIN(230, 202) MAX(214, 222) MM(230, 194)   \
    MAX(210, 198) MM(226, 198) MM(218, 192) MIN(234, 192) MM(218, 226) MIN(234, 198) MAX(218, 222) MM(226, 230) MM(234, 194)     \
    MAX(208, 196) MM(224, 196) MM(216, 204) MIN(232, 204) MAX(216, 224) MM(232, 196) MAX(212, 200) MM(228, 200) MM(220, 228)     \
    MM(220, 224) MM(228, 232) MIN(200, 196) MM(220, 222) MM(224, 226) MM(228, 230) MM(232, 234) MIN(200, 194) MAX(207, 195)      \
    MM(223, 195) MM(215, 203) MIN(231, 203) MAX(215, 223) MM(231, 195) MAX(211, 199) MM(227, 199) MM(219, 193) MIN(235, 193)     \
    MM(219, 227) MIN(235, 199) MM(219, 223) MM(227, 231) MIN(235, 195) MAX(209, 197) MM(225, 197) MM(217, 205) MIN(233, 205)     \
    MM(217, 225) MIN(233, 197) MM(213, 201) MIN(229, 201) MM(221, 229) MAX(213, 217) MM(221, 225) MM(229, 233) MAX(217, 219)     \
    MM(221, 223) MM(225, 227) MM(229, 231) MM(233, 235) MAX(219, 220) MM(221, 222) MM(223, 224) MM(225, 226) MM(227, 228)        \
    MM(229, 230) MM(231, 232) MM(233, 234) MIN(235, 200) SAMPLE(236, 2, 1) COLUMN(237, 2, 0) COLUMN(238, 2, 1) COLUMN(239, 2, 2) \
    COLUMN(240, 2, 3) COLUMN(241, 2, 4) COLUMN(242, 2, 5) COLUMN(243, 2, 6) COLUMN(244, 2, 7) COLUMN(245, 2, 8)                  \
    COLUMN(246, 2, 9) COLUMN(247, 2, 10) COLUMN(248, 2, 11) COLUMN(249, 2, 12) COLUMN(250, 2, 13) MM(237, 236) MM(245, 236)      \
    MM(241, 245) MM(249, 236) MM(239, 241) MM(243, 245) MM(247, 249) MM(238, 239) MM(240, 241) MM(242, 243) MM(244, 245)         \
    MM(246, 247) MM(248, 249) MM(250, 236) COPY(251, 220) COPY(252, 221) COPY(253, 222) COPY(254, 223) COPY(255, 224)            \
    COPY(256, 225) COPY(257, 226) COPY(258, 227) COPY(259, 228) COPY(260, 229) COPY(261, 230) COPY(262, 231) COPY(263, 232)      \
    COPY(264, 233) COPY(265, 234) COPY(266, 235) MAX(236, 251) MAX(250, 252) MAX(249, 253) MAX(248, 254) MAX(247, 255)           \
    MAX(246, 256) MAX(245, 257) MAX(244, 258) MAX(243, 259) MAX(242, 260) MAX(241, 261) MAX(240, 262) MAX(239, 263)              \
    MAX(238, 264) MAX(237, 265) MIN3(251, 252, 253) MIN3(254, 255, 256) MIN3(257, 258, 259) MIN3(260, 261, 262)                  \
    MIN3(263, 264, 265) MIN3(251, 254, 257) MIN3(260, 263, 266) MIN(251, 260) OUT(251, 0, 1) SAMPLE(267, 3, 1) COLUMN(268, 3, 0) \
    COLUMN(269, 3, 1) COLUMN(270, 3, 2) COLUMN(271, 3, 3) COLUMN(272, 3, 4) COLUMN(273, 3, 5) COLUMN(274, 3, 6)                  \
    COLUMN(275, 3, 7) COLUMN(276, 3, 8) COLUMN(277, 3, 9) COLUMN(278, 3, 10) COLUMN(279, 3, 11) COLUMN(280, 3, 12)               \
    COLUMN(281, 3, 13) MM(268, 267) MM(276, 267) MM(272, 276) MM(280, 267) MM(270, 272) MM(274, 276) MM(278, 280) MM(269, 270)   \
    MM(271, 272) MM(273, 274) MM(275, 276) MM(277, 278) MM(279, 280) MM(281, 267) COPY(282, 220) COPY(283, 221) COPY(284, 222)   \
    COPY(285, 223) COPY(286, 224) COPY(287, 225) COPY(288, 226) COPY(289, 227) COPY(290, 228) COPY(291, 229) COPY(292, 230)      \
    COPY(293, 231) COPY(294, 232) COPY(295, 233) COPY(296, 234) COPY(297, 235) MAX(267, 282) MAX(281, 283) MAX(280, 284)         \
    MAX(279, 285) MAX(278, 286) MAX(277, 287) MAX(276, 288) MAX(275, 289) MAX(274, 290) MAX(273, 291) MAX(272, 292)              \
    MAX(271, 293) MAX(270, 294) MAX(269, 295) MAX(268, 296) MIN3(282, 283, 284) MIN3(285, 286, 287) MIN3(288, 289, 290)          \
    MIN3(291, 292, 293) MIN3(294, 295, 296) MIN3(282, 285, 288) MIN3(291, 294, 297) MIN(282, 291) OUT(282, 1, 1)
#endif
