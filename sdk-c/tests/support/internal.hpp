// The insides of the C SDK for tests in C++.
#ifndef MODBERTH_TESTS_INTERNAL_HPP
#define MODBERTH_TESTS_INTERNAL_HPP

extern "C" {
#include "../../src/internal.h"
}

#endif
