/* Numbers to text and back, with a point whatever the locale of the process is. */
#include "internal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MBI bool mbi_locale_enter(mbi_locale *locale, mbi_fault *fault)
{
    const locale_t neutral = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (neutral == (locale_t)0) {
        (void)mbi_refuse_memory(fault, "the C locale");
        return false;
    }
    locale->neutral = neutral;
    locale->previous = uselocale(neutral);
    return true;
}

MBI void mbi_locale_leave(mbi_locale *locale)
{
    (void)uselocale((locale_t)locale->previous);
    freelocale((locale_t)locale->neutral);
}

MBI bool mbi_is_big_number(double value)
{
    return fabs(value) > (double)MB_INTEGER_MAX;
}

/* The shortest of the given precisions that reads back to the same double. */
static size_t shortest(double value, char out[MBI_NUMBER_MAX], const char *format, int least,
                       int most)
{
    int length = 0;
    for (int precision = least; precision <= most; precision++) {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
        length = snprintf(out, MBI_NUMBER_MAX, format, precision, value);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
        const double back = strtod(out, NULL);
        if (!(back < value) && !(back > value)) {
            break;
        }
    }
    return (size_t)length;
}

MBI size_t mbi_number_format(double value, char out[MBI_NUMBER_MAX])
{
    if (mbi_is_big_number(value)) {
        return shortest(value, out, "%.*e", 0, 16);
    }
    const double whole = floor(value);
    if (!(whole < value)) {
        return (size_t)snprintf(out, MBI_NUMBER_MAX, "%.0f", value);
    }
    return shortest(value, out, "%.*g", 15, 17);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Walks a tree that the scanner has bounded. `found` may be NULL: then it only counts. */
static size_t collect(const cJSON *tree, double *found, size_t count)
{
    if (cJSON_IsNumber(tree) && mbi_is_big_number(tree->valuedouble)) {
        if (found != NULL) {
            found[count] = tree->valuedouble;
        }
        return count + 1;
    }
    const cJSON *child = NULL;
    cJSON_ArrayForEach(child, tree)
    {
        count = collect(child, found, count);
    }
    return count;
}

MBI bool mbi_big_numbers_collect(mbi_big_numbers *numbers, const cJSON *tree)
{
    numbers->values = NULL;
    numbers->count = collect(tree, NULL, 0);
    if (numbers->count == 0) {
        return true;
    }
    numbers->values = cJSON_malloc(numbers->count * sizeof *numbers->values);
    if (numbers->values == NULL) {
        numbers->count = 0;
        return false;
    }
    (void)collect(tree, numbers->values, 0);
    qsort(numbers->values, numbers->count, sizeof *numbers->values, by_value);
    return true;
}

MBI bool mbi_big_numbers_contain(const mbi_big_numbers *numbers, double value)
{
    return numbers->count > 0 && bsearch(&value, numbers->values, numbers->count,
                                         sizeof *numbers->values, by_value) != NULL;
}

MBI void mbi_big_numbers_free(mbi_big_numbers *numbers)
{
    cJSON_free(numbers->values);
    numbers->values = NULL;
    numbers->count = 0;
}
