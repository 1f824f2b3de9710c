/* One action from the first byte of input to the last byte of output. */
#include "internal.h"

#include <string.h>
#include <unistd.h>

const char *mb_version(void)
{
    return MB_VERSION;
}

/* The forms of a module: a table, or one callback with or without a context. One of them is not
 * NULL. */
typedef struct {
    const mb_action *actions;
    mb_serve_handler serve;
    mb_serve_with_handler serve_with;
    void *user;
} handlers;

/* Each frame is judged before the next one is read, so that the first fault is the one that is
 * named, and nothing waits for input that cannot change the verdict. */
static bool read_frames(mbi_request *request, mbi_buffer payloads[2], mbi_fault *fault)
{
    return mbi_read_frame(STDIN_FILENO, 1, &payloads[0], fault) &&
           mbi_request_hello(&payloads[0], fault) &&
           mbi_read_frame(STDIN_FILENO, 2, &payloads[1], fault) &&
           mbi_request_invoke(request, &payloads[1], fault) && mbi_read_end(STDIN_FILENO, fault);
}

static bool read_request(mbi_request *request, mbi_fault *fault)
{
    mbi_locale locale;
    mbi_buffer payloads[2];
    if (!mbi_locale_enter(&locale, fault)) {
        return false;
    }
    memset(payloads, 0, sizeof payloads);
    const bool good = read_frames(request, payloads, fault);
    mbi_buffer_free(&payloads[0]);
    mbi_buffer_free(&payloads[1]);
    mbi_locale_leave(&locale);
    return good;
}

static bool call(const handlers *handler, const mbi_request *request, cJSON **results,
                 mbi_fault *fault)
{
    if (handler->actions != NULL) {
        return mbi_dispatch(handler->actions, request, results, fault);
    }
    mb_context context;
    memset(&context, 0, sizeof context);
    context.user = handler->user;
    *results = handler->serve != NULL ? handler->serve(request->tree)
                                      : handler->serve_with(request->tree, &context);
    return mbi_handler_done(*results, &context, "the handler", fault);
}

static bool answer(const mbi_request *request, const cJSON *results, mbi_buffer *out,
                   mbi_fault *fault)
{
    mbi_locale locale;
    if (!mbi_locale_enter(&locale, fault)) {
        return false;
    }
    const bool good = mbi_answer(request, results, out, fault);
    mbi_locale_leave(&locale);
    return good;
}

static bool exchange(const handlers *handler, int out_fd, mbi_fault *fault)
{
    mbi_request request;
    mbi_buffer out;
    cJSON *results = NULL;
    memset(&request, 0, sizeof request);
    memset(&out, 0, sizeof out);
    const bool good = read_request(&request, fault) && call(handler, &request, &results, fault) &&
                      answer(&request, results, &out, fault) &&
                      mbi_write_all(out_fd, out.bytes, out.length, fault);
    mbi_buffer_free(&out);
    cJSON_Delete(results);
    mbi_request_free(&request);
    return good;
}

static bool serve_once(const handlers *handler, mbi_fault *fault)
{
    int out_fd = -1;
    bool good = mbi_take_stdout(&out_fd, fault);
    if (good && handler->actions == NULL && handler->serve == NULL && handler->serve_with == NULL) {
        good = mbi_refuse(fault, MB_PROCESS_ACTIONS, "there is neither a table nor a handler");
    }
    good = good && (handler->actions == NULL || mbi_actions_check(handler->actions, fault)) &&
           exchange(handler, out_fd, fault);
    if (out_fd >= 0) {
        (void)close(out_fd);
    }
    return good;
}

static int run(const handlers *handler)
{
    mbi_fault fault;
    const bool good = serve_once(handler, &fault);
    mbi_outlive_readers();
    if (!good) {
        mbi_report(&fault);
    }
    return good ? 0 : 1;
}

int mb_run(const mb_action *actions)
{
    const handlers handler = {actions, NULL, NULL, NULL};
    return run(&handler);
}

int mb_serve(mb_serve_handler handler)
{
    const handlers one = {NULL, handler, NULL, NULL};
    return run(&one);
}

int mb_serve_with(mb_serve_with_handler handler, void *user)
{
    const handlers one = {NULL, NULL, handler, user};
    return run(&one);
}
