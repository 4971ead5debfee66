#include "lab/cli/verb_data.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "lab/cli/words_file.h"

namespace mrclab::lab {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerbOption, names, about, value, choices, preset, positional,
                                   required, repeated)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verb, name, about, footer, options, verbs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerbData, verbs, words)

std::string own_verb_data(const CLI::App& app) {
  VerbData data;
  for (const Verb& verb : verb_table(app).verbs) data.verbs[verb.name] = verb;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    data.words[verb->get_name()] = words_of_verb(*verb, app.get_name() + " " + verb->get_name());
  }
  return nlohmann::json(data).dump();
}

VerbData read_verb_data(const std::string& text) {
  return nlohmann::json::parse(text).get<VerbData>();
}

}  // namespace mrclab::lab
