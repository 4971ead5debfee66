#pragma once
// A fabric as a drawing: for a terminal, and as SVG.

#include <string>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// Lines of ASCII of at most 80 columns: planes that are alike are drawn once, rows that are too long are cut.
std::string drawn_as_text(const Topology& topology);

/// One SVG element, whose colours are those of the page around it. Above kMaxDrawnLinks links only the first plane
/// is drawn, and above that nothing but a sentence.
std::string drawn_as_svg(const Topology& topology);
inline constexpr size_t kMaxDrawnLinks = 1'024;

}  // namespace mrclab::lab
