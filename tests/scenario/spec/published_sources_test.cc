// "Published" stands only beside the section, figure, table or page where it is: in scenarios and on pages.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "analysis/expect/source_place.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = MRCLAB_SOURCE_DIR;

std::string text_of(const fs::path& file) { return netio::read_file(file, size_t{1} << 24); }

std::vector<fs::path> pages() {
  std::vector<fs::path> files{kRoot / "README.md", kRoot / "topologies/README.md"};
  for (const char* folder : {"docs", "lessons"}) {
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      const bool generated = entry.path().filename() == "keys.md";  // it names the key `published`
      if (entry.path().extension() == ".md" && !generated) files.push_back(entry.path());
    }
  }
  return files;
}

/// Paragraphs and tables: what stands between empty lines.
std::vector<std::string> blocks_of(const std::string& text) {
  std::vector<std::string> blocks(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      blocks.emplace_back();
    } else {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

bool has_any(const std::string& text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

/// Does a block with the word name where the figures are, or that there are none?
bool is_sourced(const std::string& block) {
  return analysis::names_its_place(block) ||
         has_any(block, {"published.md", "topologies/README.md"}) ||
         has_any(block, {"not published", "no published", "without a published",
                         "Without a published", "nobody has published", "no vendor has published"});
}

/// The cells of a table's row.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream parts(line);
  for (std::string cell; std::getline(parts, cell, '|');) {
    const size_t from = cell.find_first_not_of(' ');
    cells.push_back(
        from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(' ') + 1 - from));
  }
  return cells;
}

TEST_CASE(
    "each paragraph and table of a page that says published has a source, or says that there is "
    "none") {
  size_t looked_at = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& block : blocks_of(text_of(page))) {
      if (!has_any(block, {"published", "Published"})) continue;
      ++looked_at;
      CHECK_MESSAGE(is_sourced(block), page.string(), ":\n", block);
    }
  }
  CHECK(looked_at >= 6);
}

TEST_CASE("each row with a published figure is of an incident that names the place of its source") {
  std::istringstream lines(text_of(kRoot / "docs/published.md"));
  std::map<std::string, size_t> columns;
  size_t rows = 0;
  std::string file;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of(line);
    const auto cell = [&](const char* name) {
      const auto at = columns.find(name);
      return at == columns.end() || at->second >= cells.size() ? "" : cells[at->second];
    };
    if (!line.starts_with("|")) {
      columns.clear();
    } else if (columns.empty()) {
      for (size_t i = 0; i < cells.size(); ++i) columns[cells[i]] = i;
    } else if (const std::string published = cell("published");
               columns.contains("file") &&
               published.find_first_of("0123456789") != std::string::npos) {
      ++rows;
      if (const std::string name = cell("file"); !name.empty())
        file = name.substr(1, name.size() - 2);
      CAPTURE(line);
      const std::string incident = text_of(kRoot / "topologies/incidents" / (file + ".yaml"));
      CHECK(analysis::names_its_place(incident));
    }
  }
  CHECK(rows > 20);
}

TEST_CASE("each published figure of a shipped scenario names its place") {
  size_t figures = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "topologies/incidents")) {
    if (entry.path().extension() != ".yaml") continue;
    const Scenario scenario = parse_scenario(read_yaml_file(entry.path()));
    for (const analysis::Expectation& expectation : scenario.expect) {
      if (!expectation.published) continue;
      ++figures;
      CHECK_MESSAGE(analysis::names_its_place(expectation.published->figure),
                    entry.path().string());
    }
    if (has_any(scenario.about, {"published", "Published"})) {
      CHECK_MESSAGE((analysis::names_its_place(scenario.about) ||
                     has_any(scenario.about, {"not published", "No source published"})),
                    entry.path().string());
    }
  }
  CHECK(figures > 50);
}

}  // namespace
}  // namespace mrclab::lab
