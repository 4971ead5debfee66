#pragma once
// Bugs that were put into copies of some sources (plant_bugs.py has them), one of which may be
// switched on. The product is built from sources without any.

#include <string_view>

namespace mrclab::test {

/// The name of the bug that is switched on; empty: none, and everything works.
inline std::string_view planted_bug;
inline bool planted(std::string_view bug) { return planted_bug == bug; }

}  // namespace mrclab::test
