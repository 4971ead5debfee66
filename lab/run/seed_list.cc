#include "lab/run/seed_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

uint64_t seed_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > kMaxSeeds) {
    throw InputError(
        fmt::format("--seeds: found {}: expected a seed, a range such as 1-1000, or a list of them",
                    in_quotes(text)));
  }
  return value;
}

}  // namespace

std::vector<uint64_t> parse_seeds(const std::string& text) {
  std::vector<uint64_t> seeds;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const size_t dash = part.find('-');
    const uint64_t first = seed_number(part.substr(0, dash));
    const uint64_t last =
        dash == std::string_view::npos ? first : seed_number(part.substr(dash + 1));
    if (last < first || last - first >= kMaxSeeds - seeds.size()) {
      throw InputError(fmt::format("--seeds: found {}: expected 1 to {} seeds, ascending",
                                   in_quotes(part), kMaxSeeds));
    }
    for (uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
    begin = end + 1;
  }
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

}  // namespace mrclab::lab
