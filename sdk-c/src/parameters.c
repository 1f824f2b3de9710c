/* Reading parameters. Look-ups tell upper from lower case: cJSON's plain ones would not. */
#include "internal.h"

#include <math.h>

const cJSON *mb_param(const cJSON *parameters, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(parameters, name);
}

const char *mb_param_string(const cJSON *parameters, const char *name)
{
    return cJSON_GetStringValue(mb_param(parameters, name));
}

const cJSON *mb_param_strings(const cJSON *parameters, const char *name)
{
    const cJSON *list = mb_param(parameters, name);
    if (!cJSON_IsArray(list)) {
        return NULL;
    }
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            return NULL;
        }
    }
    return list;
}

bool mb_param_integer(const cJSON *parameters, const char *name, int64_t *value)
{
    double number;
    if (!mb_param_number(parameters, name, &number) || mbi_is_big_number(number) ||
        floor(number) < number) {
        return false;
    }
    *value = (int64_t)number;
    return true;
}

bool mb_param_number(const cJSON *parameters, const char *name, double *value)
{
    const cJSON *number = mb_param(parameters, name);
    if (!cJSON_IsNumber(number)) {
        return false;
    }
    /* Never valueint: it stops at INT_MAX. */
    *value = number->valuedouble;
    return true;
}

bool mb_param_boolean(const cJSON *parameters, const char *name, bool *value)
{
    const cJSON *boolean = mb_param(parameters, name);
    if (!cJSON_IsBool(boolean)) {
        return false;
    }
    *value = cJSON_IsTrue(boolean) != 0;
    return true;
}
