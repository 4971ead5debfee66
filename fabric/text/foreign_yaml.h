#pragma once
// YAML of other tools, which may have anchors, aliases and merge keys ("<<"). Its place is in yaml.cc, beside the reader
// that refuses them.

#include <string>
#include <string_view>

namespace mrclab {

class YamlValue;

/// As read_yaml_text of yaml.h; an alias is a copy of what it names, and copies count as values.
YamlValue read_foreign_yaml_text(std::string_view text, const std::string& file_name);

}  // namespace mrclab
