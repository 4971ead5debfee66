#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

/// One word of a POSIX shell, whatever is in it.
std::string shell_word(std::string_view text);
/// The words of what a user would type, split at blanks; no quotes are known.
std::vector<std::string> split_words(std::string_view text);

}  // namespace mrclab::lab
