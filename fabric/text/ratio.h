#pragma once
// Multiples of a reference: of files, "105%" or "1.05".

#include <string>

#include "fabric/text/yaml.h"

namespace mrclab {

/// In parts per billion: 105 % is 1,050,000,000.
struct Ratio {
  static constexpr uint64_t kOne = 1'000'000'000, kMost = 100 * kOne;
  uint64_t ppb = 0;
  constexpr auto operator<=>(const Ratio&) const = default;
};

/// Up to kMost. Throws InputError with the position.
Ratio as_ratio(const YamlValue& value);
/// "105%", which reads back as the same.
std::string exact(Ratio ratio);

}  // namespace mrclab
