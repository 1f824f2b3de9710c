/* The header stands alone in C99. */
#include <modberth_sdk.h>

int header_in_c99(void);
int header_in_c99(void)
{
    static const mb_action none[] = {{0}};
    return none[0].name == NULL ? MB_VERSION_MAJOR : MB_TARGETS_MAX;
}
