#pragma once
// Text as YAML that reads back as the same text.

#include <string>
#include <string_view>

namespace mrclab {

/// A double-quoted scalar on one line, for any UTF-8: what YAML has no place for is escaped.
std::string yaml_string(std::string_view text);

/// A name: as it stands where that is a plain scalar, otherwise like yaml_string.
std::string yaml_word(std::string_view text);

}  // namespace mrclab
