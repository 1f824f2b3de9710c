/* From what a handler gave to the two frames of the answer (P1-SDK-04, P1-SDK-05). */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define HEADER 4
#define PLACE_MAX (MBI_QUOTED_MAX + 64)

/* The checked results: the data or the error of each row, and the target it belongs to. */
typedef struct {
    size_t count;
    struct {
        const mb_target *target;
        const cJSON *data;
        const cJSON *error;
    } rows[MB_TARGETS_MAX];
} checked;

static const mb_target *find_target(const mb_batch *batch, const char *id)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (strcmp(batch->targets[i].id, id) == 0) {
            return &batch->targets[i];
        }
    }
    return NULL;
}

static void place_of(char place[PLACE_MAX], size_t index, const char *target)
{
    char quoted[MBI_QUOTED_MAX];
    if (target == NULL) {
        (void)snprintf(place, PLACE_MAX, "results[%zu]", index);
    } else {
        (void)snprintf(place, PLACE_MAX, "results[%zu], target %s", index,
                       mbi_quote(target, quoted));
    }
}

/* Gives the fields of a row. No row has more than three. */
static bool row_fields(const cJSON *row, const char *place, const cJSON **target,
                       const cJSON **data, const cJSON **error, mbi_fault *fault)
{
    char quoted[MBI_QUOTED_MAX];
    *target = *data = *error = NULL;
    for (const cJSON *field = row->child; field != NULL; field = field->next) {
        const char *name = field->string == NULL ? "" : field->string;
        const cJSON **into = strcmp(name, "target") == 0  ? target
                             : strcmp(name, "data") == 0  ? data
                             : strcmp(name, "error") == 0 ? error
                                                          : NULL;
        if (into == NULL || *into != NULL) {
            return mbi_refuse(fault, MB_OUTPUT_RESULT_FIELDS, "%s: %s field %s", place,
                              into == NULL ? "unknown" : "a second", mbi_quote(name, quoted));
        }
        *into = field;
    }
    if (*target == NULL) {
        return mbi_refuse(fault, MB_OUTPUT_RESULT_FIELDS, "%s: missing field \"target\"", place);
    }
    if (!cJSON_IsString(*target) || (*target)->valuestring == NULL) {
        return mbi_refuse(fault, MB_OUTPUT_RESULT_FIELDS, "%s: target is not a string", place);
    }
    return true;
}

/* Exactly a code and a message, both strings. */
static bool error_fields(const cJSON *error, const cJSON **code, const cJSON **message)
{
    *code = *message = NULL;
    if (!cJSON_IsObject(error)) {
        return false;
    }
    for (const cJSON *field = error->child; field != NULL; field = field->next) {
        const char *name = field->string == NULL ? "" : field->string;
        const cJSON **into = strcmp(name, "code") == 0      ? code
                             : strcmp(name, "message") == 0 ? message
                                                            : NULL;
        if (into == NULL || *into != NULL || !cJSON_IsString(field) || field->valuestring == NULL) {
            return false;
        }
        *into = field;
    }
    return *code != NULL && *message != NULL;
}

static bool check_error(const cJSON *error, const char *place, mbi_fault *fault)
{
    const cJSON *code;
    const cJSON *message;
    char quoted[MBI_QUOTED_MAX];
    if (!error_fields(error, &code, &message)) {
        return mbi_refuse(fault, MB_OUTPUT_ERROR_FIELDS,
                          "%s: the error is not exactly the strings code and message", place);
    }
    if (!mbi_is_identifier(code->valuestring)) {
        return mbi_refuse(fault, MB_OUTPUT_ERROR_CODE,
                          "%s: the error code %s is no identifier of 1 to %d characters", place,
                          mbi_quote(code->valuestring, quoted), MBI_IDENTIFIER_MAX);
    }
    const size_t length = mbi_code_points(message->valuestring, strlen(message->valuestring));
    if (length > MB_MESSAGE_MAX) {
        return mbi_refuse(fault, MB_OUTPUT_ERROR_MESSAGE,
                          "%s: the error message has %zu code points, the limit is %d", place,
                          length, MB_MESSAGE_MAX);
    }
    return true;
}

static bool check_row(const mb_batch *batch, const cJSON *row, checked *done, mbi_fault *fault)
{
    const size_t index = done->count;
    const cJSON *target;
    const cJSON *data;
    const cJSON *error;
    char place[PLACE_MAX];
    if (!cJSON_IsObject(row)) {
        return mbi_refuse(fault, MB_OUTPUT_RESULTS_TYPE,
                          "results[%zu]: a result is an object with target and data or error, "
                          "this is none; mb_result_data() makes one",
                          index);
    }
    place_of(place, index, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "target")));
    if (!row_fields(row, place, &target, &data, &error, fault)) {
        return false;
    }
    const mb_target *known = find_target(batch, target->valuestring);
    if (known == NULL) {
        return mbi_refuse(fault, MB_OUTPUT_TARGET_UNKNOWN, "%s: the batch has no such target",
                          place);
    }
    for (size_t i = 0; i < index; i++) {
        if (done->rows[i].target == known) {
            return mbi_refuse(fault, MB_OUTPUT_TARGET_DUPLICATE,
                              "%s: this target has a result already, results[%zu]", place, i);
        }
    }
    if (data != NULL && error != NULL) {
        return mbi_refuse(fault, MB_OUTPUT_OUTCOME_BOTH, "%s: both data and error", place);
    }
    if (data == NULL && error == NULL) {
        return mbi_refuse(fault, MB_OUTPUT_OUTCOME_MISSING, "%s: neither data nor error", place);
    }
    if (error != NULL && !check_error(error, place, fault)) {
        return false;
    }
    /* Each row has a target of its own, so there are never more than the batch has. */
    done->rows[index].target = known;
    done->rows[index].data = data;
    done->rows[index].error = error;
    done->count++;
    return true;
}

static bool check_results(const mb_batch *batch, const cJSON *results, checked *done,
                          mbi_fault *fault)
{
    done->count = 0;
    if (!cJSON_IsArray(results)) {
        return mbi_refuse(fault, MB_OUTPUT_RESULTS_TYPE,
                          "results: the handler gave no array of results, one for each target");
    }
    for (const cJSON *row = results->child; row != NULL; row = row->next) {
        if (!check_row(batch, row, done, fault)) {
            return false;
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        size_t row = 0;
        while (row < done->count && done->rows[row].target != &batch->targets[i]) {
            row++;
        }
        if (row == done->count) {
            char quoted[MBI_QUOTED_MAX];
            return mbi_refuse(fault, MB_OUTPUT_TARGET_MISSING,
                              "results: target %s, targets[%zu], has no result",
                              mbi_quote(batch->targets[i].id, quoted), i);
        }
    }
    return true;
}

static bool write_row(mbi_writer *writer, const checked *done, size_t index)
{
    const mb_target *target = done->rows[index].target;
    char place[PLACE_MAX];
    place_of(place, index, target->id);
    writer->place = place;
    const bool is_data = done->rows[index].data != NULL;
    const cJSON *value = is_data ? done->rows[index].data : done->rows[index].error;
    const bool good = mbi_write_text(writer, index == 0 ? "{\"target\":" : ",{\"target\":") &&
                      mbi_write_string(writer, target->id, target->length) &&
                      mbi_write_text(writer, is_data ? ",\"data\":" : ",\"error\":") &&
                      mbi_write_value(writer, value, MBI_DATA_DEPTH, is_data ? "data" : "error") &&
                      mbi_write_text(writer, "}");
    writer->place = "results";
    return good;
}

static bool write_result_message(mbi_writer *writer, const mbi_request *request,
                                 const checked *done)
{
    if (!mbi_write_text(writer, "{\"version\":1,\"type\":\"result\",\"id\":") ||
        !mbi_write_string(writer, request->batch.id, strlen(request->batch.id)) ||
        !mbi_write_text(writer, ",\"results\":[")) {
        return false;
    }
    for (size_t i = 0; i < done->count; i++) {
        if (!write_row(writer, done, i)) {
            return false;
        }
    }
    return mbi_write_text(writer, "]}");
}

static void set_header(mbi_buffer *out, size_t frame)
{
    const size_t length = out->length - frame - HEADER;
    for (size_t i = 0; i < HEADER; i++) {
        out->bytes[frame + i] = (unsigned char)((length >> (8 * (HEADER - 1 - i))) & 0xFF);
    }
}

/* Leaves room for a header. */
static bool begin_frame(mbi_buffer *out, size_t *frame, mbi_fault *fault)
{
    *frame = out->length;
    return mbi_append(out, "\0\0\0\0", HEADER) || mbi_refuse_memory(fault, "a frame");
}

MBI bool mbi_answer(const mbi_request *request, const cJSON *results, mbi_buffer *out,
                    mbi_fault *fault)
{
    static const char hello[] = "{\"version\":1,\"type\":\"hello\",\"protocol\":1}";
    checked done;
    size_t frame;
    if (!check_results(&request->batch, results, &done, fault) ||
        !begin_frame(out, &frame, fault)) {
        return false;
    }
    if (!mbi_append(out, hello, sizeof hello - 1)) {
        return mbi_refuse_memory(fault, "the hello frame");
    }
    set_header(out, frame);
    if (!begin_frame(out, &frame, fault)) {
        return false;
    }
    mbi_writer writer;
    writer.out = out;
    writer.end = out->length + MB_FRAME_MAX;
    writer.passed_on = &request->big_numbers;
    writer.place = "results";
    writer.fault = fault;
    if (!write_result_message(&writer, request, &done)) {
        return false;
    }
    set_header(out, frame);
    return true;
}
