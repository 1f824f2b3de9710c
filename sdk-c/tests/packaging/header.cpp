// The header stands alone in C++17.
#include <modberth_sdk.h>

int header_in_cpp17();
int header_in_cpp17()
{
    static const mb_action none[] = {{}};
    return none[0].name == nullptr ? MB_VERSION_MAJOR : MB_TARGETS_MAX;
}
