/**
 * @file modberth_sdk.h
 * @brief Make a Modberth module in C: process protocol 1 over cJSON.
 *
 * A module is a program that the host starts once per action. It reads one request from standard
 * input, gives one result for every target and is gone. This SDK reads, checks and writes the
 * frames; the author writes handlers:
 *
 * @code
 * #include <modberth_sdk.h>
 *
 * static cJSON *greet(const mb_target *target, const cJSON *parameters, mb_context *context)
 * {
 *     (void)parameters;
 *     (void)context;
 *     return cJSON_CreateString(target->id);
 * }
 *
 * static const mb_action actions[] = {{.name = "greet", .each = greet}, {0}};
 *
 * int main(void)
 * {
 *     return mb_run(actions);
 * }
 * @endcode
 *
 * @par What a module may rely on
 * The input is a request that the host has checked. The SDK checks it again by the whole strict
 * JSON profile of the process protocols, so a module also refuses a broken host; but it is no
 * gateway for untrusted JSON from anywhere else (P1-SDK-13).
 *
 * @par What a module must not do
 * A handler leaves no detached process behind and writes nothing outside the sandbox: the host
 * kills what is left and shows only scratch space as writable (P1-SDK-13). The SDK itself opens no
 * socket, starts no process and writes no file (P1-SDK-12).
 *
 * @par Standard output
 * While an SDK function runs, file descriptor 1 is a copy of standard error, and it stays so until
 * the process ends. Whatever a handler or its child processes print shows up in the module's
 * diagnostics and cannot damage a frame (P1-SDK-06). When mb_run() or mb_serve() returns, SIGPIPE
 * is ignored, so that flushing what was printed cannot end the process after its answer.
 *
 * @par Memory
 * Arguments named `..._take` are owned by the callee from the call on, also when it fails. Every
 * other pointer is borrowed. What a handler is given is valid until the handler returns.
 *
 * @par Threads
 * The functions keep no global state. Call mb_run() or mb_serve() once, from one thread.
 */
#ifndef MODBERTH_SDK_H
#define MODBERTH_SDK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "modberth_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this SDK, major part. */
#define MB_VERSION_MAJOR 0
/** The version of this SDK, minor part. */
#define MB_VERSION_MINOR 1
/** The version of this SDK, patch part. */
#define MB_VERSION_PATCH 0
/** The version of this SDK as text. */
#define MB_VERSION "0.1.0"

/** The most targets of one batch; the least is 1 (P1-HOST-13). */
#define MB_TARGETS_MAX 64
/** The longest target id and request id, in Unicode code points (P1-HOST-14). */
#define MB_ID_MAX 128
/** The longest message of a target error, in Unicode code points (P1-HOST-11). */
#define MB_MESSAGE_MAX 1024
/** The largest payload of one frame, in bytes (P1-FRAME-02). */
#define MB_FRAME_MAX 1048576
/** The largest whole number, up or down from zero, that JSON carries exactly: 2^53 - 1. */
#define MB_INTEGER_MAX 9007199254740991

/** The code of a target error: the module has no such action, or no use for such a request. */
#define MB_UNSUPPORTED_ACTION "unsupported_action"
/** The code of the error that a target gets when its handler fails. */
#define MB_INTERNAL "internal"

/**
 * @brief One target of the batch: what the action is asked to act on.
 *
 * Its id is opaque: compare it byte for byte, never trim, fold or normalise it.
 */
typedef struct mb_target {
    /** The id: UTF-8 of 1 to #MB_ID_MAX code points, NUL-terminated. */
    const char *id;
    /** The length of @ref id in bytes, without the terminator. */
    size_t length;
    /** The place of the target in the request, counted from 0. */
    size_t index;
} mb_target;

/** @brief One request as a batch handler sees it. */
typedef struct mb_batch {
    /** The targets in request order. */
    const mb_target *targets;
    /** How many they are: 1 to #MB_TARGETS_MAX. */
    size_t count;
    /** The parameters: a JSON object. Read it with the mb_param_… functions. */
    const cJSON *parameters;
    /** The name of the action. */
    const char *action;
    /** The id of the request, 1 to #MB_ID_MAX code points. The SDK copies it into the answer. */
    const char *id;
} mb_batch;

/** @brief What the SDK knows about one call of a handler. It ends when the handler returns. */
typedef struct mb_context mb_context;

/**
 * @brief A handler that is called once for each target.
 *
 * @param target The target to act on.
 * @param parameters The parameters of the request: a JSON object.
 * @param context Passed on to mb_target_error(), mb_failed() and mb_user().
 * @return The data of the target, owned by the SDK from then on: any JSON value, also null as
 *         cJSON_CreateNull(). Or NULL: then the target gets the error that mb_target_error() set,
 *         else the error `internal` with a neutral message, and the other targets go on.
 */
typedef cJSON *(*mb_each_handler)(const mb_target *target, const cJSON *parameters,
                                  mb_context *context);

/**
 * @brief A handler that is called once with the whole batch (P1-SDK-03).
 *
 * @param batch The targets and the parameters.
 * @param context Passed on to mb_failed() and mb_user().
 * @return An array with exactly one result for each target, in any order, owned by the SDK from
 *         then on; make its elements with mb_result_data() and mb_result_error(). NULL ends the
 *         action without a result: #MB_OUTPUT_HANDLER_FAILED.
 */
typedef cJSON *(*mb_batch_handler)(const mb_batch *batch, mb_context *context);

/**
 * @brief A handler over the untouched request (P1-SDK-11).
 *
 * @param request The object `{version, type, id, action, targets, parameters}`, already checked.
 * @return An array of results as for ::mb_batch_handler, owned by the SDK from then on, or NULL.
 */
typedef cJSON *(*mb_serve_handler)(const cJSON *request);

/**
 * @brief A handler over the untouched request that also gets a context, for mb_serve_with().
 *
 * @param request As for ::mb_serve_handler.
 * @param context Passed on to mb_failed() and mb_user().
 * @return As for ::mb_serve_handler.
 */
typedef cJSON *(*mb_serve_with_handler)(const cJSON *request, mb_context *context);

/**
 * @brief One row in the table of actions: a name and exactly one handler.
 *
 * A row of NULLs ends the table. One with a handler and no name is refused.
 */
typedef struct mb_action {
    /** The name that the manifest declares: `[a-z][a-z0-9_.-]{0,95}`, once per table. */
    const char *name;
    /** The handler for each target, or NULL. */
    mb_each_handler each;
    /** The handler for the whole batch, or NULL. */
    mb_batch_handler batch;
    /** Whatever the handler needs; it gets it back from mb_user(). The SDK does not touch it. */
    void *user;
} mb_action;

/**
 * @brief Serves one request with a table of actions.
 *
 * Reads exactly two frames and the end of input from standard input, calls the handler, checks
 * what it gave as the host will, and writes both frames of the answer. An action that is not in the
 * table gives every target the error `unsupported_action` (P1-SDK-10), and one line on standard
 * error names the actions that are in it.
 *
 * Every refusal leaves standard output empty and writes one line `modberth: CODE: TEXT` of at most
 * 2,048 bytes to standard error; the codes are in modberth_codes.h (P1-SDK-07).
 *
 * @param actions The table; it ends with a row whose name is NULL.
 * @return The exit status for the process: 0 when the frames are written, else 1.
 */
int mb_run(const mb_action *actions);

/**
 * @brief Serves one request with one callback that gets the request as it is (P1-SDK-11).
 *
 * Everything else is as in mb_run().
 *
 * @param handler The callback.
 * @return The exit status for the process: 0 when the frames are written, else 1.
 */
int mb_serve(mb_serve_handler handler);

/**
 * @brief As mb_serve(), for a callback that needs something of its own.
 *
 * @param handler The callback.
 * @param user What mb_user() gives the callback. The SDK does not touch it.
 * @return The exit status for the process: 0 when the frames are written, else 1.
 */
int mb_serve_with(mb_serve_with_handler handler, void *user);

/**
 * @brief In a handler for each target: gives this target an error instead of data.
 *
 * @code
 * return mb_target_error(context, "not_found", "There is no such system.");
 * @endcode
 *
 * A code that is no identifier (`[a-z][a-z0-9_.-]{0,95}`) or a message of more than #MB_MESSAGE_MAX
 * code points is a fault of the module and ends the action (P1-SDK-05).
 *
 * @param context The context of the call.
 * @param code The code, for programs.
 * @param message The message, for people. UTF-8.
 * @return Always NULL, so that a handler can return it.
 */
cJSON *mb_target_error(mb_context *context, const char *code, const char *message);

/**
 * @brief In any handler: says why it fails unexpectedly. The reason goes to standard error.
 *
 * @param context The context of the call.
 * @param reason What happened, for the module's author. UTF-8; cut after 512 bytes.
 * @return Always NULL, so that a handler can return it.
 */
cJSON *mb_failed(mb_context *context, const char *reason);

/**
 * @brief The @ref mb_action.user pointer of the action that is being served.
 *
 * @param context The context of the call.
 * @return The pointer from the table or from mb_serve_with(), NULL if there is none.
 */
void *mb_user(const mb_context *context);

/**
 * @brief In a batch handler: makes the result of a target that has data.
 *
 * @param target The target.
 * @param data_take The data, owned by the result from then on. NULL makes the call fail.
 * @return The result, owned by the caller (add it to the array), or NULL if memory ran out; the
 *         data is freed then.
 */
cJSON *mb_result_data(const mb_target *target, cJSON *data_take);

/**
 * @brief In a batch handler: makes the result of a target that has an error.
 *
 * @param target The target.
 * @param code The code, as for mb_target_error().
 * @param message The message, as for mb_target_error().
 * @return The result, owned by the caller (add it to the array), or NULL if memory ran out.
 */
cJSON *mb_result_error(const mb_target *target, const char *code, const char *message);

/**
 * @brief A parameter, whatever its type.
 *
 * @param parameters The parameters of the request.
 * @param name Its name, compared byte for byte.
 * @return The value, borrowed, or NULL if the request has no such parameter.
 */
const cJSON *mb_param(const cJSON *parameters, const char *name);

/**
 * @brief A parameter of type string.
 *
 * @param parameters The parameters of the request.
 * @param name Its name.
 * @return Its text, borrowed: UTF-8, NUL-terminated, without NUL inside. NULL if the parameter is
 *         absent or no string.
 */
const char *mb_param_string(const cJSON *parameters, const char *name);

/**
 * @brief A parameter of type string-list.
 *
 * @param parameters The parameters of the request.
 * @param name Its name.
 * @return The array, borrowed, every element a string. NULL if the parameter is absent or no list
 *         of strings.
 */
const cJSON *mb_param_strings(const cJSON *parameters, const char *name);

/**
 * @brief A parameter of type integer.
 *
 * @param parameters The parameters of the request.
 * @param name Its name.
 * @param[out] value Its value, within plus or minus #MB_INTEGER_MAX. Untouched on failure.
 * @return Whether there is such a parameter and it is a whole number.
 */
bool mb_param_integer(const cJSON *parameters, const char *name, int64_t *value);

/**
 * @brief A parameter of type number.
 *
 * @param parameters The parameters of the request.
 * @param name Its name.
 * @param[out] value Its value, always finite. Untouched on failure.
 * @return Whether there is such a parameter and it is a number.
 */
bool mb_param_number(const cJSON *parameters, const char *name, double *value);

/**
 * @brief A parameter of type boolean.
 *
 * @param parameters The parameters of the request.
 * @param name Its name.
 * @param[out] value Its value. Untouched on failure.
 * @return Whether there is such a parameter and it is true or false.
 */
bool mb_param_boolean(const cJSON *parameters, const char *name, bool *value);

/**
 * @brief The version of the SDK that the program runs with.
 *
 * @return #MB_VERSION as it stood when the SDK was compiled.
 */
const char *mb_version(void);

#ifdef __cplusplus
}
#endif

#endif
