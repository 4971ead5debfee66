#pragma once
// All keys of the files that people write, as a page in Markdown.

#include <string>

namespace mrclab::lab {

/// The whole page: a heading for each kind of file and each map in it, and a table of keys, values and meanings.
std::string key_reference();

}  // namespace mrclab::lab
