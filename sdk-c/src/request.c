/* The two frames of a request: strict JSON, then exactly the two messages (P1-SDK-01, P1-SDK-02).
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

static const char *const fields_of_hello[] = {"version", "type", "host_api", NULL};
static const char *const fields_of_invoke[] = {"version", "type",       "id", "action",
                                               "targets", "parameters", NULL};

/* One payload: its text, where its members stand, and its tree. */
typedef struct {
    unsigned number;
    const mbi_buffer *payload;
    mbi_root root;
    cJSON *tree;
} request_message;

static bool check_json(request_message *m, mbi_fault *fault)
{
    mbi_json_fault json;
    char place[32];
    (void)snprintf(place, sizeof place, "frame %u", m->number);
    return mbi_json_check(m->payload->bytes, m->payload->length, &m->root, &json) ||
           mbi_refuse_json(fault, place, &json);
}

static bool parse(request_message *m, mbi_fault *fault)
{
    /* The length includes the NUL, so that cJSON never reads beyond it. */
    m->tree =
        cJSON_ParseWithLengthOpts((const char *)m->payload->bytes, m->payload->length + 1, NULL, 1);
    return m->tree != NULL || mbi_refuse_memory(fault, "a request, or cJSON could not read it");
}

static bool refuse_message(const request_message *m, mbi_fault *fault, const char *what,
                           const char *field)
{
    char quoted[MBI_QUOTED_MAX];
    return mbi_refuse(fault, MB_REQUEST_MESSAGE, "frame %u: %s %s", m->number, what,
                      mbi_quote(field, quoted));
}

/* Exactly these fields. That none stands twice is known. */
static bool check_fields(const request_message *m, const char *const *fields, mbi_fault *fault)
{
    for (const cJSON *member = m->tree->child; member != NULL; member = member->next) {
        size_t i = 0;
        while (fields[i] != NULL && strcmp(fields[i], member->string) != 0) {
            i++;
        }
        if (fields[i] == NULL) {
            return refuse_message(m, fault, "unknown field", member->string);
        }
    }
    for (size_t i = 0; fields[i] != NULL; i++) {
        if (cJSON_GetObjectItemCaseSensitive(m->tree, fields[i]) == NULL) {
            return refuse_message(m, fault, "missing field", fields[i]);
        }
    }
    return true;
}

/* A field must be the integer 1 as it is written: cJSON would take 1.0 and 1e0 for it. */
static bool check_one(const request_message *m, const char *field, const char *code,
                      mbi_fault *fault)
{
    size_t i = 0;
    const cJSON *member = m->tree->child;
    while (strcmp(member->string, field) != 0) {
        member = member->next;
        i++;
    }
    const unsigned char *value = m->payload->bytes + m->root.values[i].start;
    const size_t length = m->root.values[i].end - m->root.values[i].start;
    if (length == 1 && value[0] == '1') {
        return true;
    }
    char shown[40];
    char quoted[MBI_QUOTED_MAX];
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(length < 32 ? length : 32),
                   (const char *)value);
    return mbi_refuse(fault, code, "frame %u: %s is not the integer 1 but %s", m->number, field,
                      mbi_quote(shown, quoted));
}

static bool check_type(const request_message *m, const char *type, mbi_fault *fault)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(m->tree, "type");
    if (!cJSON_IsString(value)) {
        return refuse_message(m, fault, "no string in field", "type");
    }
    if (strcmp(value->valuestring, type) != 0) {
        return refuse_message(m, fault, "not the type that is due here:", value->valuestring);
    }
    return true;
}

static bool read_message(request_message *m, mbi_fault *fault)
{
    return check_json(m, fault) && parse(m, fault);
}

MBI bool mbi_request_hello(const mbi_buffer *payload, mbi_fault *fault)
{
    request_message m;
    memset(&m, 0, sizeof m);
    m.number = 1;
    m.payload = payload;
    const bool good = read_message(&m, fault) && check_fields(&m, fields_of_hello, fault) &&
                      check_one(&m, "version", MB_REQUEST_VERSION, fault) &&
                      check_type(&m, "hello", fault) &&
                      check_one(&m, "host_api", MB_REQUEST_HOST_API, fault);
    cJSON_Delete(m.tree);
    return good;
}

static bool check_id(const cJSON *id, mbi_fault *fault)
{
    if (!cJSON_IsString(id)) {
        return mbi_refuse(fault, MB_REQUEST_ID, "frame 2: id is not a string");
    }
    const size_t length = mbi_code_points(id->valuestring, strlen(id->valuestring));
    if (length < 1 || length > MB_ID_MAX) {
        return mbi_refuse(fault, MB_REQUEST_ID,
                          "frame 2: id has %zu code points, the bounds are 1 and %d", length,
                          MB_ID_MAX);
    }
    return true;
}

static bool check_target(mbi_request *request, size_t index, const cJSON *item, mbi_fault *fault)
{
    char quoted[MBI_QUOTED_MAX];
    mb_target *target = &request->targets[index];
    if (!cJSON_IsString(item)) {
        return mbi_refuse(fault, MB_REQUEST_TARGET_TYPE,
                          "frame 2: targets[%zu]: the id is not a string", index);
    }
    target->id = item->valuestring;
    target->length = strlen(target->id);
    target->index = index;
    const size_t code_points = mbi_code_points(target->id, target->length);
    if (code_points < 1 || code_points > MB_ID_MAX) {
        return mbi_refuse(fault, MB_REQUEST_TARGET_LENGTH,
                          "frame 2: targets[%zu]: %s has %zu code points, the bounds are 1 and %d",
                          index, mbi_quote(target->id, quoted), code_points, MB_ID_MAX);
    }
    const char *forbidden = strpbrk(target->id, "/\\:");
    if (forbidden != NULL) {
        return mbi_refuse(fault, MB_REQUEST_TARGET_CHARACTER,
                          "frame 2: targets[%zu]: %s holds the forbidden character %c", index,
                          mbi_quote(target->id, quoted), *forbidden);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(request->targets[i].id, target->id) == 0) {
            return mbi_refuse(fault, MB_REQUEST_TARGET_DUPLICATE,
                              "frame 2: targets[%zu]: %s is also targets[%zu]", index,
                              mbi_quote(target->id, quoted), i);
        }
    }
    return true;
}

static bool check_targets(mbi_request *request, const request_message *m, const cJSON *targets,
                          mbi_fault *fault)
{
    if (!cJSON_IsArray(targets)) {
        return refuse_message(m, fault, "no array in field", "targets");
    }
    const size_t count = (size_t)cJSON_GetArraySize(targets);
    if (count < 1 || count > MB_TARGETS_MAX) {
        return mbi_refuse(fault, MB_REQUEST_TARGET_COUNT,
                          "frame 2: targets: there are %zu, the bounds are 1 and %d", count,
                          MB_TARGETS_MAX);
    }
    size_t index = 0;
    for (const cJSON *item = targets->child; item != NULL; item = item->next, index++) {
        if (!check_target(request, index, item, fault)) {
            return false;
        }
    }
    request->batch.targets = request->targets;
    request->batch.count = count;
    return true;
}

static bool check_invoke(mbi_request *request, const request_message *m, mbi_fault *fault)
{
    if (!check_fields(m, fields_of_invoke, fault) ||
        !check_one(m, "version", MB_REQUEST_VERSION, fault) || !check_type(m, "invoke", fault)) {
        return false;
    }
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(m->tree, "id");
    const cJSON *action = cJSON_GetObjectItemCaseSensitive(m->tree, "action");
    const cJSON *targets = cJSON_GetObjectItemCaseSensitive(m->tree, "targets");
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(m->tree, "parameters");
    if (!check_id(id, fault)) {
        return false;
    }
    if (!cJSON_IsString(action) || !mbi_is_identifier(action->valuestring)) {
        return refuse_message(m, fault, "no identifier in field", "action");
    }
    if (!check_targets(request, m, targets, fault)) {
        return false;
    }
    if (!cJSON_IsObject(parameters)) {
        return mbi_refuse(fault, MB_REQUEST_PARAMETERS_TYPE,
                          "frame 2: parameters is not an object");
    }
    request->batch.id = id->valuestring;
    request->batch.action = action->valuestring;
    request->batch.parameters = parameters;
    return true;
}

MBI bool mbi_request_invoke(mbi_request *request, const mbi_buffer *payload, mbi_fault *fault)
{
    request_message m;
    memset(request, 0, sizeof *request);
    memset(&m, 0, sizeof m);
    m.number = 2;
    m.payload = payload;
    const bool good = read_message(&m, fault) && check_invoke(request, &m, fault) &&
                      (mbi_big_numbers_collect(&request->big_numbers, m.tree) ||
                       mbi_refuse_memory(fault, "the numbers of the request"));
    request->tree = m.tree;
    return good;
}

MBI void mbi_request_free(mbi_request *request)
{
    cJSON_Delete(request->tree);
    request->tree = NULL;
    mbi_big_numbers_free(&request->big_numbers);
}
