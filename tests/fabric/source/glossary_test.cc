// Every abbreviation that help, output or pages print stands in docs/glossary.md, every column of a table in
// docs/columns.md, and no key of a file is without a meaning in docs/keys.md.

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/fabric/source/product_sources.h"
#include "tests/support/source_text.h"

namespace {

namespace fs = std::filesystem;
using mrclab::test::product_sources;
using mrclab::test::source_text;

/// Words in capitals that are no abbreviations and stand nowhere else in small letters: titles of columns and parts,
/// words of other programs' files, names of files and signals' kinds.
const std::set<std::string> kWords{"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                   "ACTION",
                                   "ADDR",
                                   "AGGREGATOR",
                                   "AMOUNT",
                                   "ATOMIC",
                                   "BROADCAST",
                                   "BUTTON",
                                   "CHARTS",
                                   "CLI11",
                                   "COMMON",
                                   "CONTRIBUTING",
                                   "CURRENT",
                                   "DESCRIPTION",
                                   "DIR",
                                   "DISPLAY",
                                   "DISTURBED",
                                   "EXAMPLES",
                                   "FLOAT",
                                   "FLUSH",
                                   "FORWARDED",
                                   "FULLEST",
                                   "FULLY",
                                   "HEAD",
                                   "HEADROOM",
                                   "HOME",
                                   "HSET",
                                   "INIT",
                                   "III",
                                   "INT",
                                   "MAIN",
                                   "MET",
                                   "MP",
                                   "NICS",
                                   "OFFLINE",
                                   "OK",
                                   "ONLINE",
                                   "ORIGIN",
                                   "OWNER",
                                   "PDC",
                                   "PENDING",
                                   "PERFORMANCE",
                                   "PONG",
                                   "POSITIVE",
                                   "PREDICTED",
                                   "PRIO",
                                   "PS1",
                                   "README",
                                   "RECEIVED",
                                   "RESET",
                                   "RESYNC",
                                   "ROLE",
                                   "SELECT",
                                   "SHA256SUMS",
                                   "SHARING",
                                   "SIGCOMM",
                                   "SKIP",
                                   "STAGE",
                                   "STUDENT",
                                   "SUBCOMMAND",
                                   "SURPLUS",
                                   "SYNCHRONIZER",
                                   "SYNOPSIS",
                                   "TERM",
                                   "TEXTAREA",
                                   "TIER",
                                   "UINT",
                                   "UNJUDGED",
                                   "XDP"};

fs::path source(const char* path) { return fs::path(MRCLAB_SOURCE_DIR) / path; }

/// What people read, by file: pages, help, lessons, and what stands in quotes in the sources.
std::map<std::string, std::string> printed_texts() {
  std::map<std::string, std::string> texts;
  for (const char* folder : {"docs", "lessons", "page"}) {
    for (const auto& entry : fs::directory_iterator(source(folder))) {
      const std::string name = entry.path().filename().string(), end = entry.path().extension();
      const bool own = name == "glossary.md" || name == "architecture.md" || name == "logs.md";
      if (own || (end != ".md" && end != ".js" && end != ".html")) continue;
      texts[std::string(folder) + "/" + name] = source_text(entry.path());
    }
  }
  for (const char* file : {"README.md", "packaging/words.txt"}) {
    texts[file] = source_text(source(file));
  }
  const std::regex quoted(R"re("((?:[^"\\\n]|\\.)*)")re");
  for (const auto& [path, text] : product_sources()) {
    if (path.starts_with("netio/") || path.starts_with("sim/")) continue;
    if (path.starts_with("scenario/import/")) continue;  // what logs of others hold
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#include")) continue;
      line.resize(std::min(line.size(), line.find("//")));
      for (std::sregex_iterator word(line.begin(), line.end(), quoted), none; word != none;
           ++word) {
        texts[path] += (*word)[1].str() + "\n";
      }
    }
  }
  return texts;
}

std::string without_code(const std::string& page) {
  std::string prose;
  bool code = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (!code) prose += std::regex_replace(line, std::regex("`[^`]*`"), "") + "\n";
  }
  return prose;
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// Words in small letters of the prose of pages: who stands there is no abbreviation in capitals.
std::set<std::string> plain_words(const std::map<std::string, std::string>& texts) {
  std::set<std::string> words;
  for (const auto& [file, text] : texts) {
    if (!file.ends_with(".md")) continue;
    std::string word;
    for (const char c : without_code(text)) {
      if (is_letter(c) || c == '_' || c == '-' || c == '/' || c == '.') {
        word += c;
        continue;
      }
      while (word.ends_with('.')) word.pop_back();
      if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos) {
        words.insert(word);
      }
      word.clear();
    }
  }
  return words;
}

std::set<std::string> glossary_words() {
  std::set<std::string> words;
  std::istringstream lines(source_text(source("docs/glossary.md")));
  const std::regex word("[A-Za-z0-9]+");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    const std::string cell = line.substr(2, line.find(" | ", 2) - 2);
    for (std::sregex_iterator at(cell.begin(), cell.end(), word), none; at != none; ++at) {
      words.insert(at->str());
    }
  }
  return words;
}

/// Every text that this finds with two or more parts, part 1 of it.
std::set<std::string> found_in(const std::string& text, const std::regex& what) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), what), none; at != none; ++at) {
    found.insert((*at)[1].str());
  }
  return found;
}

}  // namespace

TEST_CASE("every column of a printed table stands in docs/columns.md") {
  std::set<std::string> known;
  std::istringstream lines(source_text(source("docs/columns.md")));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    std::string cell = line.substr(2, line.find(" | ", 2) - 2);
    known.insert(cell);
    for (size_t at; (at = cell.find(", ")) != std::string::npos; cell = cell.substr(at + 2)) {
      known.insert(cell.substr(0, at));
    }
    known.insert(cell);
  }
  // Rows that begin with a title in capitals, the headings of analyze, and the columns of compare.
  const std::regex row(
      R"re([{(]\s*((?:"[^"a-z]*[A-Z][^"a-z]*"|"uSID"|"EVs OF")(?:,\s*"[^"]*")+))re");
  const std::regex title(R"re("([^"]*)")re");
  const std::regex heading(R"re(\{\s*"[a-z_]+",\s*"([^"]+)"(?:,\s*Shown::\w+)?\s*\})re");
  const std::regex compared(R"re(add(?:_count)?\("([^"]+)")re");
  std::map<std::string, std::string> columns;
  for (const auto& [path, text] : product_sources()) {
    for (const char* room : {"console/switch_rows", "console/pause_text", "lab/persistent/link_",
                             "lab/serve/class_", "lab/verbs/labs/", "live/inspect/", "plan/",
                             "recorded/run/run_list", "recorded/run/packet_"}) {
      if (!path.starts_with(room)) continue;
      for (const std::string& titles : found_in(text, row)) {
        for (const std::string& one : found_in(titles, title)) {
          if (!one.empty()) columns[one] = path;
        }
      }
    }
    const bool of_analyze = path.starts_with("recorded/traffic/traffic_tables");
    const bool of_compare = path == "lab/compare/comparison_text.cc";
    if (!of_analyze && !of_compare) continue;
    for (const std::string& one : found_in(text, of_analyze ? heading : compared)) {
      columns[one] = path;
    }
  }
  CHECK(columns.size() > 120);
  for (const auto& column : columns) {
    CHECK_MESSAGE(known.contains(column.first), column.first << ", printed by " << column.second);
  }
}

TEST_CASE("every abbreviation that help, output or pages print stands in the glossary") {
  const std::map<std::string, std::string> texts = printed_texts();
  const std::set<std::string> plain = plain_words(texts), known = glossary_words();
  CHECK(known.contains("SACK"));
  // Capitals and digits that stand alone: no part of a path, a macro or a number.
  const std::regex capitals("[A-Za-z0-9_./%$-]+");
  std::map<std::string, std::string> missing;
  for (const auto& [file, text] : texts) {
    for (std::sregex_iterator at(text.begin(), text.end(), capitals), none; at != none; ++at) {
      std::string word = at->str();
      while (word.ends_with('.')) word.pop_back();
      if (word.size() > 2 && word.ends_with('s')) word.pop_back();
      const bool shape =
          word.size() > 1 && word.front() >= 'A' && word.front() <= 'Z' &&
          word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string::npos &&
          word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) != std::string::npos;
      if (!shape || known.contains(word) || kWords.contains(word)) continue;
      std::string small = word;
      for (char& c : small) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      if (!plain.contains(small)) missing.try_emplace(word, file);
    }
  }
  for (const auto& [word, file] : missing) {
    FAIL_CHECK(word << ", printed by " << file << ", is not in docs/glossary.md");
  }
}

TEST_CASE("every key of every file has a meaning in docs/keys.md") {
  std::istringstream lines(source_text(source("docs/keys.md")));
  std::string section;
  size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) section = line;
    if (!line.starts_with("| `")) continue;
    ++rows;
    CHECK_MESSAGE(!line.ends_with("|  |"), section << ": " << line);
  }
  CHECK(rows > 700);
}
