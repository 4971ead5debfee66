#pragma once
// What the name of a file begins with until it is whole and gets its own (output_folder.h).

#include <string_view>

namespace mrclab::netio {

inline constexpr std::string_view kFreshFilePrefix = ".new-";

}  // namespace mrclab::netio
