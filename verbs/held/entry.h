#pragma once
// What stands at the beginning of every function that programs call here: a call proves that a thread does not spin, and
// while it lasts the thread must not be stepped.

#include "verbs/held/spin/spin.h"

namespace mrclab::verbs::held {
using Entry = mrclab::held::Call;
}
