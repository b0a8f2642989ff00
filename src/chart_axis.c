/* Ticks and their labels. Numbers are digits and a power of ten in integers, so that neither libm nor the locale decides
 * how a label looks. */
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ten to a power; exact to the 22nd. Beyond, both sides of a comparison are off by the same few last digits. */
static double power_of_ten(int exponent) {
    double power = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) power *= 10;
    return power;
}

static double scaled(int64_t digits, int exponent) {
    return exponent < 0 ? (double)digits / power_of_ten(exponent) : (double)digits * power_of_ten(exponent);
}

/* Takes the zeros at the end into the exponent. */
static int64_t strip_zeros(int64_t digits, int *exponent) {
    while (digits && digits % 10 == 0) {
        digits /= 10;
        ++*exponent;
    }
    return digits;
}

/* Puts a point before the last `decimals` digits, or zeros behind. */
static void plain(int64_t digits, int exponent, char label[CHART_LABEL]) {
    char text[32];
    const char *sign = digits < 0 ? "-" : "";
    long long size = digits < 0 ? -digits : digits;
    int decimals = exponent < 0 ? -exponent : 0;
    int n = snprintf(text, sizeof text, "%0*lld", decimals < 20 ? decimals + 1 : 21, size);
    if (decimals)
        snprintf(label, CHART_LABEL, "%s%.*s.%.20s", sign, n - decimals, text, text + n - decimals);
    else
        snprintf(label, CHART_LABEL, "%s%s%.*s", sign, text, exponent < 20 ? exponent : 20, "00000000000000000000");
}

void chart_number(int64_t digits, int exponent, char label[CHART_LABEL]) {
    char text[24];
    digits = strip_zeros(digits, &exponent);
    if (!digits) exponent = 0;
    int n = snprintf(text, sizeof text, "%lld", (long long)(digits < 0 ? -digits : digits));
    int magnitude = n + exponent - 1;
    if (magnitude <= 6 && magnitude >= -5 && exponent >= -12) {
        plain(digits, exponent, label);
        return;
    }
    char mantissa[CHART_LABEL];
    plain(digits, -(n - 1), mantissa);
    snprintf(label, CHART_LABEL, "%.26se%d", mantissa, magnitude);
}

void chart_count(int64_t digits, int exponent, char label[CHART_LABEL]) {
    static const char suffixes[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
    char text[24];
    digits = strip_zeros(digits, &exponent);
    if (!digits) exponent = 0;
    int magnitude = snprintf(text, sizeof text, "%lld", (long long)digits) + exponent - 1;
    int thousands = magnitude < 3 ? 0 : magnitude / 3 < 6 ? magnitude / 3 : 6;
    plain(digits, exponent - 3 * thousands, label);
    size_t n = strlen(label);
    label[n] = suffixes[thousands];
    label[n + 1] = 0;
}

void chart_rounded_count(int64_t count, char label[CHART_LABEL]) {
    int exponent = 0;
    while (count >= 1000) {
        count = (count + 5) / 10;
        exponent++;
    }
    chart_count(count, exponent, label);
}

/* The smallest step of 1, 2 or 5 times a power of ten that is at least `least`. */
static int step_find(double least, int *exponent) {
    static const int steps[] = {1, 2, 5};
    int e = 0;
    while (e > -60 && scaled(1, e) > least) e--;
    while (e < 60 && scaled(10, e) < least) e++;
    for (int i = 0; i < 3; i++)
        if (scaled(steps[i], e) >= least) {
            *exponent = e;
            return steps[i];
        }
    *exponent = e + 1;
    return 1;
}

static int ticks_fill(double from, double to, int wanted, bool whole, bool counts, struct chart_tick *ticks) {
    if (wanted < 1 || !(to > from)) return 0;
    if (wanted > CHART_TICKS - 2) wanted = CHART_TICKS - 2;
    int exponent, step = step_find((to - from) / wanted, &exponent), n = 0;
    if (whole && exponent < 0) {
        step = 1;
        exponent = 0;
    }
    double size = scaled(step, exponent);
    if (fabs(from / size) > 1e15 || fabs(to / size) > 1e15) return 0;
    for (int64_t k = (int64_t)floor(from / size); n < CHART_TICKS; k++) {
        double value = scaled(k * step, exponent);
        if (value > to) break;
        if (value < from) continue;
        ticks[n].value = value;
        if (counts)
            chart_count(k * step, exponent, ticks[n].label);
        else
            chart_number(k * step, exponent, ticks[n].label);
        n++;
    }
    return n;
}

int chart_sample_ticks(double from, double to, int wanted, bool whole, struct chart_tick *ticks) {
    return ticks_fill(from, to, wanted, whole, false, ticks);
}

int chart_count_ticks(double top, int wanted, struct chart_tick *ticks) {
    return ticks_fill(0, top, wanted, true, true, ticks);
}

int chart_decade_ticks(double top, struct chart_tick *ticks) {
    int n = 0;
    for (int e = 0; e < 20 && scaled(1, e) <= top; e++, n++) {
        ticks[n].value = scaled(1, e);
        chart_count(1, e, ticks[n].label);
    }
    return n;
}

/* value = 2^e m with m in [1, 2): log10 = (e ln 2 + ln m) / ln 10, and ln m = 2 (z + z^3/3 + z^5/5 + ...) with
 * z = (m - 1) / (m + 1) <= 1/3: twenty terms leave less than 1e-20. */
double chart_log10(double value) {
    double e = 0, sum = 0;
    while (value >= 2) {
        value /= 2;
        e++;
    }
    while (value < 1) {
        value *= 2;
        e--;
    }
    double z = (value - 1) / (value + 1), square = z * z, power = z;
    for (int k = 1; k < 40; k += 2) {
        sum += power / k;
        power *= square;
    }
    return (e * 0.69314718055994531 + 2 * sum) / 2.3025850929940457;
}
