/* The writer. cJSON's own printer loses digits (9007199254740991 becomes ...990) and lets through
 * what the host refuses; this one checks every value by the profile and names the place of a fault.
 */
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the writer stands inside the data: a name or an index, and what it stands in. */
typedef struct path {
    const struct path *parent;
    const char *name;
    size_t index;
} path;

#define PATH_MAX_BYTES 600

/* Writes the path from its root on: data.rows[3].name. A long one is cut at the end. */
static size_t render(const path *p, char out[PATH_MAX_BYTES])
{
    const size_t used = p->parent == NULL ? 0 : render(p->parent, out);
    char quoted[MBI_QUOTED_MAX];
    int length;
    if (p->name == NULL) {
        length = snprintf(out + used, PATH_MAX_BYTES - used, "[%zu]", p->index);
    } else if (p->parent == NULL) {
        length = snprintf(out + used, PATH_MAX_BYTES - used, "%s", p->name);
    } else if (mbi_is_identifier(p->name)) {
        length = snprintf(out + used, PATH_MAX_BYTES - used, ".%s", p->name);
    } else {
        length = snprintf(out + used, PATH_MAX_BYTES - used, "[%s]", mbi_quote(p->name, quoted));
    }
    const size_t wanted = used + (length > 0 ? (size_t)length : 0);
    return wanted < PATH_MAX_BYTES ? wanted : PATH_MAX_BYTES - 1;
}

static bool refuse_value(const mbi_writer *writer, const path *at, const char *code,
                         const char *what)
{
    char place[PATH_MAX_BYTES];
    (void)render(at, place);
    return mbi_refuse(writer->fault, code, "%s: %s: %s", writer->place, place, what);
}

static bool refuse_value_bound(const mbi_writer *writer, const path *at, const char *code,
                               const char *what, size_t limit, size_t actual)
{
    char text[128];
    (void)snprintf(text, sizeof text, "%s: %zu, the limit is %zu", what, actual, limit);
    return refuse_value(writer, at, code, text);
}

MBI bool mbi_write_raw(mbi_writer *writer, const void *bytes, size_t length)
{
    if (length > writer->end - writer->out->length) {
        return mbi_refuse(writer->fault, MB_FRAME_TOO_LARGE,
                          "%s: with this the result frame passes its limit of %d bytes",
                          writer->place, MB_FRAME_MAX);
    }
    return mbi_append(writer->out, bytes, length) ||
           mbi_refuse_memory(writer->fault, "the result frame");
}

MBI bool mbi_write_text(mbi_writer *writer, const char *literal)
{
    return mbi_write_raw(writer, literal, strlen(literal));
}

/* What to write for a byte that cannot stand in a string as it is; 0 for every other byte. */
static size_t escape_byte(unsigned char c, char out[8])
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    if (c >= 0x20 && c != '"' && c != '\\') {
        return 0;
    }
    const char *found = strchr(plain, c);
    if (c != '\0' && found != NULL) {
        out[0] = '\\';
        out[1] = letters[found - plain];
        return 2;
    }
    (void)snprintf(out, 8, "\\u%04x", (unsigned)c);
    return 6;
}

MBI bool mbi_write_string(mbi_writer *writer, const char *text, size_t length)
{
    size_t begin = 0;
    if (!mbi_write_raw(writer, "\"", 1)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char escaped[8];
        const size_t size = escape_byte((unsigned char)text[i], escaped);
        if (size > 0) {
            if (!mbi_write_raw(writer, text + begin, i - begin) ||
                !mbi_write_raw(writer, escaped, size)) {
                return false;
            }
            begin = i + 1;
        }
    }
    return mbi_write_raw(writer, text + begin, length - begin) && mbi_write_raw(writer, "\"", 1);
}

/* Checks text under a bound of code points and gives its length in bytes. */
static bool check_text(const mbi_writer *writer, const path *at, const char *text, size_t bound,
                       const char *code, const char *what, size_t *length)
{
    /* No code point takes more than four bytes: beyond that nothing needs to be read. */
    *length = strnlen(text, bound * 4 + 1);
    const size_t valid = mbi_utf8_valid_up_to((const unsigned char *)text, *length);
    const bool whole = *length <= bound * 4;
    /* A text that was cut may end inside a code point. */
    if (valid < *length && (whole || *length - valid > 3)) {
        /* The only way NUL can stand inside a C string; the C++ SDK puts it so. */
        if (strncmp(text + valid, "\xC0\x80", 2) == 0) {
            return refuse_value(writer, at, MB_JSON_NUL, "text that holds U+0000");
        }
        return refuse_value(writer, at, MB_JSON_UTF8, "text that is not UTF-8");
    }
    const size_t code_points = mbi_code_points(text, *length);
    if (!whole || code_points > bound) {
        return refuse_value_bound(writer, at, code, what, bound,
                                  whole ? code_points : mbi_code_points(text, strlen(text)));
    }
    return true;
}

static bool write_text_value(mbi_writer *writer, const cJSON *value, const path *at)
{
    size_t length;
    if (value->valuestring == NULL) {
        return refuse_value(writer, at, MB_OUTPUT_VALUE, "a string without text");
    }
    return check_text(writer, at, value->valuestring, MBI_STRING_MAX, MB_JSON_STRING_LENGTH,
                      "a string of too many code points", &length) &&
           mbi_write_string(writer, value->valuestring, length);
}

static bool write_number(mbi_writer *writer, const cJSON *value, const path *at)
{
    const double number = value->valuedouble;
    char text[MBI_NUMBER_MAX];
    if (!isfinite(number)) {
        return refuse_value(writer, at, MB_JSON_NONFINITE,
                            isnan(number) ? "a number that is NaN" : "a number that is infinite");
    }
    /* A double cannot tell 2^53 from 2^53 + 1. One that came in may go out, with an exponent. */
    if (mbi_is_big_number(number) && !mbi_big_numbers_contain(writer->passed_on, number)) {
        char what[128];
        (void)snprintf(what, sizeof what, "the whole number %.17g is outside plus or minus %lld",
                       number, (long long)MB_INTEGER_MAX);
        return refuse_value(writer, at, MB_JSON_INTEGER_RANGE, what);
    }
    return mbi_write_raw(writer, text, mbi_number_format(number, text));
}

/* cJSON lets an author put in JSON text as it stands; it is checked like everything else. */
static bool write_raw_json(mbi_writer *writer, const cJSON *value, unsigned depth, const path *at)
{
    mbi_json_fault json;
    if (value->valuestring == NULL) {
        return refuse_value(writer, at, MB_OUTPUT_VALUE, "raw JSON without text");
    }
    const size_t length = strnlen(value->valuestring, MB_FRAME_MAX + 1);
    if (length > MB_FRAME_MAX) {
        return refuse_value_bound(writer, at, MB_FRAME_TOO_LARGE, "raw JSON of too many bytes",
                                  MB_FRAME_MAX, strlen(value->valuestring));
    }
    if (!mbi_json_check_value((const unsigned char *)value->valuestring, length, depth, &json)) {
        char where[PATH_MAX_BYTES];
        char place[MBI_TEXT_MAX];
        (void)render(at, where);
        (void)snprintf(place, sizeof place, "%s: %s: raw JSON", writer->place, where);
        return mbi_refuse_json(writer->fault, place, &json);
    }
    return mbi_write_raw(writer, value->valuestring, length);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* Checks all names of an object before its values. Gives the number of its members. */
static bool check_names(const mbi_writer *writer, const cJSON *object, const path *at)
{
    const cJSON *sorted[MBI_ENTRIES_MAX];
    size_t count = 0;
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        if (count == MBI_ENTRIES_MAX) {
            return refuse_value_bound(writer, at, MB_JSON_ENTRIES, "too many entries in one object",
                                      MBI_ENTRIES_MAX, count + 1);
        }
        if (member->string == NULL) {
            return refuse_value(writer, at, MB_OUTPUT_VALUE,
                                "an object with a member without a name");
        }
        sorted[count++] = member;
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[i - 1]->string, sorted[i]->string) == 0) {
            const path twice = {at, sorted[i]->string, 0};
            return refuse_value(writer, &twice, MB_JSON_DUPLICATE_KEY,
                                "this name stands twice in one object");
        }
    }
    return true;
}

static bool write_at(mbi_writer *writer, const cJSON *value, unsigned depth, const path *at);

static bool write_object(mbi_writer *writer, const cJSON *object, unsigned depth, const path *at)
{
    if (!check_names(writer, object, at) || !mbi_write_raw(writer, "{", 1)) {
        return false;
    }
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        const path here = {at, member->string, 0};
        size_t length;
        if (!check_text(writer, &here, member->string, MBI_NAME_MAX, MB_JSON_NAME_LENGTH,
                        "a name of too many code points", &length)) {
            return false;
        }
        if (strncmp(member->string, "$serde_json::private::", 22) == 0) {
            return refuse_value(writer, &here, MB_JSON_RESERVED_KEY,
                                "a name that begins $serde_json::private::");
        }
        if ((member != object->child && !mbi_write_raw(writer, ",", 1)) ||
            !mbi_write_string(writer, member->string, length) || !mbi_write_raw(writer, ":", 1) ||
            !write_at(writer, member, depth + 1, &here)) {
            return false;
        }
    }
    return mbi_write_raw(writer, "}", 1);
}

static bool write_array(mbi_writer *writer, const cJSON *array, unsigned depth, const path *at)
{
    size_t count = 0;
    if (!mbi_write_raw(writer, "[", 1)) {
        return false;
    }
    for (const cJSON *entry = array->child; entry != NULL; entry = entry->next) {
        const path here = {at, NULL, count};
        if (count == MBI_ENTRIES_MAX) {
            return refuse_value_bound(writer, at, MB_JSON_ENTRIES, "too many entries in one array",
                                      MBI_ENTRIES_MAX, count + 1);
        }
        if ((count > 0 && !mbi_write_raw(writer, ",", 1)) ||
            !write_at(writer, entry, depth + 1, &here)) {
            return false;
        }
        count++;
    }
    return mbi_write_raw(writer, "]", 1);
}

/* The type bits of cJSON; the flags above them say who owns what. */
#define TYPE_BITS 0xFF

static bool write_at(mbi_writer *writer, const cJSON *value, unsigned depth, const path *at)
{
    if (depth >= MBI_DEPTH_LIMIT) {
        return refuse_value_bound(writer, at, MB_JSON_DEPTH,
                                  "a value too deep; the root of the frame is at depth 0",
                                  MBI_DEPTH_LIMIT - 1, depth);
    }
    switch (value->type & TYPE_BITS) {
    case cJSON_NULL:
        return mbi_write_text(writer, "null");
    case cJSON_True:
        return mbi_write_text(writer, "true");
    case cJSON_False:
        return mbi_write_text(writer, "false");
    case cJSON_Number:
        return write_number(writer, value, at);
    case cJSON_String:
        return write_text_value(writer, value, at);
    case cJSON_Array:
        return write_array(writer, value, depth, at);
    case cJSON_Object:
        return write_object(writer, value, depth, at);
    case cJSON_Raw:
        return write_raw_json(writer, value, depth, at);
    default:
        return refuse_value(writer, at, MB_OUTPUT_VALUE, "a cJSON item of no valid type");
    }
}

MBI bool mbi_write_value(mbi_writer *writer, const cJSON *value, unsigned depth, const char *name)
{
    const path root = {NULL, name, 0};
    return write_at(writer, value, depth, &root);
}
