#include "fabric/base/units.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace mrclab {

std::string to_string(FabricTime t) {
  if (t == FabricTime::never()) return "never";
  const int64_t ps = t.ps();
  const int64_t magnitude = ps < 0 ? -ps : ps;
  struct Scale {
    int64_t ps;
    const char* unit;
  };
  static constexpr std::array kScales{Scale{1'000'000'000'000, "s"}, Scale{1'000'000'000, "ms"},
                                      Scale{1'000'000, "us"}, Scale{1'000, "ns"}};
  for (const Scale& scale : kScales) {
    if (magnitude < scale.ps) continue;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.6g%s",
                  static_cast<double>(ps) / static_cast<double>(scale.ps), scale.unit);
    return text.data();
  }
  return std::to_string(ps) + "ps";
}

std::string in_microseconds(FabricTime t) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%" PRId64 ".%06" PRId64 "us", t.ps() / 1'000'000,
                t.ps() % 1'000'000);
  return text.data();
}

}  // namespace mrclab
