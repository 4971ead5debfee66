#pragma once
// The command line that the programs of verbs share: finds the verb, and composes the message about unknown words.

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace mrclab::lab {

class RankLink;

/// Where a verb leaves its exit code (0 pass, 1 fail, 2 bad usage or input, 3 cannot
/// say).
struct CliResult {
  int code = 0;
  RankLink* ranks = nullptr;  ///< for `run`, where mpirun has started this process; else null
};

/// Adds the verbs of a program.
using AddVerbs = void (*)(CLI::App& app, CliResult& result);

/// The verb of that name below the command, with what its row says that it is for (front/verb_rows.h).
CLI::App* add_verb(CLI::App& app, std::string_view name);

/// Writes "mrclab: <error>" to stderr, where the error may hold words of files. Returns the code.
int complain(const std::string& error, int code);

/// `main` of a program of verbs: parses, runs the verb, turns every exception into a sentence and a code.
int cli_main(int argc, char** argv, AddVerbs add_own, RankLink* ranks = nullptr);

}  // namespace mrclab::lab
