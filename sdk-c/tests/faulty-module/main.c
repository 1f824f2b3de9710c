/* A module of the C SDK whose handlers go wrong on demand. Tests feed it frames and look at what
 * comes out. In most batch handlers the first target of the batch is the one that is wrong. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <modberth_sdk.h>

static void *need(void *memory)
{
    if (memory == NULL) {
        (void)fprintf(stderr, "faulty-module: no memory is left\n");
        exit(70);
    }
    return memory;
}

static void add(cJSON *array, cJSON *item)
{
    (void)cJSON_AddItemToArray(array, need(item));
}

static cJSON *index_data(const mb_target *target)
{
    cJSON *data = need(cJSON_CreateObject());
    (void)need(cJSON_AddNumberToObject(data, "index", (double)target->index));
    return data;
}

/* The right result of one target. */
static cJSON *good(const mb_target *target)
{
    return mb_result_data(target, index_data(target));
}

/* The right results of all targets from `first` on, behind those that are there. */
static cJSON *rest(cJSON *results, const mb_batch *batch, size_t first)
{
    for (size_t i = first; i < batch->count; i++) {
        add(results, good(&batch->targets[i]));
    }
    return results;
}

/* The given result, owned, for the first target and right ones for the others. */
static cJSON *first_is(const mb_batch *batch, cJSON *result)
{
    cJSON *results = need(cJSON_CreateArray());
    add(results, result);
    return rest(results, batch, 1);
}

static cJSON *first_data(const mb_batch *batch, cJSON *data)
{
    return first_is(batch, mb_result_data(&batch->targets[0], need(data)));
}

static cJSON *repeated(const char *piece, size_t count)
{
    const size_t length = strlen(piece);
    char *text = need(malloc(length * count + 1));
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * length, piece, length);
    }
    text[length * count] = '\0';
    cJSON *string = need(cJSON_CreateString(text));
    free(text);
    return string;
}

static bool is_bad(const mb_target *target)
{
    return strncmp(target->id, "bad", 3) == 0;
}

#define BATCH(name) static cJSON *name(const mb_batch *batch, mb_context *context)
#define EACH(name)                                                                                 \
    static cJSON *name(const mb_target *target, const cJSON *parameters, mb_context *context)

BATCH(ok)
{
    (void)context;
    return rest(need(cJSON_CreateArray()), batch, 0);
}

BATCH(reversed)
{
    (void)context;
    cJSON *results = need(cJSON_CreateArray());
    for (size_t i = batch->count; i > 0; i--) {
        add(results, good(&batch->targets[i - 1]));
    }
    return results;
}

BATCH(raise_batch)
{
    (void)batch;
    return mb_failed(context, "raised on purpose");
}

EACH(each_raise)
{
    (void)parameters;
    return is_bad(target) ? mb_failed(context, "raised on purpose") : index_data(target);
}

EACH(each_target_error)
{
    (void)parameters;
    return is_bad(target) ? mb_target_error(context, "not_found", "no such target")
                          : index_data(target);
}

BATCH(missing)
{
    (void)context;
    return rest(need(cJSON_CreateArray()), batch, 1);
}

BATCH(unknown)
{
    (void)context;
    const mb_target stranger = {"stranger", 8, 0};
    return first_is(batch, good(&stranger));
}

BATCH(duplicate)
{
    (void)context;
    cJSON *results = need(cJSON_CreateArray());
    add(results, good(&batch->targets[0]));
    add(results, good(&batch->targets[0]));
    return rest(results, batch, 2);
}

BATCH(both)
{
    (void)context;
    cJSON *result = need(good(&batch->targets[0]));
    cJSON *error = need(cJSON_AddObjectToObject(result, "error"));
    (void)need(cJSON_AddStringToObject(error, "code", "both"));
    (void)need(cJSON_AddStringToObject(error, "message", "both"));
    return first_is(batch, result);
}

BATCH(neither)
{
    (void)context;
    cJSON *result = need(cJSON_CreateObject());
    (void)need(cJSON_AddStringToObject(result, "target", batch->targets[0].id));
    return first_is(batch, result);
}

BATCH(extra_field)
{
    (void)context;
    cJSON *result = need(good(&batch->targets[0]));
    (void)need(cJSON_AddTrueToObject(result, "extra"));
    return first_is(batch, result);
}

BATCH(bad_code)
{
    (void)context;
    return first_is(batch, mb_result_error(&batch->targets[0], "Not Found", "x"));
}

EACH(each_bad_code)
{
    (void)target;
    (void)parameters;
    return mb_target_error(context, "Not Found", "x");
}

static cJSON *message_of(const mb_batch *batch, size_t length)
{
    cJSON *message = repeated("\xC3\xA9", length);
    cJSON *result =
        mb_result_error(&batch->targets[0], "long_message", cJSON_GetStringValue(message));
    cJSON_Delete(message);
    return first_is(batch, result);
}

BATCH(long_message)
{
    (void)context;
    return message_of(batch, MB_MESSAGE_MAX + 1);
}

BATCH(message_1024)
{
    (void)context;
    return message_of(batch, MB_MESSAGE_MAX);
}

BATCH(not_a_number)
{
    (void)context;
    return first_data(batch, cJSON_CreateNumber((double)NAN));
}

BATCH(infinite)
{
    (void)context;
    return first_data(batch, cJSON_CreateNumber((double)INFINITY));
}

BATCH(big_integer)
{
    (void)context;
    return first_data(batch, cJSON_CreateNumber((double)MB_INTEGER_MAX + 1.0));
}

BATCH(big_integer_ok)
{
    (void)context;
    return first_data(batch, cJSON_CreateNumber((double)MB_INTEGER_MAX));
}

BATCH(surrogate)
{
    (void)context;
    return first_data(batch, cJSON_CreateString("\xED\xA0\x80"));
}

/* A list that alone passes the limit of a frame. */
static cJSON *huge(void)
{
    cJSON *list = need(cJSON_CreateArray());
    for (int i = 0; i < 64; i++) {
        add(list, repeated("x", 60000));
    }
    return list;
}

BATCH(too_big)
{
    (void)context;
    return first_data(batch, huge());
}

/* The same faults in the each-target form, on targets whose id begins "bad". */
#define EACH_BAD(name, data)                                                                       \
    EACH(name)                                                                                     \
    {                                                                                              \
        (void)parameters;                                                                          \
        (void)context;                                                                             \
        return is_bad(target) ? need(data) : index_data(target);                                   \
    }

EACH_BAD(each_nan, cJSON_CreateNumber((double)NAN))
EACH_BAD(each_infinity, cJSON_CreateNumber((double)INFINITY))
EACH_BAD(each_big_integer, cJSON_CreateNumber((double)MB_INTEGER_MAX + 1.0))
EACH_BAD(each_surrogate, cJSON_CreateString("\xED\xA0\x80"))
EACH_BAD(each_too_big, huge())

EACH(each_long_message)
{
    (void)parameters;
    if (!is_bad(target)) {
        return index_data(target);
    }
    cJSON *message = repeated("\xC3\xA9", MB_MESSAGE_MAX + 1);
    cJSON *data = mb_target_error(context, "long_message", cJSON_GetStringValue(message));
    cJSON_Delete(message);
    return data;
}

BATCH(not_a_list)
{
    (void)batch;
    (void)context;
    return need(cJSON_CreateObject());
}

BATCH(print)
{
    /* Neither is flushed: the end of the process does that. */
    (void)printf("stray print\n");
    (void)puts("stray print");
    return ok(batch, context);
}

BATCH(child_print)
{
    const pid_t child = fork();
    if (child < 0) {
        return mb_failed(context, "fork failed");
    }
    if (child == 0) {
        (void)execl("/bin/echo", "echo", "stray", "child", (char *)NULL);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) {
        return mb_failed(context, "the child failed");
    }
    return ok(batch, context);
}

EACH(number_echo)
{
    (void)target;
    const cJSON *value = mb_param(parameters, "value");
    return value == NULL ? mb_failed(context, "no parameter value") : cJSON_Duplicate(value, 1);
}

/* Data of the kind, count and unit that the parameters say. */
EACH(made)
{
    (void)target;
    const char *kind = mb_param_string(parameters, "kind");
    const char *unit = mb_param_string(parameters, "unit");
    int64_t wanted = 0;
    if (kind == NULL || unit == NULL || !mb_param_integer(parameters, "count", &wanted)) {
        return mb_failed(context, "a parameter is missing");
    }
    const size_t count = (size_t)wanted;
    if (strcmp(kind, "text") == 0) {
        return repeated(unit, count);
    }
    if (strcmp(kind, "name") == 0) {
        cJSON *name = repeated(unit, count);
        cJSON *data = need(cJSON_CreateObject());
        (void)need(cJSON_AddNullToObject(data, cJSON_GetStringValue(name)));
        cJSON_Delete(name);
        return data;
    }
    if (strcmp(kind, "members") == 0) {
        cJSON *data = need(cJSON_CreateObject());
        for (size_t i = 0; i < count; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "%zu", i);
            (void)need(cJSON_AddNullToObject(data, name));
        }
        return data;
    }
    const bool levels = strcmp(kind, "levels") == 0;
    cJSON *data = need(cJSON_CreateArray());
    for (size_t i = levels ? 1 : 0; i < count; i++) {
        if (levels) {
            cJSON *outer = need(cJSON_CreateArray());
            add(outer, data);
            data = outer;
        } else {
            add(data, need(cJSON_CreateNull()));
        }
    }
    return data;
}

/* The results that the parameter rows holds, whatever they are. */
BATCH(rows)
{
    const cJSON *rows = mb_param(batch->parameters, "rows");
    return rows == NULL ? mb_failed(context, "no parameter rows") : cJSON_Duplicate(rows, 1);
}

BATCH(keys)
{
    (void)context;
    cJSON *results = need(cJSON_CreateArray());
    for (size_t i = 0; i < batch->count; i++) {
        cJSON *data = need(cJSON_CreateObject());
        cJSON *proto = need(cJSON_AddObjectToObject(data, "__proto__"));
        (void)need(cJSON_AddNumberToObject(proto, "x", 1));
        (void)need(cJSON_AddNumberToObject(data, "constructor", 2));
        (void)need(cJSON_AddNumberToObject(data, "a", 1));
        (void)need(cJSON_AddNumberToObject(data, "A", 2));
        add(results, mb_result_data(&batch->targets[i], data));
    }
    return results;
}

BATCH(control)
{
    (void)context;
    cJSON *results = need(cJSON_CreateArray());
    for (size_t i = 0; i < batch->count; i++) {
        add(results,
            mb_result_data(&batch->targets[i], cJSON_CreateString("\x01\x1F\"\\\xE2\x80\xA8")));
    }
    return results;
}

static const mb_action actions[] = {
    {.name = "ok", .batch = ok},
    {.name = "reversed", .batch = reversed},
    {.name = "raise", .batch = raise_batch},
    {.name = "each-raise", .each = each_raise},
    {.name = "each-target-error", .each = each_target_error},
    {.name = "missing", .batch = missing},
    {.name = "unknown", .batch = unknown},
    {.name = "duplicate", .batch = duplicate},
    {.name = "both", .batch = both},
    {.name = "neither", .batch = neither},
    {.name = "extra-field", .batch = extra_field},
    {.name = "bad-code", .batch = bad_code},
    {.name = "each-bad-code", .each = each_bad_code},
    {.name = "long-message", .batch = long_message},
    {.name = "message-1024", .batch = message_1024},
    {.name = "nan", .batch = not_a_number},
    {.name = "infinity", .batch = infinite},
    {.name = "big-integer", .batch = big_integer},
    {.name = "big-integer-ok", .batch = big_integer_ok},
    {.name = "surrogate", .batch = surrogate},
    {.name = "too-big", .batch = too_big},
    {.name = "not-a-list", .batch = not_a_list},
    {.name = "print", .batch = print},
    {.name = "child-print", .batch = child_print},
    {.name = "each-long-message", .each = each_long_message},
    {.name = "each-nan", .each = each_nan},
    {.name = "each-infinity", .each = each_infinity},
    {.name = "each-big-integer", .each = each_big_integer},
    {.name = "each-surrogate", .each = each_surrogate},
    {.name = "each-too-big", .each = each_too_big},
    {.name = "number-echo", .each = number_echo},
    {.name = "made", .each = made},
    {.name = "rows", .batch = rows},
    {.name = "keys", .batch = keys},
    {.name = "control", .batch = control},
    {0},
};

int main(int argc, char **argv)
{
    /* With this word the module follows the locale of its environment, as many programs do. */
    if (argc > 1 && strcmp(argv[1], "locale") == 0 && setlocale(LC_ALL, "") == NULL) {
        return 70;
    }
    return mb_run(actions);
}
