// The recipes of CONTRIBUTING.md and the version of CHANGELOG.md are those of the sources.

#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/fabric/source/product_sources.h"
#include "tests/support/source_text.h"

namespace {

namespace fs = std::filesystem;
using mrclab::test::product_sources;
using mrclab::test::source_text;

const fs::path kRoot = MRCLAB_SOURCE_DIR;

/// What stands between backticks, in order.
std::vector<std::string> in_backticks(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    words.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return words;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

/// The sources of the product that have the word.
std::set<std::string> sources_with(const std::string& word) {
  std::set<std::string> found;
  for (const auto& source : product_sources()) {
    if (has_word(source.second, word)) found.insert(source.first);
  }
  return found;
}

}  // namespace

TEST_CASE("the recipes of CONTRIBUTING.md name files that are there") {
  size_t files = 0;
  for (const std::string& word : in_backticks(source_text(kRoot / "CONTRIBUTING.md"))) {
    if (word.find('/') == std::string::npos || word.find(' ') != std::string::npos ||
        word.find('<') != std::string::npos || word.starts_with("./")) {
      continue;
    }
    ++files;
    CHECK_MESSAGE(fs::exists(kRoot / word), word);
  }
  CHECK(files > 25);
}

TEST_CASE("the examples of CONTRIBUTING.md lead through all sources that have them") {
  const std::string text = source_text(kRoot / "CONTRIBUTING.md");
  size_t examples = 0;
  const std::string begin = "\nFollow ";
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    std::vector<std::string> words = in_backticks(text.substr(at, text.find("\n\n", at + 1) - at));
    REQUIRE(words.size() > 1);
    const std::string name = words.front();
    CAPTURE(name);
    const std::set<std::string> listed(words.begin() + 1, words.end());
    for (const std::string& file : listed) {
      CHECK_MESSAGE(has_word(source_text(kRoot / file), name), file);
    }
    if (name == "deed") continue;  // a word that others have, too
    for (const std::string& file : sources_with(name)) {
      CHECK_MESSAGE(listed.contains(file), file, " has it as well");
    }
    ++examples;
  }
  CHECK(examples >= 4);
}

TEST_CASE("the version of the build is the newest of CHANGELOG.md") {
  const std::string changes = source_text(kRoot / "CHANGELOG.md");
  const size_t at = changes.find("\n## ") + 4;
  const std::string version = changes.substr(at, changes.find(' ', at) - at);
  CHECK(version.size() >= 5);
  for (const char* file : {"CMakeLists.txt", "page/wasm/CMakeLists.txt"}) {
    CHECK_MESSAGE(source_text(kRoot / file).find(" VERSION " + version + " ") != std::string::npos,
                  file);
  }
}
