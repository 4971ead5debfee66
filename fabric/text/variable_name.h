#pragma once
// Names of variables in documents: "${name}".

#include <string_view>

namespace mrclab {

/// At most 64 of a-z, A-Z, 0-9, dash and underscore, not a digit or a dash first.
bool is_variable_name(std::string_view text);

}  // namespace mrclab
