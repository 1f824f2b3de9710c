/* The strict scanner: the whole profile of the process protocols over bytes, before cJSON sees
 * them.
 *
 * cJSON alone would accept leading zeros, raw control characters, invalid UTF-8, a byte-order mark
 * and both of two equal names, and would cut strings at NUL. The scanner allocates nothing and
 * works from left to right: UTF-8 over everything first, then the first fault wins. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name in the text, without its quotes. */
typedef struct {
    uint32_t start;
    uint32_t length;
    bool escaped;
} scan_name;

/* One object is open per depth at most, and none is deeper than MBI_DEPTH_LIMIT - 1. */
#define OPEN_NAMES (MBI_DEPTH_LIMIT * MBI_ENTRIES_MAX)

typedef struct {
    const unsigned char *bytes;
    size_t length;
    size_t at;
    mbi_root *root;
    mbi_json_fault *fault;
    /* The names of all open objects; those of one object stand together, sorted. */
    size_t open_names;
    scan_name names[OPEN_NAMES];
} scan;

static bool refuse_at(scan *s, const char *code, size_t offset, const char *what)
{
    s->fault->code = code;
    s->fault->what = what;
    s->fault->offset = offset;
    s->fault->limit = 0;
    s->fault->actual = 0;
    return false;
}

static bool refuse_bound(scan *s, const char *code, size_t offset, const char *what, uint64_t limit,
                         uint64_t actual)
{
    (void)refuse_at(s, code, offset, what);
    s->fault->limit = limit;
    s->fault->actual = actual;
    return false;
}

static bool at_end(const scan *s)
{
    return s->at >= s->length;
}

static bool refuse_end(scan *s)
{
    return refuse_at(s, MB_JSON_TRUNCATED, s->length, "the document ends here");
}

static void skip_space(scan *s)
{
    while (!at_end(s)) {
        const unsigned char c = s->bytes[s->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            return;
        }
        s->at++;
    }
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* --- strings --- */

static bool hex_digit(unsigned char c, unsigned *digit)
{
    const unsigned char lower = c | 0x20;
    if (is_digit(c)) {
        *digit = (unsigned)(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
        *digit = (unsigned)(lower - 'a') + 10;
    } else {
        return false;
    }
    return true;
}

/* Reads the `\uXXXX` that begins at `at`. */
static bool unicode_escape(scan *s, size_t at, unsigned *value)
{
    *value = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        unsigned digit;
        if (i >= s->length) {
            return refuse_end(s);
        }
        if (!hex_digit(s->bytes[i], &digit)) {
            return refuse_at(s, MB_JSON_ESCAPE, at, "\\u without four hexadecimal digits");
        }
        *value = *value * 16 + digit;
    }
    return true;
}

/* Reads one escape; `at` stands on the backslash. */
static bool scan_escape_sequence(scan *s)
{
    const size_t start = s->at;
    if (start + 1 >= s->length) {
        return refuse_end(s);
    }
    const unsigned char kind = s->bytes[start + 1];
    if (kind != 'u') {
        if (kind == '\0' || strchr("\"\\/bfnrt", kind) == NULL) {
            return refuse_at(s, MB_JSON_ESCAPE, start, "no escape that JSON knows");
        }
        s->at += 2;
        return true;
    }
    unsigned unit;
    if (!unicode_escape(s, start, &unit)) {
        return false;
    }
    s->at += 6;
    if (unit == 0) {
        return refuse_at(s, MB_JSON_NUL, start, "an escaped U+0000");
    }
    if (unit >= 0xDC00 && unit <= 0xDFFF) {
        return refuse_at(s, MB_JSON_SURROGATE, start, "a low surrogate without a high one");
    }
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        static const char *const alone = "a high surrogate without a low one";
        if (at_end(s)) {
            return refuse_end(s);
        }
        if (s->bytes[s->at] != '\\') {
            return refuse_at(s, MB_JSON_SURROGATE, start, alone);
        }
        if (s->at + 1 >= s->length) {
            return refuse_end(s);
        }
        if (s->bytes[s->at + 1] != 'u') {
            return refuse_at(s, MB_JSON_SURROGATE, start, alone);
        }
        unsigned low;
        if (!unicode_escape(s, s->at, &low)) {
            return false;
        }
        if (low < 0xDC00 || low > 0xDFFF) {
            return refuse_at(s, MB_JSON_SURROGATE, start, alone);
        }
        s->at += 6;
    }
    return true;
}

/* Reads a string; `at` stands on the opening quote. Gives its inside and its code points. */
static bool scan_string(scan *s, scan_name *inside, size_t *code_points)
{
    s->at++;
    inside->start = (uint32_t)s->at;
    inside->escaped = false;
    *code_points = 0;
    while (!at_end(s)) {
        const unsigned char c = s->bytes[s->at];
        if (c == '"') {
            inside->length = (uint32_t)(s->at - inside->start);
            s->at++;
            return true;
        }
        if (c == '\\') {
            inside->escaped = true;
            if (!scan_escape_sequence(s)) {
                return false;
            }
            ++*code_points;
        } else if (c == '\0') {
            return refuse_at(s, MB_JSON_NUL, s->at, "a raw U+0000");
        } else if (c < 0x20) {
            return refuse_at(s, MB_JSON_CONTROL, s->at, "a raw control character in a string");
        } else {
            *code_points += (c & 0xC0) != 0x80;
            s->at++;
        }
    }
    return refuse_end(s);
}

/* --- names --- */

/* The value of four digits that have been checked. */
static unsigned hex4(const unsigned char *bytes)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = 0;
        (void)hex_digit(bytes[i], &digit);
        value = value * 16 + digit;
    }
    return value;
}

/* The next code point of a name that scan_string() has checked. */
static unsigned next_code_point(const unsigned char *bytes, size_t *at)
{
    const unsigned char c = bytes[(*at)++];
    if (c == '\\') {
        const unsigned char kind = bytes[(*at)++];
        unsigned unit;
        switch (kind) {
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'u':
            unit = hex4(bytes + *at);
            *at += 4;
            if (unit >= 0xD800 && unit <= 0xDBFF) {
                unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(bytes + *at + 2) - 0xDC00);
                *at += 6;
            }
            return unit;
        default:
            return kind;
        }
    }
    if (c < 0x80) {
        return c;
    }
    const size_t more = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    unsigned value = c & (0x3Fu >> more);
    for (size_t i = 0; i < more; i++) {
        value = (value << 6) | (bytes[(*at)++] & 0x3Fu);
    }
    return value;
}

/* Orders names by their code points after unescaping. Bytes of UTF-8 order the same way. */
static int compare_names(const scan *s, const scan_name *a, const scan_name *b)
{
    if (!a->escaped && !b->escaped) {
        const size_t common = a->length < b->length ? a->length : b->length;
        const int order = memcmp(s->bytes + a->start, s->bytes + b->start, common);
        return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
    }
    size_t i = a->start;
    size_t j = b->start;
    const size_t a_end = a->start + a->length;
    const size_t b_end = b->start + b->length;
    while (i < a_end && j < b_end) {
        const unsigned x = next_code_point(s->bytes, &i);
        const unsigned y = next_code_point(s->bytes, &j);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return (i < a_end) - (j < b_end);
}

/* Names that serde_json gives a meaning of its own: with some of its features it would read the
 * value as something that was never checked. */
static bool is_reserved(const scan *s, const scan_name *n)
{
    static const char reserved[] = "$serde_json::private::";
    size_t at = n->start;
    const size_t end = n->start + n->length;
    for (size_t i = 0; i < sizeof reserved - 1; i++) {
        if (at >= end || next_code_point(s->bytes, &at) != (unsigned char)reserved[i]) {
            return false;
        }
    }
    return true;
}

/* Puts a name in its place among the sorted names of its object, which begin at `first`. */
static bool remember_name(scan *s, size_t first, const scan_name *n)
{
    size_t low = first;
    size_t high = s->open_names;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_names(s, n, &s->names[middle]);
        if (order == 0) {
            return refuse_at(s, MB_JSON_DUPLICATE_KEY, n->start - 1u,
                             "this name stands twice in one object");
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    memmove(&s->names[low + 1], &s->names[low], (s->open_names - low) * sizeof(scan_name));
    s->names[low] = *n;
    s->open_names++;
    return true;
}

/* --- numbers --- */

/* Whether a byte right behind a number can only belong to a badly written one. */
static bool continues_number(unsigned char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

static size_t scan_digits(scan *s)
{
    const size_t start = s->at;
    while (!at_end(s) && is_digit(s->bytes[s->at])) {
        s->at++;
    }
    return s->at - start;
}

/* Whether the integer of 16 digits or fewer lies within plus or minus (2^53 - 1). */
static bool exact_integer(const unsigned char *first, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value * 10 + (uint64_t)(first[i] - '0');
    }
    return value <= (uint64_t)MB_INTEGER_MAX;
}

static bool refuse_number(scan *s)
{
    if (at_end(s)) {
        return refuse_end(s);
    }
    return refuse_at(s, MB_JSON_NUMBER, s->at,
                     "a number that is not written as JSON writes numbers");
}

static bool scan_number(scan *s)
{
    const size_t start = s->at;
    if (s->bytes[s->at] == '-') {
        s->at++;
    }
    const size_t first = s->at;
    const size_t whole = scan_digits(s);
    if (whole == 0) {
        return refuse_number(s);
    }
    if (whole > 1 && s->bytes[first] == '0') {
        s->at = first + 1;
        return refuse_number(s);
    }
    bool integer = true;
    if (!at_end(s) && s->bytes[s->at] == '.') {
        integer = false;
        s->at++;
        if (scan_digits(s) == 0) {
            return refuse_number(s);
        }
    }
    if (!at_end(s) && (s->bytes[s->at] | 0x20) == 'e') {
        integer = false;
        s->at++;
        if (!at_end(s) && (s->bytes[s->at] == '+' || s->bytes[s->at] == '-')) {
            s->at++;
        }
        if (scan_digits(s) == 0) {
            return refuse_number(s);
        }
    }
    if (!at_end(s) && continues_number(s->bytes[s->at])) {
        return refuse_number(s);
    }
    if (integer) {
        if (whole > 16 || !exact_integer(s->bytes + first, whole)) {
            return refuse_at(s, MB_JSON_INTEGER_RANGE, start,
                             "an integer outside plus or minus 9007199254740991");
        }
        return true;
    }
    /* strtod() reads no further than the number: what follows cannot be part of one. */
    if (!isfinite(strtod((const char *)s->bytes + start, NULL))) {
        return refuse_at(s, MB_JSON_NONFINITE, start, "a number beyond the range of binary64");
    }
    return true;
}

/* Whether a digit of another script stands here, such as U+0663: a number that JSON does not write
 * so. The decimal digits of the basic plane come in runs of ten; these are their zeros. Every SDK
 * and the host go by this list, whatever release of Unicode a language knows. */
static bool is_other_digit(const unsigned char *text)
{
    static const uint16_t zeros[] = {0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66,
                                     0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20,
                                     0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
                                     0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0,
                                     0xA9F0, 0xAA50, 0xABF0, 0xFF10};
    size_t at = 0;
    if (text[0] < 0x80) {
        return false;
    }
    const unsigned found = next_code_point(text, &at);
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        if (found >= zeros[i] && found < zeros[i] + 10u) {
            return true;
        }
    }
    return false;
}

/* --- values --- */

static bool scan_value(scan *s, unsigned depth);

static bool scan_literal(scan *s, const char *word)
{
    for (size_t i = 0; word[i] != '\0'; i++) {
        if (at_end(s)) {
            return refuse_end(s);
        }
        if (s->bytes[s->at] != (unsigned char)word[i]) {
            return refuse_at(s, MB_JSON_SYNTAX, s->at, "no value begins like this");
        }
        s->at++;
    }
    return true;
}

static bool scan_string_value(scan *s)
{
    const size_t start = s->at;
    scan_name ignored;
    size_t length;
    if (!scan_string(s, &ignored, &length)) {
        return false;
    }
    if (length > MBI_STRING_MAX) {
        return refuse_bound(s, MB_JSON_STRING_LENGTH, start, "a string of too many code points",
                            MBI_STRING_MAX, length);
    }
    return true;
}

static bool refuse_entries(scan *s, size_t count)
{
    return refuse_bound(s, MB_JSON_ENTRIES, s->at, "too many entries in one object or array",
                        MBI_ENTRIES_MAX, count + 1);
}

/* A digit right behind a number and a comma, as in 1,000, is part of that number. */
static bool refuse_name(scan *s)
{
    const unsigned char *here = s->bytes + s->at;
    if (is_digit(*here) && here[-1] == ',' && is_digit(here[-2])) {
        return refuse_number(s);
    }
    return refuse_at(s, MB_JSON_SYNTAX, s->at, "a name must stand here");
}

static bool scan_member_name(scan *s, size_t first, size_t count)
{
    const size_t start = s->at;
    scan_name n;
    size_t length;
    if (s->bytes[start] != '"') {
        return refuse_name(s);
    }
    if (count >= MBI_ENTRIES_MAX) {
        return refuse_entries(s, count);
    }
    if (!scan_string(s, &n, &length)) {
        return false;
    }
    if (length > MBI_NAME_MAX) {
        return refuse_bound(s, MB_JSON_NAME_LENGTH, start, "a name of too many code points",
                            MBI_NAME_MAX, length);
    }
    if (is_reserved(s, &n)) {
        return refuse_at(s, MB_JSON_RESERVED_KEY, start,
                         "a name that begins $serde_json::private::");
    }
    return remember_name(s, first, &n);
}

/* Reads what follows an entry: true with `*more` if another one comes. */
static bool scan_separator(scan *s, unsigned char close, bool *more)
{
    const size_t entry_end = s->at;
    skip_space(s);
    if (at_end(s)) {
        return refuse_end(s);
    }
    const unsigned char c = s->bytes[s->at];
    *more = c == ',';
    if (c != ',' && c != close) {
        /* Another digit behind a number and white space, as in 1 000, is part of that number. */
        if (is_digit(c) && is_digit(s->bytes[entry_end - 1])) {
            return refuse_number(s);
        }
        return refuse_at(s, MB_JSON_SYNTAX, s->at,
                         "a comma or the end of the object or array must stand here");
    }
    s->at++;
    skip_space(s);
    return true;
}

static bool scan_object(scan *s, unsigned depth)
{
    const size_t first = s->open_names;
    size_t count = 0;
    bool more = true;
    s->at++;
    skip_space(s);
    if (!at_end(s) && s->bytes[s->at] == '}') {
        s->at++;
        return true;
    }
    while (more) {
        if (at_end(s)) {
            return refuse_end(s);
        }
        if (!scan_member_name(s, first, count)) {
            return false;
        }
        skip_space(s);
        if (at_end(s)) {
            return refuse_end(s);
        }
        if (s->bytes[s->at] != ':') {
            return refuse_at(s, MB_JSON_SYNTAX, s->at, "a colon must stand here");
        }
        s->at++;
        skip_space(s);
        const size_t start = s->at;
        if (!scan_value(s, depth + 1)) {
            return false;
        }
        if (depth == 0 && s->root != NULL) {
            if (count < MBI_ROOT_MEMBERS) {
                s->root->values[count].start = start;
                s->root->values[count].end = s->at;
            }
            s->root->count = count + 1;
        }
        count++;
        if (!scan_separator(s, '}', &more)) {
            return false;
        }
    }
    s->open_names = first;
    return true;
}

static bool scan_array(scan *s, unsigned depth)
{
    size_t count = 0;
    bool more = true;
    s->at++;
    skip_space(s);
    if (!at_end(s) && s->bytes[s->at] == ']') {
        s->at++;
        return true;
    }
    while (more) {
        /* A bracket behind the last comma is no entry but a fault of its own. */
        if (count >= MBI_ENTRIES_MAX && !at_end(s) && s->bytes[s->at] != ']') {
            return refuse_entries(s, count);
        }
        if (!scan_value(s, depth + 1)) {
            return false;
        }
        count++;
        if (!scan_separator(s, ']', &more)) {
            return false;
        }
    }
    return true;
}

/* Reads one value; `at` stands on its first byte. Recursion ends at the depth limit. */
static bool scan_value(scan *s, unsigned depth)
{
    if (at_end(s)) {
        return refuse_end(s);
    }
    if (depth >= MBI_DEPTH_LIMIT) {
        return refuse_bound(s, MB_JSON_DEPTH, s->at, "a value too deep; the root is at depth 0",
                            MBI_DEPTH_LIMIT - 1, depth);
    }
    const unsigned char c = s->bytes[s->at];
    switch (c) {
    case '{':
        return scan_object(s, depth);
    case '[':
        return scan_array(s, depth);
    case '"':
        return scan_string_value(s);
    case 't':
        return scan_literal(s, "true");
    case 'f':
        return scan_literal(s, "false");
    case 'n':
        return scan_literal(s, "null");
    default:
        if (c == '-' || is_digit(c)) {
            return scan_number(s);
        }
        if (c == '+' || c == '.' || is_other_digit(s->bytes + s->at)) {
            return refuse_number(s);
        }
        return refuse_at(s, MB_JSON_SYNTAX, s->at, "no value begins like this");
    }
}

static bool scan_begin(scan *s, const unsigned char *bytes, size_t length, mbi_root *root,
                       mbi_json_fault *fault)
{
    s->bytes = bytes;
    s->length = length;
    s->at = 0;
    s->root = root;
    s->fault = fault;
    s->open_names = 0;
    if (root != NULL) {
        root->count = 0;
    }
    const size_t valid = mbi_utf8_valid_up_to(bytes, length);
    if (valid < length) {
        return refuse_at(s, MB_JSON_UTF8, valid, "not UTF-8");
    }
    skip_space(s);
    return true;
}

static bool scan_end(scan *s)
{
    skip_space(s);
    if (!at_end(s)) {
        return refuse_at(s, MB_JSON_TRAILING, s->at, "something follows the end of the value");
    }
    return true;
}

MBI bool mbi_json_check(const unsigned char *bytes, size_t length, mbi_root *root,
                        mbi_json_fault *fault)
{
    scan s;
    if (!scan_begin(&s, bytes, length, root, fault)) {
        return false;
    }
    if (at_end(&s)) {
        return refuse_end(&s);
    }
    if (bytes[s.at] != '{') {
        return refuse_at(&s, MB_JSON_NOT_OBJECT, s.at, "the payload does not begin as an object");
    }
    return scan_value(&s, 0) && scan_end(&s);
}

MBI bool mbi_json_check_value(const unsigned char *bytes, size_t length, unsigned depth,
                              mbi_json_fault *fault)
{
    scan s;
    return scan_begin(&s, bytes, length, NULL, fault) && scan_value(&s, depth) && scan_end(&s);
}

MBI bool mbi_refuse_json(mbi_fault *fault, const char *place, const mbi_json_fault *json)
{
    if (json->limit == 0) {
        return mbi_refuse(fault, json->code, "%s, byte %zu: %s", place, json->offset, json->what);
    }
    return mbi_refuse(fault, json->code, "%s, byte %zu: %s: %llu, the limit is %llu", place,
                      json->offset, json->what, (unsigned long long)json->actual,
                      (unsigned long long)json->limit);
}
