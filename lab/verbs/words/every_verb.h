#pragma once
// All verbs of the command, each as its program writes it.

#include <string>

#include "lab/cli/verb_table.h"

namespace mrclab::lab {

struct EveryVerb {
  Verb command;       ///< the command itself, with every verb below it
  std::string words;  ///< packaging/words.txt
};

/// Asks each program of front/verb_rows.h. `app` has all of their names, and the hidden ones of this program behind them.
/// Throws InputError where a program is not built.
EveryVerb every_verb(const CLI::App& app);

}  // namespace mrclab::lab
