// Table and picture of the rooms in docs/architecture.md are those of the rooms' READMEs.

#include <doctest/doctest.h>

#include <sstream>
#include <vector>

#include "tests/fabric/source/room_arrows.h"
#include "tests/support/source_text.h"

using mrclab::test::Arrows;
using mrclab::test::kRooms;
using mrclab::test::read_arrows;

namespace {

std::vector<std::string> lines_of_page() {
  std::istringstream page(mrclab::test::source_text(MRCLAB_SOURCE_DIR "/docs/architecture.md"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) lines.push_back(line);
  return lines;
}

/// The words of `text` between `separator`, without the spaces around them.
std::vector<std::string> words_between(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream parts(text);
  for (std::string word; std::getline(parts >> std::ws, word, separator);) {
    word.erase(word.find_last_not_of(' ') + 1);
    words.push_back(word);
  }
  return words;
}

struct TableRow {
  int floor = 0;
  std::set<std::string> includes;
};

/// Rows "| floor | `room/` | what lives there | includes |".
std::map<std::string, TableRow> table_of_rooms() {
  std::map<std::string, TableRow> rows;
  for (const std::string& line : lines_of_page()) {
    if (!line.starts_with("| ") || line.find("/` |") == std::string::npos) continue;
    const std::vector<std::string> cells = words_between(line.substr(2), '|');
    REQUIRE(cells.size() == 4);
    TableRow row{std::stoi(cells[0]), {}};
    if (cells[3] != "-") {
      for (const std::string& room : words_between(cells[3], ',')) row.includes.insert(room);
    }
    rows[cells[1].substr(1, cells[1].size() - 3)] = row;
  }
  return rows;
}

/// Lines "  room --> room & room" of the picture.
Arrows picture_of_rooms() {
  Arrows arrows;
  for (const std::string& line : lines_of_page()) {
    const size_t arrow = line.find(" --> ");
    if (arrow == std::string::npos) continue;
    for (const std::string& to : words_between(line.substr(arrow + 5), '&')) {
      arrows[words_between(line.substr(0, arrow), ' ').front()].insert(to);
    }
  }
  return arrows;
}

/// The rooms that can be reached from `room`, itself apart.
std::set<std::string> reached_from(const Arrows& arrows, const std::string& room) {
  std::set<std::string> reached;
  const auto next = arrows.find(room);
  if (next == arrows.end()) return reached;
  for (const std::string& to : next->second) {
    reached.insert(to);
    reached.merge(reached_from(arrows, to));
  }
  return reached;
}

}  // namespace

TEST_CASE("the table of rooms is what the READMEs say, and arrows lead to lower floors") {
  const Arrows arrows = read_arrows(MRCLAB_SOURCE_DIR);
  const std::map<std::string, TableRow> table = table_of_rooms();
  CHECK(table.size() == kRooms.size());
  for (const auto& row : table) {
    const std::string& room = row.first;
    REQUIRE_MESSAGE(arrows.contains(room), room);
    CHECK_MESSAGE(row.second.includes == arrows.at(room), room);
    for (const std::string& to : row.second.includes) {
      REQUIRE_MESSAGE(table.contains(to), to);
      CHECK_MESSAGE(table.at(to).floor < row.second.floor, room, " includes ", to);
    }
  }
}

TEST_CASE(
    "the picture of rooms reaches what the READMEs' arrows reach, and has no arrow too many") {
  const Arrows arrows = read_arrows(MRCLAB_SOURCE_DIR), picture = picture_of_rooms();
  CHECK(picture.size() > 10);
  for (const std::string_view name : kRooms) {
    const std::string room(name);
    CHECK_MESSAGE(reached_from(picture, room) == reached_from(arrows, room), room);
  }
  for (const auto& entry : picture) {
    for (const std::string& to : entry.second) {
      Arrows without = picture;
      without[entry.first].erase(to);
      CHECK_MESSAGE(!reached_from(without, entry.first).contains(to), entry.first, " --> ", to,
                    " follows from other arrows");
    }
  }
}
