/* The table of actions, and calling the handlers in it. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

MBI bool mbi_actions_check(const mb_action *actions, mbi_fault *fault)
{
    char quoted[MBI_QUOTED_MAX];
    size_t i = 0;
    for (; actions[i].name != NULL; i++) {
        const mb_action *action = &actions[i];
        (void)mbi_quote(action->name, quoted);
        if (!mbi_is_identifier(action->name)) {
            return mbi_refuse(fault, MB_PROCESS_ACTIONS,
                              "actions[%zu]: the name %s is no identifier", i, quoted);
        }
        if ((action->each == NULL) == (action->batch == NULL)) {
            return mbi_refuse(fault, MB_PROCESS_ACTIONS,
                              "actions[%zu]: %s needs exactly one of each and batch", i, quoted);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(actions[j].name, action->name) == 0) {
                return mbi_refuse(fault, MB_PROCESS_ACTIONS,
                                  "actions[%zu]: %s is also the name of actions[%zu]", i, quoted,
                                  j);
            }
        }
    }
    /* Such a row would end the table, and every action behind it would be missing in silence. */
    if (actions[i].each != NULL || actions[i].batch != NULL) {
        return mbi_refuse(fault, MB_PROCESS_ACTIONS, "actions[%zu]: there is a handler and no name",
                          i);
    }
    return true;
}

void *mb_user(const mb_context *context)
{
    return context->user;
}

cJSON *mb_failed(mb_context *context, const char *reason)
{
    (void)snprintf(context->reason, sizeof context->reason, "%s", reason == NULL ? "" : reason);
    return NULL;
}

/* Adds text that may be NULL: then the field is left out, and the check of the results names it. */
static bool add_text(cJSON *object, const char *name, const char *text)
{
    return text == NULL || cJSON_AddStringToObject(object, name, text) != NULL;
}

static cJSON *error_object(const char *code, const char *message)
{
    cJSON *error = cJSON_CreateObject();
    if (error == NULL || !add_text(error, "code", code) || !add_text(error, "message", message)) {
        cJSON_Delete(error);
        return NULL;
    }
    return error;
}

cJSON *mb_target_error(mb_context *context, const char *code, const char *message)
{
    cJSON_Delete(context->error);
    context->error = error_object(code, message);
    context->error_set = true;
    return NULL;
}

/* Makes a result out of an outcome that it takes, and that may be NULL for want of memory. */
static cJSON *result_take(const mb_target *target, const char *name, cJSON *outcome)
{
    cJSON *result = outcome == NULL ? NULL : cJSON_CreateObject();
    if (result == NULL || !add_text(result, "target", target->id) ||
        !cJSON_AddItemToObject(result, name, outcome)) {
        cJSON_Delete(outcome);
        cJSON_Delete(result);
        return NULL;
    }
    return result;
}

cJSON *mb_result_data(const mb_target *target, cJSON *data_take)
{
    return result_take(target, "data", data_take);
}

cJSON *mb_result_error(const mb_target *target, const char *code, const char *message)
{
    return result_take(target, "error", error_object(code, message));
}

static bool add_result_take(cJSON *results, cJSON *result)
{
    if (result == NULL || !cJSON_AddItemToArray(results, result)) {
        cJSON_Delete(result);
        return false;
    }
    return true;
}

/* Tells the module's author what its users do not need to know. */
static void trace(const mb_target *target, const char *action, const char *reason)
{
    char id[MBI_QUOTED_MAX];
    char why[MBI_QUOTED_MAX];
    char line[MBI_LINE_MAX];
    const int length = snprintf(
        line, sizeof line, "target %s: the handler of %s failed: %s\n", mbi_quote(target->id, id),
        action, reason[0] == '\0' ? "it gave no data and no error" : mbi_quote(reason, why));
    mbi_diagnose(line, length > 0 ? (size_t)length : 0);
}

/* The outcome of one target as a result. */
static cJSON *each_result(const mb_action *action, const mb_batch *batch, const mb_target *target)
{
    mb_context context;
    memset(&context, 0, sizeof context);
    context.user = action->user;
    cJSON *data = action->each(target, batch->parameters, &context);
    if (!context.error_set) {
        if (data != NULL) {
            return mb_result_data(target, data);
        }
        trace(target, action->name, context.reason);
        return mb_result_error(target, MB_INTERNAL, "The module failed on this target.");
    }
    cJSON *result = result_take(target, "error", context.error);
    /* A handler that set an error and gave data: the check of the results refuses it. */
    if (data != NULL && (result == NULL || !cJSON_AddItemToObject(result, "data", data))) {
        cJSON_Delete(data);
        cJSON_Delete(result);
        return NULL;
    }
    return result;
}

static bool call_each(const mb_action *action, const mb_batch *batch, cJSON **results,
                      mbi_fault *fault)
{
    *results = cJSON_CreateArray();
    if (*results == NULL) {
        return mbi_refuse_memory(fault, "the results");
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!add_result_take(*results, each_result(action, batch, &batch->targets[i]))) {
            return mbi_refuse_memory(fault, "the results");
        }
    }
    return true;
}

MBI bool mbi_handler_done(const cJSON *results, mb_context *context, const char *who,
                          mbi_fault *fault)
{
    char quoted[MBI_QUOTED_MAX];
    /* An error of one target has no meaning here; it is not lost in silence. */
    const bool misplaced = context->error_set;
    cJSON_Delete(context->error);
    context->error = NULL;
    if (results != NULL && !misplaced) {
        return true;
    }
    return mbi_refuse(fault, MB_OUTPUT_HANDLER_FAILED, "%s failed: %s", who,
                      misplaced ? "it called mb_target_error(), which is for each-handlers"
                      : context->reason[0] == '\0' ? "it gave no results"
                                                   : mbi_quote(context->reason, quoted));
}

static bool call_batch(const mb_action *action, const mb_batch *batch, cJSON **results,
                       mbi_fault *fault)
{
    mb_context context;
    char who[MBI_IDENTIFIER_MAX + 32];
    memset(&context, 0, sizeof context);
    context.user = action->user;
    *results = action->batch(batch, &context);
    (void)snprintf(who, sizeof who, "the handler of %s", action->name);
    return mbi_handler_done(*results, &context, who, fault);
}

/* Where the list of actions is cut, in bytes; the number of those left out and an end of line
 * follow, within MBI_LINE_MAX. The same in every language. */
#define ACTIONS_MAX 2000

/* Names the actions there are, for the author who misspelt one. All of them are identifiers. */
static void trace_unknown(const mb_action *actions, const char *action)
{
    char line[MBI_LINE_MAX];
    size_t left = 0;
    while (actions[left].name != NULL) {
        left++;
    }
    size_t used = (size_t)snprintf(line, sizeof line, "action \"%s\": not in this module; %s",
                                   action, left == 0 ? "it has no actions" : "its actions: ");
    const char *before = "";
    while (left > 0 && used + strlen(before) + strlen(actions->name) <= ACTIONS_MAX) {
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", before, actions->name);
        before = ", ";
        actions++;
        left--;
    }
    if (left > 0) {
        used += (size_t)snprintf(line + used, sizeof line - used, " and %zu more", left);
    }
    line[used++] = '\n';
    mbi_diagnose(line, used);
}

static bool unsupported(const mb_action *actions, const mb_batch *batch, cJSON **results,
                        mbi_fault *fault)
{
    char message[MBI_IDENTIFIER_MAX + 64];
    trace_unknown(actions, batch->action);
    (void)snprintf(message, sizeof message, "This module has no action \"%s\".", batch->action);
    *results = cJSON_CreateArray();
    for (size_t i = 0; i < batch->count; i++) {
        if (*results == NULL ||
            !add_result_take(*results,
                             mb_result_error(&batch->targets[i], MB_UNSUPPORTED_ACTION, message))) {
            return mbi_refuse_memory(fault, "the results");
        }
    }
    return true;
}

MBI bool mbi_dispatch(const mb_action *actions, const mbi_request *request, cJSON **results,
                      mbi_fault *fault)
{
    const mb_batch *batch = &request->batch;
    for (const mb_action *action = actions; action->name != NULL; action++) {
        if (strcmp(action->name, batch->action) == 0) {
            return action->each != NULL ? call_each(action, batch, results, fault)
                                        : call_batch(action, batch, results, fault);
        }
    }
    return unsupported(actions, batch, results, fault);
}
