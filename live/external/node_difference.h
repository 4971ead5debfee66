#pragma once
// What a node, or a table of it, has, as lines of text that can be compared.

#include <optional>
#include <string>
#include <vector>

namespace mrclab::lab {

using NodeSnapshot = std::vector<std::string>;  ///< sorted

/// The first difference in words: "missing: ...", "new: ..."; empty if there is none.
std::optional<std::string> first_difference(const NodeSnapshot& before, const NodeSnapshot& after);

}  // namespace mrclab::lab
