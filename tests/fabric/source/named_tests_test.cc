// READMEs name for many rules the test that fails when they break: `ev_set_test` "the rotation …". The tests that they name
// exist, and have cases that begin so.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_text.h"

using mrclab::test::source_text;

namespace {

namespace fs = std::filesystem;

using Cases = std::map<std::string, std::vector<std::string>, std::less<>>;

constexpr std::string_view kTest = "_test`", kEllipsis = "…";

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

/// The string literals that begin at `at`, joined; `at` is then behind them.
std::string literals_at(std::string_view text, size_t& at) {
  std::string joined;
  for (at = skip_space(text, at); at < text.size() && text[at] == '"';
       at = skip_space(text, at + 1)) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      if (at < text.size()) joined += text[at];
    }
  }
  return joined;
}

std::vector<std::string> cases_of(std::string_view source) {
  std::vector<std::string> found;
  for (const std::string_view macro : {"TEST_CASE(", "SUBCASE("}) {
    for (size_t at = source.find(macro); at != std::string_view::npos;
         at = source.find(macro, at)) {
      at += macro.size();
      found.push_back(literals_at(source, at));
    }
  }
  return found;
}

/// One line for each test in `readme` that is not among `tests`, or has no case of the name.
std::vector<std::string> missing_tests(std::string_view readme, const Cases& tests) {
  std::vector<std::string> missing;
  for (size_t at = readme.find(kTest); at != std::string_view::npos; at = readme.find(kTest, at)) {
    const size_t name_at = readme.find_last_of("`/", at) + 1;
    const std::string test(readme.substr(name_at, at + kTest.size() - 1 - name_at));
    at += kTest.size();
    const auto known = tests.find(test);
    if (known == tests.end()) {
      missing.push_back(test);
      continue;
    }
    while (readme.substr(at).starts_with(" \"") || readme.substr(at).starts_with(", \"")) {
      at = readme.find('"', at);
      std::string title = literals_at(readme, at);
      if (title.ends_with(kEllipsis)) title.resize(title.size() - kEllipsis.size());
      title.resize(title.find_last_not_of(' ') + 1);
      const auto begins_so = [&](const std::string& name) { return name.starts_with(title); };
      if (std::none_of(known->second.begin(), known->second.end(), begins_so)) {
        missing.push_back(test + " \"" + title + "\"");
      }
    }
  }
  return missing;
}

bool is_built(const fs::path& path) { return path.filename().string().starts_with("build"); }

/// Scripts are tests without cases.
Cases all_tests(const fs::path& root) {
  Cases tests;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    const std::string name = entry.path().stem().string();
    if (!entry.is_regular_file() || !name.ends_with("_test")) continue;
    for (std::string& title : cases_of(source_text(entry.path()))) tests[name].push_back(title);
    tests.try_emplace(name);
  }
  return tests;
}

}  // namespace

TEST_CASE("the tests that READMEs name exist, and have the cases that they name") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  const Cases tests = all_tests(root);
  CHECK(tests.size() > 200);
  size_t readmes = 0;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry->is_directory() && (is_built(entry->path()) || entry->path().filename() == ".git")) {
      entry.disable_recursion_pending();
    }
    if (entry->path().extension() != ".md") continue;
    ++readmes;
    for (const std::string& test : missing_tests(source_text(entry->path()), tests)) {
      FAIL_CHECK(entry->path().lexically_relative(root).string() << ": no " << test);
    }
  }
  CHECK(readmes > 50);
}

TEST_CASE("a test or case that is not there is noticed") {
  const Cases tests{{"walk_test", {"a walk is long", "a \"quick\" one"}}, {"page_test", {}}};
  const auto missing = [&](const char* readme) { return missing_tests(readme, tests); };
  CHECK(missing("| `walk` | `walk_test` \"a walk …\", `page_test` |").empty());
  CHECK(missing("`host/walk_test` \"a walk is long\"").empty());
  CHECK(missing("`walk_test` \"a walk …\", \"a run …\", `run_test`") ==
        std::vector<std::string>{"walk_test \"a run\"", "run_test"});
  CHECK(cases_of("TEST_CASE(\n    \"a \"\n    \"walk\" * x) { SUBCASE(\"b \\\" c\") {} }") ==
        std::vector<std::string>{"a walk", "b \" c"});
}
