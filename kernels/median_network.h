/* Made by tools/median_network.py, which explains and proves these networks; do not edit.
 *
 * A network works on wires, an array of values. MM(a, b) puts the minimum of wires a and b on a and their maximum on b; MIN(a, b)
 * does only the first (b is not used any more), MAX(a, b) only the second. x_OUT(F) calls F(place, wire) for the places
 * 0, 1 ... of the result in ascending order. x_IN says where its wires come from: COLUMN(wire, dx, place) is a place in the
 * sorted column dx columns from the window's left edge, JOINED(wire, dx, place) one in the joined list that starts there.
 *
 * For a window of SIZE x SIZE:
 *   COLUMN_SIZE  sorts SIZE - 1 values, wires 0 ...
 *   JOIN_SIZE    merges GROUP sorted columns to a joined list (there is none for GROUP 1)
 *   CORE_SIZE    from joined lists and columns to the SIZE + 1 values amidst
 *   ROW_SIZE     sorts SIZE values, wires 0 ...
 *   PICK_SIZE    on wires 0 ... SIZE the result of CORE, then the result of ROW: the median is left on wire 0
 *   EACH_COLUMN_SIZE, EACH_ROW_SIZE  call F(k) for the wires of COLUMN and ROW
 * And by rows, for windows of 3 x 3 and 5 x 5:
 *   PAIR_5       merges two sorted rows, on wires 0 ... and SIZE ...
 *   MIDDLE_SIZE  from the sorted rows (3 x 3) or pairs (5 x 5) that two windows share, one after the other on wires 0 ..., to the SIZE + 1
 *                values amidst */
#ifndef MEDIAN_NETWORK_H
#define MEDIAN_NETWORK_H

/* ---- 3 x 3 */
#define MEDIAN_GROUP_3 1
#define MEDIAN_EACH_COLUMN_3(F) \
    F(0) F(1)
#define MEDIAN_EACH_ROW_3(F) \
    F(0) F(1) F(2)
/* 2 operations */
#define MEDIAN_COLUMN_3(MM, MIN, MAX) \
    MM(0, 1)
#define MEDIAN_COLUMN_OUT_3(F) \
    F(0, 0) F(1, 1)
#define MEDIAN_CORE_IN_3(JOINED, COLUMN) \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 1, 0) COLUMN(3, 1, 1) COLUMN(4, 2, 0) COLUMN(5, 2, 1)
/* 16 operations */
#define MEDIAN_CORE_3(MM, MIN, MAX) \
    MM(0, 2) MM(1, 3) MM(1, 2) MAX(0, 4) MM(2, 4) MM(1, 5) MIN(3, 5) MM(1, 2) MM(3, 4)
#define MEDIAN_CORE_OUT_3(F) \
    F(0, 1) F(1, 2) F(2, 3) F(3, 4)
/* 6 operations */
#define MEDIAN_ROW_3(MM, MIN, MAX) \
    MM(0, 1) MM(0, 2) MM(1, 2)
#define MEDIAN_ROW_OUT_3(F) \
    F(0, 0) F(1, 1) F(2, 2)
/* 10 operations */
#define MEDIAN_MIDDLE_3(MM, MIN, MAX) \
    MAX(0, 3) MIN(2, 5) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3)
#define MEDIAN_MIDDLE_OUT_3(F) \
    F(0, 1) F(1, 2) F(2, 4) F(3, 3)
/* 6 operations */
#define MEDIAN_PICK_3(MM, MIN, MAX) \
    MAX(6, 0) MAX(5, 1) MAX(4, 2) MIN(0, 1) MIN(2, 3) MIN(0, 2)

/* ---- 5 x 5 */
#define MEDIAN_GROUP_5 2
#define MEDIAN_EACH_COLUMN_5(F) \
    F(0) F(1) F(2) F(3)
#define MEDIAN_EACH_ROW_5(F) \
    F(0) F(1) F(2) F(3) F(4)
/* 10 operations */
#define MEDIAN_COLUMN_5(MM, MIN, MAX) \
    MM(0, 1) MM(2, 3) MM(0, 2) MM(1, 3) MM(1, 2)
#define MEDIAN_COLUMN_OUT_5(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3)
#define MEDIAN_JOIN_IN_5(JOINED, COLUMN)                                                                            \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 1, 0) COLUMN(5, 1, 1) COLUMN(6, 1, 2) \
    COLUMN(7, 1, 3)
/* 18 operations */
#define MEDIAN_JOIN_5(MM, MIN, MAX) \
    MM(0, 4) MM(2, 6) MM(2, 4) MM(1, 5) MM(3, 7) MM(3, 5) MM(1, 2) MM(3, 4) MM(5, 6)
#define MEDIAN_JOIN_OUT_5(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 5) F(6, 6) F(7, 7)
#define MEDIAN_CORE_IN_5(JOINED, COLUMN)                                                                                \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)     \
    JOINED(7, 0, 7) JOINED(8, 2, 0) JOINED(9, 2, 1) JOINED(10, 2, 2) JOINED(11, 2, 3) JOINED(12, 2, 4) JOINED(13, 2, 5) \
    JOINED(14, 2, 6) JOINED(15, 2, 7) COLUMN(16, 4, 0) COLUMN(17, 4, 1) COLUMN(18, 4, 2) COLUMN(19, 4, 3)
/* 70 operations */
#define MEDIAN_CORE_5(MM, MIN, MAX)                                                                                         \
    MAX(0, 8) MM(4, 12) MM(4, 8) MM(2, 10) MIN(6, 14) MM(6, 10) MAX(2, 4) MM(6, 8) MM(10, 12) MAX(1, 9) MM(5, 13) MM(5, 9)  \
    MM(3, 11) MIN(7, 15) MM(7, 11) MM(3, 5) MM(7, 9) MIN(11, 13) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 12) MAX(3, 16) \
    MM(11, 16) MM(7, 11) MM(5, 18) MM(9, 18) MAX(5, 7) MM(9, 11) MIN(18, 16) MAX(4, 17) MIN(12, 17) MM(8, 12) MM(6, 19)     \
    MIN(10, 19) MM(6, 8) MM(10, 12) MAX(6, 7) MM(8, 9) MM(10, 11) MIN(12, 18)
#define MEDIAN_CORE_OUT_5(F) \
    F(0, 7) F(1, 8) F(2, 9) F(3, 10) F(4, 11) F(5, 12)
/* 18 operations */
#define MEDIAN_ROW_5(MM, MIN, MAX) \
    MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(0, 3) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3)
#define MEDIAN_ROW_OUT_5(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 4) F(4, 3)
/* 26 operations */
#define MEDIAN_PAIR_5(MM, MIN, MAX) \
    MM(0, 5) MM(4, 9) MM(4, 5) MM(2, 7) MM(2, 4) MM(7, 5) MM(1, 6) MM(3, 8) MM(3, 6) MM(1, 2) MM(3, 4) MM(6, 7) MM(8, 5)
#define MEDIAN_PAIR_OUT_5(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 6) F(6, 7) F(7, 8) F(8, 5) F(9, 9)
/* 36 operations */
#define MEDIAN_MIDDLE_5(MM, MIN, MAX)                                                                                    \
    MAX(0, 10) MIN(8, 18) MM(8, 10) MM(4, 14) MAX(4, 8) MIN(14, 10) MAX(2, 12) MIN(6, 16) MM(6, 12) MAX(6, 8) MM(12, 14) \
    MAX(1, 11) MIN(9, 19) MM(9, 11) MM(5, 15) MAX(5, 9) MIN(15, 11) MAX(3, 13) MIN(7, 17) MM(7, 13) MM(7, 9) MIN(13, 15) \
    MM(7, 8) MM(9, 12) MM(13, 14)
#define MEDIAN_MIDDLE_OUT_5(F) \
    F(0, 7) F(1, 8) F(2, 9) F(3, 12) F(4, 13) F(5, 14)
/* 10 operations */
#define MEDIAN_PICK_5(MM, MIN, MAX) \
    MAX(10, 0) MAX(9, 1) MAX(8, 2) MAX(7, 3) MAX(6, 4) MIN(0, 1) MIN(2, 3) MIN(4, 5) MIN(0, 2) MIN(0, 4)

/* ---- 7 x 7 */
#define MEDIAN_GROUP_7 3
#define MEDIAN_EACH_COLUMN_7(F) \
    F(0) F(1) F(2) F(3) F(4) F(5)
#define MEDIAN_EACH_ROW_7(F) \
    F(0) F(1) F(2) F(3) F(4) F(5) F(6)
/* 24 operations */
#define MEDIAN_COLUMN_7(MM, MIN, MAX) \
    MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(3, 5) MM(4, 5) MM(0, 3) MM(2, 5) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3)
#define MEDIAN_COLUMN_OUT_7(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 4) F(4, 3) F(5, 5)
#define MEDIAN_JOIN_IN_7(JOINED, COLUMN)                                                                                \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 1, 0)     \
    COLUMN(7, 1, 1) COLUMN(8, 1, 2) COLUMN(9, 1, 3) COLUMN(10, 1, 4) COLUMN(11, 1, 5) COLUMN(12, 2, 0) COLUMN(13, 2, 1) \
    COLUMN(14, 2, 2) COLUMN(15, 2, 3) COLUMN(16, 2, 4) COLUMN(17, 2, 5)
/* 98 operations */
#define MEDIAN_JOIN_7(MM, MIN, MAX)                                                                                          \
    MM(0, 6) MM(4, 10) MM(4, 6) MM(2, 8) MM(2, 4) MM(8, 6) MM(1, 7) MM(5, 11) MM(5, 7) MM(3, 9) MM(3, 5) MM(9, 7) MM(1, 2)   \
    MM(3, 4) MM(5, 8) MM(9, 6) MM(7, 10) MM(0, 12) MM(6, 12) MM(4, 16) MM(4, 6) MM(16, 12) MM(2, 14) MM(10, 14) MM(8, 10)    \
    MM(2, 4) MM(8, 6) MM(10, 16) MM(14, 12) MM(1, 13) MM(7, 13) MM(5, 17) MM(5, 7) MM(17, 13) MM(3, 15) MM(11, 15) MM(9, 11) \
    MM(3, 5) MM(9, 7) MM(11, 17) MM(15, 13) MM(1, 2) MM(3, 4) MM(5, 8) MM(9, 6) MM(7, 10) MM(11, 16) MM(17, 14) MM(15, 12)
#define MEDIAN_JOIN_OUT_7(F)                                                                                                \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 5) F(6, 8) F(7, 9) F(8, 6) F(9, 7) F(10, 10) F(11, 11) F(12, 16) F(13, 17) \
    F(14, 14) F(15, 15) F(16, 12) F(17, 13)
#define MEDIAN_CORE_IN_7(JOINED, COLUMN)                                                                                       \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)            \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)    \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 3, 0) JOINED(19, 3, 1) JOINED(20, 3, 2) \
    JOINED(21, 3, 3) JOINED(22, 3, 4) JOINED(23, 3, 5) JOINED(24, 3, 6) JOINED(25, 3, 7) JOINED(26, 3, 8) JOINED(27, 3, 9)     \
    JOINED(28, 3, 10) JOINED(29, 3, 11) JOINED(30, 3, 12) JOINED(31, 3, 13) JOINED(32, 3, 14) JOINED(33, 3, 15)                \
    JOINED(34, 3, 16) JOINED(35, 3, 17) COLUMN(36, 6, 0) COLUMN(37, 6, 1) COLUMN(38, 6, 2) COLUMN(39, 6, 3) COLUMN(40, 6, 4)   \
    COLUMN(41, 6, 5)
/* 134 operations */
#define MEDIAN_CORE_7(MM, MIN, MAX)                                                                                              \
    MAX(0, 18) MIN(16, 34) MM(16, 18) MM(8, 26) MAX(8, 16) MIN(26, 18) MAX(4, 22) MIN(12, 30) MM(12, 22) MM(12, 16) MM(22, 26)   \
    MAX(2, 20) MM(10, 28) MM(10, 20) MM(6, 24) MIN(14, 32) MM(14, 24) MAX(6, 10) MM(14, 20) MIN(24, 28) MAX(10, 12) MM(14, 16)   \
    MM(20, 22) MM(24, 26) MAX(1, 19) MIN(17, 35) MM(17, 19) MM(9, 27) MAX(9, 17) MIN(27, 19) MAX(5, 23) MIN(13, 31) MM(13, 23)   \
    MM(13, 17) MM(23, 27) MAX(3, 21) MM(11, 29) MM(11, 21) MM(7, 25) MIN(15, 33) MM(15, 25) MAX(7, 11) MM(15, 21) MIN(25, 29)    \
    MM(11, 13) MM(15, 17) MM(21, 23) MIN(25, 27) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 20) MM(21, 22) MM(23, 24) MM(25, 26)    \
    MAX(11, 36) MM(21, 36) MM(15, 40) MIN(25, 40) MAX(15, 21) MM(25, 36) MAX(13, 38) MM(23, 38) MM(17, 23) MM(17, 21) MM(23, 25) \
    MIN(38, 36) MAX(12, 37) MM(22, 37) MM(16, 41) MIN(26, 41) MM(16, 22) MIN(26, 37) MM(14, 39) MIN(24, 39) MM(20, 24)           \
    MAX(14, 16) MM(20, 22) MM(24, 26) MAX(16, 17) MM(20, 21) MM(22, 23) MM(24, 25) MIN(26, 38)
#define MEDIAN_CORE_OUT_7(F) \
    F(0, 17) F(1, 20) F(2, 21) F(3, 22) F(4, 23) F(5, 24) F(6, 25) F(7, 26)
/* 32 operations */
#define MEDIAN_ROW_7(MM, MIN, MAX)                                                                                       \
    MM(0, 1) MM(2, 3) MM(0, 2) MM(1, 3) MM(1, 2) MM(4, 5) MM(4, 6) MM(5, 6) MM(0, 4) MM(2, 6) MM(2, 4) MM(1, 5) MM(3, 5) \
    MM(1, 2) MM(3, 4) MM(5, 6)
#define MEDIAN_ROW_OUT_7(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 5) F(6, 6)
/* 14 operations */
#define MEDIAN_PICK_7(MM, MIN, MAX)                                                                                              \
    MAX(14, 0) MAX(13, 1) MAX(12, 2) MAX(11, 3) MAX(10, 4) MAX(9, 5) MAX(8, 6) MIN(0, 1) MIN(2, 3) MIN(4, 5) MIN(6, 7) MIN(0, 2) \
    MIN(4, 6) MIN(0, 4)

/* ---- 9 x 9 */
#define MEDIAN_GROUP_9 3
#define MEDIAN_EACH_COLUMN_9(F) \
    F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define MEDIAN_EACH_ROW_9(F) \
    F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
/* 38 operations */
#define MEDIAN_COLUMN_9(MM, MIN, MAX)                                                                                    \
    MM(0, 1) MM(2, 3) MM(0, 2) MM(1, 3) MM(1, 2) MM(4, 5) MM(6, 7) MM(4, 6) MM(5, 7) MM(5, 6) MM(0, 4) MM(2, 6) MM(2, 4) \
    MM(1, 5) MM(3, 7) MM(3, 5) MM(1, 2) MM(3, 4) MM(5, 6)
#define MEDIAN_COLUMN_OUT_9(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 5) F(6, 6) F(7, 7)
#define MEDIAN_JOIN_IN_9(JOINED, COLUMN)                                                                                   \
    COLUMN(0, 0, 0) COLUMN(1, 0, 1) COLUMN(2, 0, 2) COLUMN(3, 0, 3) COLUMN(4, 0, 4) COLUMN(5, 0, 5) COLUMN(6, 0, 6)        \
    COLUMN(7, 0, 7) COLUMN(8, 1, 0) COLUMN(9, 1, 1) COLUMN(10, 1, 2) COLUMN(11, 1, 3) COLUMN(12, 1, 4) COLUMN(13, 1, 5)    \
    COLUMN(14, 1, 6) COLUMN(15, 1, 7) COLUMN(16, 2, 0) COLUMN(17, 2, 1) COLUMN(18, 2, 2) COLUMN(19, 2, 3) COLUMN(20, 2, 4) \
    COLUMN(21, 2, 5) COLUMN(22, 2, 6) COLUMN(23, 2, 7)
/* 140 operations */
#define MEDIAN_JOIN_9(MM, MIN, MAX)                                                                                              \
    MM(0, 8) MM(4, 12) MM(4, 8) MM(2, 10) MM(6, 14) MM(6, 10) MM(2, 4) MM(6, 8) MM(10, 12) MM(1, 9) MM(5, 13) MM(5, 9) MM(3, 11) \
    MM(7, 15) MM(7, 11) MM(3, 5) MM(7, 9) MM(11, 13) MM(1, 2) MM(3, 4) MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14)         \
    MM(0, 16) MM(8, 16) MM(4, 20) MM(12, 20) MM(4, 8) MM(12, 16) MM(2, 18) MM(10, 18) MM(6, 22) MM(14, 22) MM(6, 10) MM(14, 18)  \
    MM(2, 4) MM(6, 8) MM(10, 12) MM(14, 16) MM(18, 20) MM(1, 17) MM(9, 17) MM(5, 21) MM(13, 21) MM(5, 9) MM(13, 17) MM(3, 19)    \
    MM(11, 19) MM(7, 23) MM(15, 23) MM(7, 11) MM(15, 19) MM(3, 5) MM(7, 9) MM(11, 13) MM(15, 17) MM(19, 21) MM(1, 2) MM(3, 4)    \
    MM(5, 6) MM(7, 8) MM(9, 10) MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18) MM(19, 20) MM(21, 22)
#define MEDIAN_JOIN_OUT_9(F)                                                                                                \
    F(0, 0) F(1, 1) F(2, 2) F(3, 3) F(4, 4) F(5, 5) F(6, 6) F(7, 7) F(8, 8) F(9, 9) F(10, 10) F(11, 11) F(12, 12) F(13, 13) \
    F(14, 14) F(15, 15) F(16, 16) F(17, 17) F(18, 18) F(19, 19) F(20, 20) F(21, 21) F(22, 22) F(23, 23)
#define MEDIAN_CORE_IN_9(JOINED, COLUMN)                                                                                       \
    JOINED(0, 0, 0) JOINED(1, 0, 1) JOINED(2, 0, 2) JOINED(3, 0, 3) JOINED(4, 0, 4) JOINED(5, 0, 5) JOINED(6, 0, 6)            \
    JOINED(7, 0, 7) JOINED(8, 0, 8) JOINED(9, 0, 9) JOINED(10, 0, 10) JOINED(11, 0, 11) JOINED(12, 0, 12) JOINED(13, 0, 13)    \
    JOINED(14, 0, 14) JOINED(15, 0, 15) JOINED(16, 0, 16) JOINED(17, 0, 17) JOINED(18, 0, 18) JOINED(19, 0, 19)                \
    JOINED(20, 0, 20) JOINED(21, 0, 21) JOINED(22, 0, 22) JOINED(23, 0, 23) JOINED(24, 3, 0) JOINED(25, 3, 1) JOINED(26, 3, 2) \
    JOINED(27, 3, 3) JOINED(28, 3, 4) JOINED(29, 3, 5) JOINED(30, 3, 6) JOINED(31, 3, 7) JOINED(32, 3, 8) JOINED(33, 3, 9)     \
    JOINED(34, 3, 10) JOINED(35, 3, 11) JOINED(36, 3, 12) JOINED(37, 3, 13) JOINED(38, 3, 14) JOINED(39, 3, 15)                \
    JOINED(40, 3, 16) JOINED(41, 3, 17) JOINED(42, 3, 18) JOINED(43, 3, 19) JOINED(44, 3, 20) JOINED(45, 3, 21)                \
    JOINED(46, 3, 22) JOINED(47, 3, 23) JOINED(48, 6, 0) JOINED(49, 6, 1) JOINED(50, 6, 2) JOINED(51, 6, 3) JOINED(52, 6, 4)   \
    JOINED(53, 6, 5) JOINED(54, 6, 6) JOINED(55, 6, 7) JOINED(56, 6, 8) JOINED(57, 6, 9) JOINED(58, 6, 10) JOINED(59, 6, 11)   \
    JOINED(60, 6, 12) JOINED(61, 6, 13) JOINED(62, 6, 14) JOINED(63, 6, 15) JOINED(64, 6, 16) JOINED(65, 6, 17)                \
    JOINED(66, 6, 18) JOINED(67, 6, 19) JOINED(68, 6, 20) JOINED(69, 6, 21) JOINED(70, 6, 22) JOINED(71, 6, 23)
/* 300 operations */
#define MEDIAN_CORE_9(MM, MIN, MAX)                                                                                             \
    MAX(0, 24) MM(16, 40) MM(16, 24) MM(8, 32) MM(8, 16) MM(32, 24) MM(4, 28) MIN(20, 44) MM(20, 28) MM(12, 36) MM(12, 20)      \
    MM(36, 28) MAX(4, 8) MM(12, 16) MM(20, 32) MM(36, 24) MM(28, 40) MAX(2, 26) MM(18, 42) MM(18, 26) MM(10, 34) MM(10, 18)     \
    MM(34, 26) MM(6, 30) MIN(22, 46) MM(22, 30) MM(14, 38) MM(14, 22) MM(38, 30) MM(6, 10) MM(14, 18) MM(22, 34) MM(38, 26)     \
    MIN(30, 42) MAX(6, 8) MM(10, 12) MM(14, 16) MM(18, 20) MM(22, 32) MM(34, 36) MM(38, 24) MM(26, 28) MM(30, 40) MAX(1, 25)    \
    MM(17, 41) MM(17, 25) MM(9, 33) MM(9, 17) MM(33, 25) MM(5, 29) MIN(21, 45) MM(21, 29) MM(13, 37) MM(13, 21) MM(37, 29)      \
    MAX(5, 9) MM(13, 17) MM(21, 33) MM(37, 25) MM(29, 41) MAX(3, 27) MM(19, 43) MM(19, 27) MM(11, 35) MM(11, 19) MM(35, 27)     \
    MM(7, 31) MIN(23, 47) MM(23, 31) MM(15, 39) MM(15, 23) MM(39, 31) MM(7, 11) MM(15, 19) MM(23, 35) MM(39, 27) MIN(31, 43)    \
    MM(7, 9) MM(11, 13) MM(15, 17) MM(19, 21) MM(23, 33) MM(35, 37) MM(39, 25) MM(27, 29) MIN(31, 41) MM(7, 8) MM(9, 10)        \
    MM(11, 12) MM(13, 14) MM(15, 16) MM(17, 18) MM(19, 20) MM(21, 22) MM(23, 32) MM(33, 34) MM(35, 36) MM(37, 38) MM(39, 24)    \
    MM(25, 26) MM(27, 28) MM(29, 30) MM(31, 40) MAX(7, 48) MM(31, 48) MM(23, 64) MAX(23, 31) MIN(64, 48) MAX(15, 56) MM(39, 56) \
    MM(39, 31) MIN(56, 64) MAX(11, 52) MIN(35, 68) MM(35, 52) MM(19, 60) MIN(27, 60) MAX(19, 35) MM(27, 52) MAX(35, 39)         \
    MM(27, 31) MIN(52, 56) MAX(9, 50) MIN(33, 66) MAX(33, 50) MAX(17, 58) MIN(25, 58) MM(25, 50) MAX(13, 54) MIN(37, 70)        \
    MM(37, 54) MM(21, 62) MIN(29, 62) MAX(21, 37) MIN(29, 54) MM(37, 25) MM(29, 50) MAX(37, 39) MM(25, 27) MM(29, 31)           \
    MIN(50, 52) MAX(8, 49) MIN(40, 49) MIN(32, 65) MAX(32, 40) MAX(16, 57) MIN(24, 57) MM(24, 40) MAX(12, 53) MIN(36, 69)       \
    MM(36, 53) MM(20, 61) MIN(28, 61) MAX(20, 36) MIN(28, 53) MAX(36, 24) MM(28, 40) MAX(10, 51) MIN(34, 67) MAX(34, 51)        \
    MAX(18, 59) MIN(26, 59) MM(26, 51) MAX(14, 55) MIN(38, 71) MM(38, 55) MM(22, 63) MIN(30, 63) MAX(22, 38) MIN(30, 55)        \
    MM(38, 26) MIN(30, 51) MM(38, 24) MM(26, 28) MM(30, 40) MAX(38, 39) MM(24, 25) MM(26, 27) MM(28, 29) MM(30, 31) MIN(40, 50)
#define MEDIAN_CORE_OUT_9(F) \
    F(0, 39) F(1, 24) F(2, 25) F(3, 26) F(4, 27) F(5, 28) F(6, 29) F(7, 30) F(8, 31) F(9, 40)
/* 52 operations */
#define MEDIAN_ROW_9(MM, MIN, MAX)                                                                                       \
    MM(0, 1) MM(0, 2) MM(1, 2) MM(3, 4) MM(0, 3) MM(2, 3) MM(1, 4) MM(1, 2) MM(4, 3) MM(5, 6) MM(7, 8) MM(5, 7) MM(6, 8) \
    MM(6, 7) MM(0, 5) MM(3, 5) MM(2, 7) MM(2, 3) MM(7, 5) MM(1, 6) MM(4, 8) MM(4, 6) MM(1, 2) MM(4, 3) MM(6, 7) MM(8, 5)
#define MEDIAN_ROW_OUT_9(F) \
    F(0, 0) F(1, 1) F(2, 2) F(3, 4) F(4, 3) F(5, 6) F(6, 7) F(7, 8) F(8, 5)
/* 18 operations */
#define MEDIAN_PICK_9(MM, MIN, MAX)                                                                                        \
    MAX(18, 0) MAX(17, 1) MAX(16, 2) MAX(15, 3) MAX(14, 4) MAX(13, 5) MAX(12, 6) MAX(11, 7) MAX(10, 8) MIN(0, 1) MIN(2, 3) \
    MIN(4, 5) MIN(6, 7) MIN(8, 9) MIN(0, 2) MIN(4, 6) MIN(0, 4) MIN(0, 8)
#endif
