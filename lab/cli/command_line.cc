#include "lab/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include "console/progress.h"
#include "console/version.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "lab/cli/help_text.h"
#include "lab/cli/verb_data.h"
#include "lab/front/huge_pages.h"
#include "lab/front/verb_rows.h"
#include "netio/system/file_size_limit.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using Words = std::vector<std::string>;

/// "help run" is "run --help", "help" alone "--help".
Words words_of(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

const CLI::App* subcommand(const CLI::App& app, const std::string& word) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == word) return verb;
  }
  return nullptr;
}

Words verbs_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

Words option_names(const CLI::App& verb) {
  Words names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Has the verb words of its own beside the verbs below it, as `import FILE` has?
bool takes_words(const CLI::App& verb) {
  const std::vector<const CLI::Option*> options = verb.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

/// The message about the first word that should be a verb or an option and is none; empty if there
/// is no such word.
std::string unknown_word(const CLI::App& app, const Words& words) {
  const CLI::App* verb = &app;
  std::string called = "mrclab";
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.starts_with("-") && word.size() > 1) {
      const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
      const Words known = option_names(*verb);
      const bool number = name.find_first_of("0123456789") == 1;
      if (number || std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = nearest_name(name, known);
      return fmt::format(
          "{}: found {}{}", called, in_quotes(name),
          near.empty() ? ", which is no option of it." : ": did you mean " + in_quotes(near) + "?");
    }
    const Words verbs = verbs_of(*verb);
    if (verbs.empty()) continue;
    if (const CLI::App* next = subcommand(*verb, word)) {
      verb = next;
      called += " " + word;
      continue;
    }
    if (takes_words(*verb)) continue;
    const std::string near = nearest_name(word, verbs);
    return fmt::format(
        "{}: found {}{}", called, in_quotes(word),
        near.empty() ? ", which is no verb." : ": did you mean " + in_quotes(near) + "?");
  }
  return "";
}

/// CLI11 prints "Could not convert: --keep = --out", of numbers alone: words are taken as they are.
std::string readable_error(const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::string text = error.what();
  const size_t equals = text.find(" = ");
  if (!text.starts_with(kConversion) || equals == std::string::npos) return text;
  return text.substr(kConversion.size(), equals - kConversion.size()) + ": found " +
         in_quotes(text.substr(equals + 3)) + ", expected a number";
}

int parse_and_run(CLI::App& app, const Words& words) {
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
    return -1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream said;  // text of --help or --version
      app.exit(error, said, said);
      fmt::print("{}", fit_help(said.str(), table_columns(stdout)));
      return 0;
    }
    const std::string unknown = unknown_word(app, words);
    const std::string said = unknown.empty() ? "mrclab: " + readable_error(error) + "." : unknown;
    fmt::print(stderr, "{} See --help.\n", visible_lines(said));
    return 2;
  }
}

/// Output to a full disk fails only when the buffer is flushed. A verdict keeps its exit code.
int flushed(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(std::string("cannot write the output: ") + std::strerror(errno),
                  code == 0 ? 3 : code);
}

void require_shared_verb(const Words& words) {
  if (words.empty() || words.front() == "run" || words.front().starts_with("-")) return;
  throw InputError(fmt::format(
      "it was started by mpirun: found {}: expected run, with --world sim, which alone is one "
      "over many processes; chaos has --on slurm, parallel or k8s",
      in_quotes(words.front())));
}

}  // namespace

CLI::App* add_verb(CLI::App& app, std::string_view name) {
  const VerbRow* const row = find_verb_row(name);
  if (row == nullptr) throw std::logic_error(fmt::format("no row has the verb {}", name));
  return app.add_subcommand(std::string(name), std::string(row->about));
}

int complain(const std::string& error, int code) {
  fmt::print(stderr, "mrclab: {}\n", visible_lines(error));
  return code;
}

int cli_main(int argc, char** argv, AddVerbs add_own, RankLink* ranks) {
  take_huge_pages();
  netio::report_file_size_limit();
  CLI::App app("mrclab: an eight-plane AI fabric on one laptop", "mrclab");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", "mrclab " + std::string(version_text()));
  CliResult result;
  result.ranks = ranks;
  const Words words = words_of(argc, argv);
  // Where no verb is asked for, help has all of them; else no verb of another program is looked at.
  const bool asked = ::getenv(kVerbDataAsked) != nullptr;
  if (asked || !verb_in({argv + 1, argv + argc}).empty()) {
    add_own(app, result);
  } else {
    for (const VerbRow& row : verb_rows()) add_verb(app, row.name);
  }
  if (asked) {
    fmt::print("{}", own_verb_data(app));
    return flushed(0);
  }
  try {
    if (ranks != nullptr) require_shared_verb(words);
    const int code = parse_and_run(app, words);
    return flushed(code >= 0 ? code : result.code);
  } catch (const InputError& error) {
    return complain(error.what(), 2);
  } catch (const netio::OutputError& error) {
    return complain(error.what(), 2);
  } catch (const netio::SystemError& error) {
    return complain(netio::explain(error), netio::exit_code(error));
  } catch (const std::exception& error) {
    return complain(error.what(), 3);
  }
}

}  // namespace mrclab::lab
