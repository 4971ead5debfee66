#pragma once
// Completion for shells, made from the command's own table of verbs and options.

#include <string>
#include <string_view>

#include "lab/cli/verb_table.h"

namespace mrclab::lab {

enum class Shell { kBash, kZsh, kFish };

/// The script for a shell: bash sources it; zsh finds it as `_mrclab` in a folder of $fpath; fish as
/// `mrclab.fish` in a folder of $fish_complete_path. Completes verbs, options, shipped fabrics and incidents,
/// names of labs and nodes (from /run/mrclab, which every user may list) and files.
std::string completion_script(Shell shell, const Verb& command);

}  // namespace mrclab::lab
