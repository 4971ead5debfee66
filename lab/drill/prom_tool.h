#pragma once
// Debian's promtool (package prometheus), run as a child: nothing of it is linked.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "console/interrupt.h"

namespace mrclab::lab {

/// promtool is not installed.
class NoPromTool : public std::runtime_error {
 public:
  NoPromTool()
      : std::runtime_error(
            "a drill needs promtool, which is not installed: apt-get install prometheus") {}
};

/// Throws NoPromTool.
void require_prom_tool();

struct PromToolAnswer {
  int code = 0;
  std::string text;  ///< both of its outputs
};
inline constexpr size_t kMaxPromToolText = size_t{64} << 20;

/// Runs `promtool WORDS...`, for at most ten minutes. Throws NoPromTool, Interrupted, InputError for an answer that is too
/// long or does not come.
PromToolAnswer run_prom_tool(const std::vector<std::string>& words,
                             const std::filesystem::path& scratch,
                             const IsInterrupted& interrupted);

}  // namespace mrclab::lab
