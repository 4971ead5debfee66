#pragma once
// Where in a source a published figure stands. A figure without its place cannot be looked up, so it is refused.

#include <string_view>

namespace mrclab::analysis {

/// Does a source name the place in it, by a number: "section 5.2.1", "figure 9a", "table 3", "page 12", "§4.1"?
bool names_its_place(std::string_view source);

}  // namespace mrclab::analysis
