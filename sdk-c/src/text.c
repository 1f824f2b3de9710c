/* UTF-8, identifiers, and the one line that says why the module refuses. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

MBI size_t mbi_utf8_valid_up_to(const unsigned char *bytes, size_t length)
{
    size_t at = 0;
    while (at < length) {
        const unsigned char lead = bytes[at];
        /* The second byte alone tells overlong forms, surrogates and values above U+10FFFF. */
        unsigned char low = 0x80;
        unsigned char high = 0xBF;
        size_t more;
        if (lead < 0x80) {
            at++;
            continue;
        }
        if (lead >= 0xC2 && lead <= 0xDF) {
            more = 1;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            more = 2;
            low = lead == 0xE0 ? 0xA0 : low;
            high = lead == 0xED ? 0x9F : high;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            more = 3;
            low = lead == 0xF0 ? 0x90 : low;
            high = lead == 0xF4 ? 0x8F : high;
        } else {
            return at;
        }
        if (length - at <= more || bytes[at + 1] < low || bytes[at + 1] > high) {
            return at;
        }
        for (size_t i = 2; i <= more; i++) {
            if ((bytes[at + i] & 0xC0) != 0x80) {
                return at;
            }
        }
        at += more + 1;
    }
    return length;
}

MBI size_t mbi_code_points(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return count;
}

MBI bool mbi_is_identifier(const char *text)
{
    if (text[0] < 'a' || text[0] > 'z') {
        return false;
    }
    for (size_t i = 1; text[i] != '\0'; i++) {
        const char c = text[i];
        const bool legal =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
        if (!legal || i >= MBI_IDENTIFIER_MAX) {
            return false;
        }
    }
    return true;
}

/* The length of the code point at `text`, 0 if it is no valid UTF-8. */
static size_t code_point_length(const char *text)
{
    const unsigned char lead = (unsigned char)text[0];
    const size_t want = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const size_t have = strnlen(text, want);
    return mbi_utf8_valid_up_to((const unsigned char *)text, have) == want ? want : 0;
}

/* Writes one code point so that no terminal acts on it. Returns the number of bytes read. */
static size_t escape_code_point(const char *text, char piece[8])
{
    const size_t length = code_point_length(text);
    const unsigned char first = (unsigned char)text[0];
    if (length == 0) {
        (void)snprintf(piece, 8, "\\ufffd");
        return 1;
    }
    if (first < 0x20 || first == 0x7F) {
        (void)snprintf(piece, 8, "\\u%04x", (unsigned)first);
    } else if (length == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0) {
        (void)snprintf(piece, 8, "\\u%04x", (unsigned)(unsigned char)text[1]);
    } else if (length == 3 && memcmp(text, "\xE2\x80\xA8", 3) == 0) {
        (void)snprintf(piece, 8, "\\u2028");
    } else if (length == 3 && memcmp(text, "\xE2\x80\xA9", 3) == 0) {
        (void)snprintf(piece, 8, "\\u2029");
    } else {
        memcpy(piece, text, length);
        piece[length] = '\0';
    }
    return length;
}

MBI const char *mbi_quote(const char *text, char out[MBI_QUOTED_MAX])
{
    static const char cut[] = "\xE2\x80\xA6\"";
    size_t used = 0;
    out[used++] = '"';
    while (*text != '\0') {
        char piece[8];
        size_t taken;
        if (*text == '"' || *text == '\\') {
            piece[0] = '\\';
            piece[1] = *text;
            piece[2] = '\0';
            taken = 1;
        } else {
            taken = escape_code_point(text, piece);
        }
        const size_t length = strlen(piece);
        if (used + length + sizeof cut > MBI_QUOTED_MAX) {
            memcpy(out + used, cut, sizeof cut);
            return out;
        }
        memcpy(out + used, piece, length);
        used += length;
        text += taken;
    }
    out[used++] = '"';
    out[used] = '\0';
    return out;
}

MBI bool mbi_refuse(mbi_fault *fault, const char *code, const char *format, ...)
{
    va_list values;
    fault->code = code;
    va_start(values, format);
    if (vsnprintf(fault->text, sizeof fault->text, format, values) < 0) {
        fault->text[0] = '\0';
    }
    va_end(values);
    return false;
}

MBI bool mbi_refuse_memory(mbi_fault *fault, const char *what)
{
    return mbi_refuse(fault, MB_PROCESS_MEMORY, "no memory is left for %s", what);
}

MBI void mbi_report(const mbi_fault *fault)
{
    char line[MBI_LINE_MAX];
    size_t used = (size_t)snprintf(line, sizeof line, "modberth: %s: ", fault->code);
    const char *text = fault->text;
    while (*text != '\0') {
        char piece[8];
        const size_t taken = escape_code_point(text, piece);
        const size_t length = strlen(piece);
        if (used + length + 1 > sizeof line) {
            break;
        }
        memcpy(line + used, piece, length);
        used += length;
        text += taken;
    }
    line[used++] = '\n';
    mbi_diagnose(line, used);
}
