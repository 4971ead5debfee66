#pragma once
// For nodes whose packets and events a test does not look at.

#include "fabric/node/no_observer.h"

namespace mrclab::test {

using mrclab::NoObserver;

}  // namespace mrclab::test
