#pragma once
// What --help prints, broken between words: CLI11 lays out names and descriptions in columns, but lets
// lines run over the edge.

#include <string>

namespace mrclab::lab {

/// No line is longer than `width`, but for examples (they are there to be copied) and words that are.
/// A broken line continues below its description.
std::string fit_help(const std::string& text, size_t width);

}  // namespace mrclab::lab
