#pragma once
// What entries of `workload:` may hold.

#include "fabric/text/value_form.h"

namespace mrclab::endpoint {

inline constexpr int64_t kMaxRepeats = 1'000'000;

/// The kinds of workload, each a key with the form of its body, in the order in which messages list them.
const std::vector<ValueForm::Key>& workload_kinds();

}  // namespace mrclab::endpoint
