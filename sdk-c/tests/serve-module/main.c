/* A module in the raw form: one callback over the untouched request. The action says what it gives.
 * With some words it is a module with an unusual table instead. */
#include <stdio.h>
#include <string.h>

#include <modberth_sdk.h>

static cJSON *answer(const cJSON *request, mb_context *context)
{
    const char *action = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "action"));
    if (action == NULL || strcmp(action, "nothing") == 0) {
        return NULL;
    }
    if (strcmp(action, "reason") == 0) {
        return context == NULL ? NULL : mb_failed(context, "the reason");
    }
    if (strcmp(action, "text") == 0) {
        return cJSON_CreateString("no array");
    }
    /* Each target gets the whole request, and what user points to. */
    cJSON *results = cJSON_CreateArray();
    const cJSON *target = NULL;
    cJSON_ArrayForEach(target, cJSON_GetObjectItemCaseSensitive(request, "targets"))
    {
        cJSON *result = cJSON_CreateObject();
        (void)cJSON_AddItemToArray(results, result);
        (void)cJSON_AddItemToObject(result, "target", cJSON_Duplicate(target, 1));
        cJSON *data = cJSON_AddObjectToObject(result, "data");
        (void)cJSON_AddItemToObject(data, "request", cJSON_Duplicate(request, 1));
        if (context != NULL) {
            (void)cJSON_AddStringToObject(data, "user", mb_user(context));
        }
    }
    return results;
}

static cJSON *plain(const cJSON *request)
{
    return answer(request, NULL);
}

static cJSON *nothing(const mb_target *target, const cJSON *parameters, mb_context *context)
{
    (void)target;
    (void)parameters;
    (void)context;
    return cJSON_CreateNull();
}

#define MANY 1000

/* More actions than one line can name. */
static int run_many(void)
{
    static char names[MANY][16];
    static mb_action actions[MANY + 1];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "a%04d", i);
        actions[i].name = names[i];
        actions[i].each = nothing;
    }
    return mb_run(actions);
}

int main(int argc, char **argv)
{
    static char user[] = "user";
    static const mb_action empty[] = {{0}};
    static const mb_action no_name[] = {{.name = "first", .each = nothing},
                                        {.each = nothing},
                                        {.name = "last", .each = nothing},
                                        {0}};
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        return run_many();
    }
    if (argc > 1 && strcmp(argv[1], "empty") == 0) {
        return mb_run(empty);
    }
    if (argc > 1 && strcmp(argv[1], "no-name") == 0) {
        return mb_run(no_name);
    }
    if (argc > 1 && strcmp(argv[1], "none") == 0) {
        return mb_serve(NULL);
    }
    return argc > 1 && strcmp(argv[1], "with") == 0 ? mb_serve_with(answer, user) : mb_serve(plain);
}
