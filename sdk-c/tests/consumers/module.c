/* The smallest module: each target gets its own id. */
#include <modberth_sdk.h>

static cJSON *name(const mb_target *target, const cJSON *parameters, mb_context *context)
{
    (void)parameters;
    (void)context;
    return cJSON_CreateString(target->id);
}

static const mb_action actions[] = {{.name = "name", .each = name}, {0}};

int main(void)
{
    return mb_run(actions);
}
