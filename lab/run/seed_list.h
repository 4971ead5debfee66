#pragma once
// Seeds as a command line names them: "7", "1-1000", "1-10,50-60".

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mrclab::lab {

/// Ascending, each once. Throws InputError.
std::vector<uint64_t> parse_seeds(const std::string& text);
inline constexpr size_t kMaxSeeds = 10'000'000;

}  // namespace mrclab::lab
