// What the wrapper answers before anything is built (packaging/answer_words, packaging/words.txt) is what the program would.

#include <doctest/doctest.h>

#include <CLI/Version.hpp>
#include <filesystem>
#include <sstream>

#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/source_text.h"

namespace mrclab::lab {
namespace {

using Words = std::vector<std::string>;

constexpr int kForTheProgram = 100;  // of answer_words: nothing was printed

const std::string& words_text() {
  static const std::string text = test::source_text(MRCLAB_SOURCE_DIR "/packaging/words.txt");
  return text;
}

/// Another CLI11 lays help out otherwise, and words.txt is that of one.
bool made_by_this_cli11() {
  if (words_text().find("as CLI11 " CLI11_VERSION " has it") != std::string::npos) return true;
  MESSAGE("words.txt is of another CLI11");
  return false;
}

struct VerbWords {
  Words path;                  ///< {"perf", "write_bw"}; of the command itself empty
  bool refuses_alone = false;  ///< a word or an option is missing where nothing follows
  std::vector<Words> mistakes;
};

Words split(const std::string& text, char at) {
  Words parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// Every verb of words.txt, with an option without its value, and with a value that is none of its choices or no number.
std::vector<VerbWords> verbs_of_file() {
  std::vector<VerbWords> verbs;
  std::istringstream in(words_text());
  for (std::string line; std::getline(in, line);) {
    const Words fields = split(line, '\t');
    if (fields.size() > 2 && fields[0] == "verb") {
      VerbWords verb{split(fields[1], ' '), fields[2] == "1", {}};
      verb.path.erase(verb.path.begin());
      verbs.push_back(verb);
    }
    if (fields.size() < 7 || fields[0] != "option") continue;
    if (fields[3] == "1") verbs.back().refuses_alone = true;
    if (fields[2] != "value") continue;
    const std::string name = split(fields[1], ' ').front();
    verbs.back().mistakes.push_back({name});
    if (line.find('{') != line.npos || line.find(" - ") != line.npos) {
      verbs.back().mistakes.push_back({name, "zoo"});
    }
  }
  return verbs;
}

Words words_behind(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Whether it was answered; then as the program does.
bool answered_alike(const Words& words) {
  const std::string folder = MRCLAB_SOURCE_DIR "/packaging/";
  const Words answer{"/usr/bin/env", "LC_ALL=C",          "awk", "-f", folder + "answer_words",
                     "--",           folder + "words.txt"};
  const CommandResult wrapper = run_command_line(words_behind(answer, words));
  if (wrapper.code == kForTheProgram && wrapper.output.empty()) return false;
  const CommandResult own = mrclab(words);
  CAPTURE(words);
  CHECK(wrapper.output == own.output);
  CHECK(wrapper.code == own.code);
  return true;
}

}  // namespace

TEST_CASE("packaging/words.txt is what the program says of its words: else make it again") {
  if (made_by_this_cli11()) CHECK(mrclab({"words"}).output == words_text());
}

TEST_CASE(
    "help and mistakes in words are the same without a build, and an unknown word needs none") {
  if (!made_by_this_cli11()) return;
  const std::vector<VerbWords> verbs = verbs_of_file();
  REQUIRE(verbs.size() > 60);
  constexpr size_t kTried = 8;  // of so many mistakes one: two programs run for each
  size_t mistakes = 0, tried = 0, answered = 0;
  for (const VerbWords& verb : verbs) {
    CAPTURE(verb.path);
    for (const char* word : {"--help", "--nosuch"}) {
      CAPTURE(word);
      CHECK(answered_alike(words_behind(verb.path, {word})));
    }
    if (verb.refuses_alone) CHECK(answered_alike(verb.path));
    for (const Words& more : verb.mistakes) {
      if (++mistakes % kTried != 0) continue;
      ++tried;
      if (answered_alike(words_behind(verb.path, more))) ++answered;
    }
  }
  CAPTURE(tried);
  CHECK(answered > tried * 3 / 4);
}

TEST_CASE(
    "words that are nearly right are answered the same without a build, or left to the program") {
  if (!made_by_this_cli11()) return;
  const char* lines =
      "rnu; rnu pair; zzzzzzzzzz; help rnu; rnu --help; run --wrold sim; run pair --wrold=sim; "
      "run --world; run --world zoo pair; run --world sim; run --seed abc pair; "
      "run --json --world live --seed 7; run pair --foo --help; run pair --help; ls surplus; "
      "version surplus; version two more; perf foo; perf write_bq; clock; clock stpe; export; "
      "export pgae optic-glitch; package; package dep; import; import lab; exec; exec h0; "
      "exec h0 ping -c 3; diff; diff one; diff --context; diff --cntext; -x; --verson; -Vx; "
      "--json; trace --from; plan --hosts; plan --hosts zoo; completion tcsh; up --dilaton 5; "
      "heal --al; shell; down pair two; validate; replay; schema zoo; run -- --nosuch; "
      "run --without; run --without nothing pair; run --tolerance; chaos; chaos pair --jobs zoo; "
      "-h; run -h; help perf write_bw; run --hepl; run -Z; run --out --jsn pair; "
      "run --world --json pair";
  for (const std::string& line : split(lines, ';')) {
    Words words = split(line, ' ');
    std::erase(words, "");
    answered_alike(words);
  }
}

TEST_CASE(
    "in a fresh clone the wrapper answers help, the version and mistakes, and builds nothing") {
  const netio::test::TemporaryDirectory clone;
  namespace fs = std::filesystem;
  const fs::path source = MRCLAB_SOURCE_DIR;
  fs::create_directories(clone / "lab/front");
  for (const char* file : {"mrclab", "packages.txt", "CMakeLists.txt", "lab/front/verb_rows.inc"}) {
    fs::copy_file(source / file, clone / file);
  }
  fs::copy(source / "packaging", clone / "packaging", fs::copy_options::recursive);
  struct Row {
    const char* words;
    int code;
    const char* says;
  };
  for (const Row& row :
       {Row{"--help", 0, "Usage: mrclab [OPTIONS]"}, Row{"help run", 0, "Usage: mrclab run"},
        Row{"--version", 0, ", not built)"}, Row{"version", 0, ", not built)"},
        Row{"rnu", 2, "did you mean \"run\"?"}, Row{"run --wrold", 2, "did you mean \"--world\"?"},
        Row{"run", 2, "SCENARIO is required"}, Row{"package dep", 2, "did you mean \"deb\"?"}}) {
    CAPTURE(row.words);
    Words words =
        words_behind({(clone / "mrclab").string(), "--no-install"}, split(row.words, ' '));
    const CommandResult result = run_command_line(words);
    CAPTURE(result.output);
    CHECK(result.code == row.code);
    CHECK(result.output.find(row.says) != std::string::npos);
  }
  CHECK_FALSE(fs::exists(clone / "build"));
}

}  // namespace mrclab::lab
