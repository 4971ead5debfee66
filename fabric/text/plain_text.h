#pragma once
// Plain text may be shown and written again: UTF-8 without control characters except ends of lines
// and tabs. Other text that people write is refused where it stands. Control characters would act
// on the terminals that show them, and bytes that are no UTF-8 fit into neither YAML nor JSON.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mrclab {

/// The first piece of a text that is not plain: a control character, or a byte that is no UTF-8.
struct OddText {
  size_t at = 0;      ///< its first byte
  std::string found;  ///< what an error names as found: `the control character "\x07"`
};
std::optional<OddText> find_odd_text(std::string_view text);

}  // namespace mrclab
