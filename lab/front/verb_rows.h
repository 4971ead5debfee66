#pragma once
// Which program has which verb. `mrclab-cli` starts that program, the wrapper builds it, and help is made of the rows.

#include <span>
#include <string_view>

namespace mrclab::lab {

struct VerbRow {
  std::string_view name;
  std::string_view program;  ///< "mrclab-run"; it lies beside the one that asks
  std::string_view
      beside;  ///< what else the wrapper has to build for it, between spaces; "all": everything
  std::string_view about;
};

/// In the order of --help.
std::span<const VerbRow> verb_rows();

/// Null for what is no verb.
const VerbRow* find_verb_row(std::string_view name);

/// The verb that these words ask for: the first one that is no option, behind "help" too. Empty if there is none.
std::string_view verb_in(std::span<char* const> words);

}  // namespace mrclab::lab
