// Which program has which verb: the table that `mrclab-cli` and the wrapper read, against the programs and their sources.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "lab/cli/verb_data.h"
#include "lab/front/verb_rows.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/source_text.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

std::set<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The project's sources from which ninja makes these targets, by their paths from the root. A unit of many sources
/// includes them.
std::set<std::string> sources_of(const std::vector<std::string>& targets) {
  std::vector<std::string> ask{"/usr/bin/env", "ninja", "-C", MRCLAB_BINARY_DIR, "-t", "inputs"};
  ask.insert(ask.end(), targets.begin(), targets.end());
  std::set<std::string> found;
  const std::string root = std::string(MRCLAB_SOURCE_DIR) + "/";
  for (const std::string& input : words_in(run_command_line(ask).output)) {
    if (input.starts_with(root) && input.ends_with(".cc")) found.insert(input.substr(root.size()));
    if (!input.ends_with("_cxx.cxx")) continue;
    std::istringstream unit(test::source_text(fs::path(MRCLAB_BINARY_DIR) / input));
    for (std::string line; std::getline(unit, line);) {
      const std::string include = "#include \"" + root;
      if (line.starts_with(include)) {
        found.insert(line.substr(include.size(), line.rfind('"') - include.size()));
      }
    }
  }
  return found;
}

TEST_CASE("the demo is built without the page, imports, chaos, campaigns and measurements") {
  const std::set<std::string> sources =
      sources_of({"mrclab-cli", "mrclab-run", "mrc-endpointd", "mrc-switchd"});
  for (const char* needed :
       {"lab/run/live_run.cc", "live/world/live_lab.cc", "lab/front/mrclab_main.cc",
        "verbs/endpointd_main.cc", "switchd/switchd_main.cc"}) {
    CHECK_MESSAGE(sources.contains(needed), needed);
  }
  for (const char* folder :
       {"lab/serve/", "lab/chaos/", "lab/campaign/", "lab/compare/", "lab/perf/", "lab/persistent/",
        "lab/schema/", "lab/verbs/serve/", "lab/verbs/sweep/", "lab/verbs/files/",
        "lab/verbs/labs/", "lab/verbs/words/", "session/", "plan/", "scenario/import/",
        "live/translate/", "live/inspect/", "live/conform/", "recorded/run/"}) {
    REQUIRE(fs::is_directory(fs::path(MRCLAB_SOURCE_DIR) / folder));
    for (const std::string& source : sources)
      CHECK_FALSE_MESSAGE(source.starts_with(folder), source);
  }
}

TEST_CASE("a change of an import is compiled and linked for one program") {
  std::set<std::string_view> programs;
  for (const VerbRow& row : verb_rows()) programs.insert(row.program);
  for (const std::string_view program : programs) {
    CAPTURE(program);
    const std::set<std::string> sources = sources_of({std::string(program)});
    CHECK(sources.contains("scenario/import/csv_line.cc") == (program == "mrclab-files"));
  }
}

TEST_CASE("each row of the table is a verb of its program, and each verb of a program has a row") {
  std::map<std::string, std::set<std::string>> rows;
  for (const VerbRow& row : verb_rows()) {
    rows[std::string(row.program)].insert(std::string(row.name));
    CHECK(find_verb_row(row.name) == &row);
    for (const std::string& beside : words_in(std::string(row.beside))) {
      CAPTURE(beside);
      const bool libraries = beside == "mrclab-rdma";  // a folder of them, where they can be built
      CHECK((beside == "all" || libraries || fs::exists(program(beside))));
    }
  }
  for (const auto& entry : rows) {
    const std::string& name = entry.first;
    CAPTURE(name);
    const CommandResult said =
        run_command_line({"/usr/bin/env", std::string(kVerbDataAsked) + "=1", program(name)});
    std::set<std::string> verbs;
    for (const auto& verb : read_verb_data(said.output).verbs) {
      const bool only_named = name == "mrclab-words" && !entry.second.contains(verb.first);
      if (!only_named) verbs.insert(verb.first);
    }
    CHECK(verbs == entry.second);
  }
}

TEST_CASE("the verb is the first word that is no option, behind help too") {
  const auto verb_of = [](std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return std::string(verb_in(argv));
  };
  CHECK(verb_of({"run", "pair", "--world", "sim"}) == "run");
  CHECK(verb_of({"help", "run"}) == "run");
  CHECK(verb_of({"--help", "run"}) == "run");
  CHECK(verb_of({"help"}).empty());
  CHECK(verb_of({"--version"}).empty());
  CHECK(verb_of({}).empty());
}

/// A clone with a cmake and a ninja that note in "asked" what they are called for, and make a command that says "it runs".
struct QuickClone {
  netio::test::TemporaryDirectory folder;

  QuickClone() {
    const fs::path source = MRCLAB_SOURCE_DIR;
    fs::create_directories(folder / "lab/front");
    for (const char* file : {"mrclab", "lab/front/verb_rows.inc"}) {
      fs::copy_file(source / file, folder / file);
    }
    std::ofstream(folder / "packages.txt") << "[build]\nbash\n";
    std::ofstream(folder / "CMakeLists.txt") << "";
    fs::create_directory(folder / "tools");
    write_tool("cmake", "touch build/build.ninja");
    write_tool("ninja",
               "echo \"${@:3}\" >> asked\nprintf '#!/bin/sh\\necho it runs\\n' > build/mrclab-cli\n"
               "chmod +x build/mrclab-cli");
  }
  void write_tool(const char* name, const char* script) {
    const fs::path tool = folder / (std::string("tools/") + name);
    std::ofstream(tool) << "#!/bin/bash\ncd '" << (folder / "").string() << "' || exit\n"
                        << script << "\n";
    fs::permissions(tool, fs::perms(0755));
  }
  /// What ninja was asked for by these words of the wrapper's.
  std::string built_for(const std::vector<std::string>& words) {
    fs::remove(folder / "asked");
    const std::string path = (folder / "tools").string() + ":" + std::getenv("PATH");
    std::vector<std::string> argv{"/usr/bin/env", "PATH=" + path, folder / "mrclab",
                                  "--no-install"};
    argv.insert(argv.end(), words.begin(), words.end());
    const CommandResult result = run_command_line(argv);
    CAPTURE(result.output);
    CHECK(result.output.ends_with("it runs\n"));
    return fs::exists(folder / "asked") ? netio::read_file(folder / "asked") : "";
  }
};

TEST_CASE("the wrapper builds what a verb needs when it is first used, and then nothing again") {
  QuickClone clone;
  CHECK(clone.built_for({"demo"}) == "mrclab-cli mrclab-run mrc-endpointd mrc-switchd\n");
  CHECK(clone.built_for({"demo", "--out", "x"}).empty());
  CHECK(clone.built_for({"analyze", "latest"}) == "mrclab-cli mrclab-files\n");
  CHECK(clone.built_for({"help", "blame"}).empty());
  CHECK(clone.built_for({"demo", "--page"}).find("mrclab-serve") != std::string::npos);
  CHECK(clone.built_for({"demo", "--compare"}).find("mrclab-sweep") != std::string::npos);
  CHECK(clone.built_for({"--version"}) == "mrclab-cli mrclab-words\n");
  CHECK(clone.built_for({"man", "run"}) == "all\n");
  CHECK(clone.built_for({"serve", "pair"}).empty());
}

}  // namespace
}  // namespace mrclab::lab
