#pragma once
// Bash completion, made from the command's own tree of verbs and options.

#include <string>

namespace CLI {
class App;
}

namespace mrclab::lab {

/// A bash script to be sourced. Completes verbs, options, shipped fabrics and incidents, lab names
/// (from /run/mrclab, which every user may list) and files.
std::string bash_completion(const CLI::App& app);

}  // namespace mrclab::lab
