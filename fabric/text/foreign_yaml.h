#pragma once
// YAML of other tools, which may have anchors, aliases and merge keys ("<<").

#include <string>
#include <string_view>

#include "fabric/text/yaml.h"

namespace mrclab {

/// As read_yaml_text; an alias is a copy of what it names, and copies count as values.
YamlValue read_foreign_yaml_text(std::string_view text, const std::string& file_name);

}  // namespace mrclab
