#include "lab/cli/words_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "lab/cli/help_text.h"

namespace mrclab::lab {
namespace {

constexpr size_t kHelpColumns = 80;  // as wide as help is where it goes to no terminal

/// "word" stands by itself; "other" is what takes several values at a time.
std::string kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "flag";
  if (option.get_items_expected_min() > 1) return "other";
  return option.get_lnames().empty() && option.get_snames().empty() ? "word" : "value";
}

std::string option_line(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_lnames()) names += " --" + name;
  for (const std::string& name : option.get_snames()) names += " -" + name;
  const bool alone = option.get_excludes().empty() && option.get_needs().empty();
  return fmt::format("option\t{}\t{}\t{:d}\t{:d}\t{:d}\t{}\t{}\n",
                     names.empty() ? "" : names.substr(1), kind_of(option), option.get_required(),
                     option.get_items_expected_max() > 1, alone, option.get_name(),
                     option.get_type_name());
}

/// Without those below it.
std::string verb_text(const CLI::App& verb, const std::string& path) {
  std::string text = fmt::format("verb\t{}\t{}\n", path, verb.get_require_subcommand_min());
  for (const CLI::Option* option : verb.get_options()) text += option_line(*option);
  // Not verb.help(), which is that of the verb that is just running.
  const std::string help = verb.get_formatter()->make_help(&verb, path, CLI::AppFormatMode::Normal);
  std::istringstream lines(fit_help(help, kHelpColumns));
  for (std::string line; std::getline(lines, line);) text += "|" + line + "\n";
  return text;
}

}  // namespace

std::string words_of_verb(const CLI::App& verb, const std::string& path) {
  std::string text = verb_text(verb, path);
  for (const CLI::App* below : verb.get_subcommands([](const CLI::App*) { return true; })) {
    text += words_of_verb(*below, path + " " + below->get_name());
  }
  return text;
}

std::string words_file_head(const CLI::App& app) {
  // Another CLI11 lays help out otherwise.
  return "# What mrclab answers without a build (packaging/answer_words), as CLI11 " CLI11_VERSION
         " has it.\n"
         "# Made by: build/mrclab-cli words > packaging/words.txt\n" +
         verb_text(app, app.get_name());
}

}  // namespace mrclab::lab
