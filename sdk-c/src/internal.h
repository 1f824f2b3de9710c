/* What the parts of the SDK share. No name in here is part of the interface. */
#ifndef MBI_INTERNAL_H
#define MBI_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modberth_sdk.h"

/* The single-file form makes every shared name private to its one file. */
#ifndef MBI
#define MBI
#endif

#if defined(__GNUC__)
#define MBI_PRINTF(format_at, values_at) __attribute__((format(printf, format_at, values_at)))
#else
#define MBI_PRINTF(format_at, values_at)
#endif

/* --- the bounds of the process profile (P1-HOST-21, P1-HOST-35) --- */

/* The root stands at depth 0; no value stands at this depth or deeper. */
#define MBI_DEPTH_LIMIT 13
/* The most entries of one object or array. */
#define MBI_ENTRIES_MAX 256
/* The longest name, in code points. */
#define MBI_NAME_MAX 240
/* The longest string, in code points. */
#define MBI_STRING_MAX 65536
/* The longest action name, package id and error code, in bytes. */
#define MBI_IDENTIFIER_MAX 96
/* Where the data of a target stands in the result frame: root, results, row, data. */
#define MBI_DATA_DEPTH 3

/* --- text.c: UTF-8, quoting, refusals --- */

/* The diagnostic line is bounded at 2,048 bytes, its end of line included (P1-SDK-07). */
#define MBI_LINE_MAX 2048
#define MBI_TEXT_MAX 1900
/* Room for one quoted piece of outside text in a diagnostic. */
#define MBI_QUOTED_MAX 256

/* Why the SDK refuses: a code of modberth_codes.h and one line of text. */
typedef struct {
    const char *code;
    char text[MBI_TEXT_MAX];
} mbi_fault;

/* Fills the fault. Always false, so that a check can return it. */
MBI bool mbi_refuse(mbi_fault *fault, const char *code, const char *format, ...) MBI_PRINTF(3, 4);
/* Writes the one line that says why, after everything that was printed before. */
MBI void mbi_report(const mbi_fault *fault);
/* The offset of the first byte that is not UTF-8, `length` if all is well. */
MBI size_t mbi_utf8_valid_up_to(const unsigned char *bytes, size_t length);
/* The number of code points in valid UTF-8. */
MBI size_t mbi_code_points(const char *text, size_t length);
/* Whether the text is `[a-z][a-z0-9_.-]{0,95}`. */
MBI bool mbi_is_identifier(const char *text);
/* Writes the text as a JSON string for a diagnostic, long ones cut with an ellipsis. Returns `out`.
 */
MBI const char *mbi_quote(const char *text, char out[MBI_QUOTED_MAX]);

/* --- buffer.c: bytes that grow up to a bound, from cJSON's allocator --- */

typedef struct {
    unsigned char *bytes;
    size_t length;
    size_t capacity;
} mbi_buffer;

/* Appends. False if memory ran out; the buffer is then unchanged. */
MBI bool mbi_append(mbi_buffer *buffer, const void *bytes, size_t length);
MBI void mbi_buffer_free(mbi_buffer *buffer);

/* --- frame.c: the three standard streams --- */

/* Moves standard output away: `*private_fd` gets it, descriptor 1 becomes standard error. */
MBI bool mbi_take_stdout(int *private_fd, mbi_fault *fault);
/* Reads the frame of this number, counted from 1. A NUL follows its payload. */
MBI bool mbi_read_frame(int fd, unsigned number, mbi_buffer *payload, mbi_fault *fault);
/* Refuses whatever follows the last frame. */
MBI bool mbi_read_end(int fd, mbi_fault *fault);
/* Writes all bytes or fails. */
MBI bool mbi_write_all(int fd, const void *bytes, size_t length, mbi_fault *fault);
/* Writes to standard error, after everything that was printed before. Nobody may be left to read
 * it. */
MBI void mbi_diagnose(const char *text, size_t length);
/* To be called when no handler runs any more: what is printed from here on, and flushed at the end
 * of the process, cannot end it by SIGPIPE. */
MBI void mbi_outlive_readers(void);

/* --- json_scan.c: the strict scanner --- */

typedef struct {
    const char *code;
    const char *what;
    size_t offset;
    /* Both 0 where the rule has no bound. */
    uint64_t limit;
    uint64_t actual;
} mbi_json_fault;

/* The members of the root object in order, by the place of their values in the text. */
#define MBI_ROOT_MEMBERS 8
typedef struct {
    size_t count;
    struct {
        size_t start;
        size_t end;
    } values[MBI_ROOT_MEMBERS];
} mbi_root;

/* Checks one document: an object under the whole process profile. `bytes[length]` must be NUL.
 * `root` may be NULL; members beyond MBI_ROOT_MEMBERS are counted but not kept. */
MBI bool mbi_json_check(const unsigned char *bytes, size_t length, mbi_root *root,
                        mbi_json_fault *fault);
/* Checks one value of any type that stands at `depth`. `bytes[length]` must be NUL. */
MBI bool mbi_json_check_value(const unsigned char *bytes, size_t length, unsigned depth,
                              mbi_json_fault *fault);
/* Turns the scanner's fault into a refusal at `place`. Always false. */
MBI bool mbi_refuse_json(mbi_fault *fault, const char *place, const mbi_json_fault *json);

/* --- number.c: numbers to text and back, whatever the locale --- */

/* Room for any number that mbi_number_format() writes, with its NUL. */
#define MBI_NUMBER_MAX 32

/* The doubles beyond plus or minus (2^53 - 1) that came in: only they may go out again. */
typedef struct {
    double *values;
    size_t count;
} mbi_big_numbers;

/* Collects the big numbers of a tree. False if memory ran out. */
MBI bool mbi_big_numbers_collect(mbi_big_numbers *numbers, const cJSON *tree);
MBI bool mbi_big_numbers_contain(const mbi_big_numbers *numbers, double value);
MBI void mbi_big_numbers_free(mbi_big_numbers *numbers);
MBI bool mbi_is_big_number(double value);
/* Writes a finite number as JSON that reads back to the same double: whole numbers in the exact
 * range as an integer, beyond it with an exponent. Returns the length. */
MBI size_t mbi_number_format(double value, char out[MBI_NUMBER_MAX]);

/* The C locale for this thread, so that numbers read and print with a point. */
typedef struct {
    void *previous;
    void *neutral;
} mbi_locale;
MBI bool mbi_locale_enter(mbi_locale *locale, mbi_fault *fault);
MBI void mbi_locale_leave(mbi_locale *locale);

/* --- json_write.c: the writer --- */

typedef struct {
    mbi_buffer *out;
    /* The length of `out` that must not be passed. */
    size_t end;
    const mbi_big_numbers *passed_on;
    /* Begins every diagnostic, as `results[1], target "x"`. */
    const char *place;
    mbi_fault *fault;
} mbi_writer;

MBI bool mbi_write_raw(mbi_writer *writer, const void *bytes, size_t length);
MBI bool mbi_write_text(mbi_writer *writer, const char *literal);
/* Writes valid UTF-8 as a JSON string. */
MBI bool mbi_write_string(mbi_writer *writer, const char *text, size_t length);
/* Checks and writes a value that stands at `depth`; `name` begins its path in diagnostics. */
MBI bool mbi_write_value(mbi_writer *writer, const cJSON *value, unsigned depth, const char *name);

/* --- request.c: the two request frames --- */

typedef struct {
    cJSON *tree;
    mb_target targets[MB_TARGETS_MAX];
    mb_batch batch;
    mbi_big_numbers big_numbers;
} mbi_request;

/* Checks the payload of the first frame. */
MBI bool mbi_request_hello(const mbi_buffer *payload, mbi_fault *fault);
/* Checks the payload of the second frame and builds the request. The caller frees it, also after a
 * refusal. */
MBI bool mbi_request_invoke(mbi_request *request, const mbi_buffer *payload, mbi_fault *fault);
MBI void mbi_request_free(mbi_request *request);

/* --- results.c: from what a handler gave to the answer --- */

/* Checks the results and appends both frames of the answer to `out`. */
MBI bool mbi_answer(const mbi_request *request, const cJSON *results, mbi_buffer *out,
                    mbi_fault *fault);

/* --- actions.c: handlers --- */

struct mb_context {
    void *user;
    /* What mb_target_error() made: an error object, owned. */
    cJSON *error;
    bool error_set;
    char reason[512];
};

MBI bool mbi_actions_check(const mb_action *actions, mbi_fault *fault);
/* Refuses if a handler of the whole batch gave nothing; `who` names it. */
MBI bool mbi_handler_done(const cJSON *results, mb_context *context, const char *who,
                          mbi_fault *fault);
/* Calls the handler of the request's action. `*results` is owned by the caller. */
MBI bool mbi_dispatch(const mb_action *actions, const mbi_request *request, cJSON **results,
                      mbi_fault *fault);

/* Refuses for want of memory. Always false. */
MBI bool mbi_refuse_memory(mbi_fault *fault, const char *what);

#endif
