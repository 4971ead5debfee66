#pragma once
// What a program of verbs writes of its own verbs, so that what needs all of them (manual pages, completion, words.txt)
// can be made by a program that has few.

#include <map>
#include <string>

#include "lab/cli/verb_table.h"

namespace mrclab::lab {

struct VerbData {
  std::map<std::string, Verb> verbs;         ///< by name; without what is hidden
  std::map<std::string, std::string> words;  ///< what words.txt has of each and of those below it
};

/// Of the verbs of `app`, as a program writes it where kVerbDataAsked stands in its environment.
std::string own_verb_data(const CLI::App& app);
inline constexpr const char* kVerbDataAsked = "MRCLAB_VERB_DATA";

/// Throws nlohmann::json::exception.
VerbData read_verb_data(const std::string& text);

}  // namespace mrclab::lab
