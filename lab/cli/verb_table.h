#pragma once
// The command's own tree of verbs and options as values, for what is written from it: completions of shells and
// manual pages.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mrclab::lab {

struct VerbOption {
  std::vector<std::string> names;  ///< "--world", "-n"; of a positional its one name, "SCENARIO"
  std::string about;
  std::string value;                 ///< "TEXT", "UINT in [1 - 64]"; empty: a flag
  std::vector<std::string> choices;  ///< the only values there are; empty: any
  std::string preset;                ///< the value without it; empty: none, or not worth printing
  bool positional = false, required = false, repeated = false;
};

struct Verb {
  std::string name, about, footer;
  std::vector<VerbOption> options;  ///< in the order of --help, positionals among them
  std::vector<Verb> verbs;          ///< the verbs below this verb, as `perf write_bw`
};

/// `app` and everything below it; hidden verbs and options are left out.
Verb verb_table(const CLI::App& app);

}  // namespace mrclab::lab
