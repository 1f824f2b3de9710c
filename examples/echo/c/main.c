#include <modberth_sdk.h>

static cJSON *echo(const mb_target *target, const cJSON *parameters, mb_context *context)
{
    const char *message = mb_param_string(parameters, "message");
    if (message == NULL) {
        return mb_target_error(context, MB_UNSUPPORTED_ACTION, "Echo needs a message.");
    }
    cJSON *data = cJSON_CreateObject();
    if (cJSON_AddStringToObject(data, "message", message) == NULL ||
        cJSON_AddNumberToObject(data, "index", (double)target->index) == NULL) {
        cJSON_Delete(data);
        return mb_failed(context, "no memory is left");
    }
    return data;
}

static const mb_action actions[] = {{.name = "echo", .each = echo}, {0}};

int main(void)
{
    return mb_run(actions);
}
