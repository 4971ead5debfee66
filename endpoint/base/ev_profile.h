#pragma once
// Which entropy values a queue pair may use, as a value (MRC API: EV profiles). What it comes to on a
// fabric: ev_profile_values.h.

#include <cstdint>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

/// One field of a generated profile; names as in the MRC API.
struct EvField {
  uint32_t width = 0;     ///< bits, 1 to 32
  uint32_t init_val = 0;  ///< within the width
  uint32_t min = 0;       ///< of the generated bits
  uint32_t max = 0;       ///< at most what the set bits of the mask hold
  uint32_t mask = 0;      ///< the generated bits, within the width; 0: fixed
  bool operator==(const EvField&) const = default;
};

struct EvProfile {
  enum class Mode : uint8_t { kAuto, kExplicit, kGenerated };
  Mode mode = Mode::kAuto;
  std::vector<EvField> fields;       ///< kGenerated
  std::vector<EntropyValue> values;  ///< what it comes to, ascending; empty for kAuto
  bool operator==(const EvProfile&) const = default;

  static constexpr size_t kMaxValues = 4096;
};

}  // namespace mrclab::endpoint
