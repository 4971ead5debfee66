// The command line as a whole: finds the verb, and composes the message about unknown words.

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "console/progress.h"
#include "console/version.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "lab/cli/help_text.h"
#include "lab/ranks/join_ranks.h"
#include "lab/run/rank_run.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/cli_clock.h"
#include "lab/verbs/cli_import.h"
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

/// The message of an error may hold words of files, so it is made visible.
int complain(const std::string& error, int code) {
  fmt::print(stderr, "mrclab: {}\n", visible_lines(error));
  return code;
}

/// Output to a full disk fails only when the buffer is flushed. A verdict keeps its exit code.
int flushed(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(std::string("cannot write the output: ") + std::strerror(errno),
                  code == 0 ? 3 : code);
}

/// Opens /dev/null in place of standard descriptors that are closed. Otherwise the first file that
/// is opened would take such a number, and get what is printed.
void hold_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) != fd) std::abort();
  }
}

/// What mpirun has started is rank 0, which runs the verb, and others, which take its jobs. Throws where
/// they do not fit together.
std::unique_ptr<RankLink> join_same_ranks() {
  std::unique_ptr<RankLink> ranks = join_ranks();
  if (!ranks) return ranks;
  const Words versions = ranks->gather(std::string(version_text()));
  for (size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] == versions[0]) continue;
    throw std::runtime_error(fmt::format("rank {} is mrclab {}, rank 0 is mrclab {}: expected one",
                                         rank, versions[rank], versions[0]));
  }
  return ranks;
}

/// Ranks that wait for jobs are let go, however the verb of rank 0 ends.
struct WaitingRanks {
  std::unique_ptr<RankLink> ranks;
  ~WaitingRanks() {
    if (ranks) dismiss_ranks(*ranks);
  }
};

/// mpirun sends its signals to every rank; rank 0 answers them for all.
int follow_first_rank(RankLink& ranks) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  take_rank_jobs(ranks);
  return 0;
}

void require_shared_verb(const Words& words) {
  if (words.empty() || words.front() == "run" || words.front().starts_with("-")) return;
  throw InputError(fmt::format(
      "it was started by mpirun: found {}: expected run, with --world sim, which alone is one "
      "over many processes; chaos has --on slurm, parallel or k8s",
      in_quotes(words.front())));
}

/// All verbs, or those of add_lab_verbs() alone where the first word is one of them: people wait for `up`, and all verbs
/// take 2 ms.
void add_verbs(CLI::App& app, CliResult& result, const Words& words) {
  constexpr std::array<std::string_view, 3> kLabVerbs{"up", "down", "ls"};
  if (!words.empty() &&
      std::find(kLabVerbs.begin(), kLabVerbs.end(), words.front()) != kLabVerbs.end()) {
    add_lab_verbs(app, result);
    return;
  }
  add_run_verbs(app, result);
  add_chaos_verbs(app, result);
  add_diff_verb(app, result);
  add_report_verb(app, result);
  add_runs_verb(app, result);
  add_schema_verb(app);
  add_draw_verb(app);
  add_analyze_verb(app, result);
  add_trace_verb(app, result);
  add_blame_verb(app, result);
  add_compare_verb(app, result);
  add_serve_verb(app, result);
  add_lesson_verb(app, result);
  add_lab_verbs(app, result);
  add_inspect_verb(app, result);
  add_top_verb(app, result);
  add_fault_verbs(app, result);
  add_clock_verb(app, result);
  add_node_verbs(app, result);
  add_transport_verb(app, result);
  add_perf_verbs(app, result);
  add_plan_verb(app, result);
  add_export_verb(app);
  add_import_verb(app, result);
  add_conform_verb(app, result);
  add_machine_verbs(app, result);
}

}  // namespace

int cli_main(int argc, char** argv) {
  hold_standard_descriptors();
  netio::report_file_size_limit();
  WaitingRanks waiting;
  try {
    waiting.ranks = join_same_ranks();
  } catch (const std::exception& error) {
    return complain(error.what(), 2);
  }
  if (waiting.ranks && waiting.ranks->rank() > 0) {
    return follow_first_rank(*std::exchange(waiting.ranks, nullptr));
  }
  CLI::App app("mrclab: an eight-plane AI fabric on one laptop", "mrclab");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", "mrclab " + std::string(version_text()));
  CliResult result;
  result.ranks = waiting.ranks.get();
  const Words words = words_of(argc, argv);
  add_verbs(app, result, words);
  try {
    if (waiting.ranks) require_shared_verb(words);
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
