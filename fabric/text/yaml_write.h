#pragma once
// Writes text as YAML that reads back as the same text.

#include <string>
#include <string_view>

namespace mrclab {

/// A double-quoted scalar on one line, for any UTF-8; characters that YAML
/// does not allow are escaped.
std::string yaml_string(std::string_view text);

/// The text as it stands if every reader of YAML takes that for text, otherwise as yaml_string() writes it:
/// "null", "true" and "1e3" in quotes.
std::string yaml_word(std::string_view text);

}  // namespace mrclab
