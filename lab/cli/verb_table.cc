#include "lab/cli/verb_table.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <string_view>

namespace mrclab::lab {
namespace {

/// CLI11 calls a type that is checked "TEXT:{live,sim}" or "UINT:UINT in [1 - 64]".
void read_type(const std::string& type, VerbOption& into) {
  const size_t colon = type.find(':');
  into.value = colon == std::string::npos ? type : type.substr(colon + 1);
  if (!into.value.starts_with('{') || !into.value.ends_with('}')) return;
  std::istringstream words(into.value.substr(1, into.value.size() - 2));
  for (std::string word; std::getline(words, word, ',');) into.choices.push_back(word);
}

VerbOption option_of(const CLI::Option& option) {
  VerbOption made;
  made.positional = option.get_lnames().empty() && option.get_snames().empty();
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  if (made.positional) made.names.push_back(option.get_name(true));
  made.about = option.get_description();
  made.required = option.get_required();
  if (option.get_type_size() != 0) read_type(option.get_type_name(), made);
  made.repeated = option.get_type_size() != 0 && option.get_expected_max() > 1;
  made.preset = option.get_default_str();
  return made;
}

}  // namespace

Verb verb_table(const CLI::App& app) {
  Verb made{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) made.options.push_back(option_of(*option));
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!verb->get_group().empty()) made.verbs.push_back(verb_table(*verb));
  }
  return made;
}

}  // namespace mrclab::lab
