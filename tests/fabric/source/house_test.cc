// The shape of the house: rooms and folders that a person can hold in mind, and no circle of units.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fabric/source/product_sources.h"

namespace {

namespace fs = std::filesystem;
using mrclab::test::product_sources;

constexpr size_t kFolderMax = 40;    // source files
constexpr size_t kRoomPercent = 20;  // of all lines

/// "fabric/base/units" of "fabric/base/units.h": a header and its source are one unit.
std::string unit_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

using Units = std::map<std::string, std::set<std::string>>;

/// Which units each unit includes.
Units units_of(const std::map<std::string, std::string>& sources) {
  Units units;
  for (const auto& [path, text] : sources) {
    std::set<std::string>& to = units[unit_of(path)];
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#include \"")) continue;
      const std::string name = line.substr(10, line.find('"', 10) - 10);
      if (unit_of(name) != unit_of(path)) to.insert(unit_of(name));
    }
  }
  return units;
}

Units included_by(const Units& units) {
  Units by;
  for (const auto& [unit, to] : units) {
    by[unit];
    for (const std::string& other : to) by[other].insert(unit);
  }
  return by;
}

/// What is left when units that include none of the others are taken away, and so on.
Units without_ends(Units units) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto unit = units.begin(); unit != units.end();) {
      std::erase_if(unit->second, [&](const std::string& to) { return !units.contains(to); });
      changed |= unit->second.empty();
      unit = unit->second.empty() ? units.erase(unit) : std::next(unit);
    }
  }
  return units;
}

/// Units on circles, and those between two circles.
Units on_circles(const Units& units) {
  return included_by(without_ends(included_by(without_ends(units))));
}

}  // namespace

TEST_CASE("no folder of the product has more sources than a person can hold in mind") {
  std::map<std::string, size_t> folders;
  for (const auto& source : product_sources())
    ++folders[fs::path(source.first).parent_path().string()];
  CHECK(folders.size() > 50);
  for (const auto& folder : folders) {
    CHECK_MESSAGE(folder.second <= kFolderMax, folder.first, " has ", folder.second);
  }
}

TEST_CASE("no room is more than a fifth of the product") {
  std::map<std::string, size_t> rooms;
  size_t all = 0;
  for (const auto& source : product_sources()) {
    const auto lines =
        static_cast<size_t>(std::count(source.second.begin(), source.second.end(), '\n'));
    rooms[source.first.substr(0, source.first.find('/'))] += lines;
    all += lines;
  }
  CHECK(rooms.size() > 10);
  for (const auto& room : rooms) {
    CHECK_MESSAGE(room.second * 100 <= all * kRoomPercent, room.first, " has ", room.second, " of ",
                  all);
  }
}

TEST_CASE("no unit includes itself by way of others") {
  const Units units = units_of(product_sources());
  CHECK(units.size() > 300);
  for (const auto& unit : on_circles(units)) {
    std::string to;
    for (const std::string& other : unit.second) to += " " + other;
    FAIL_CHECK(unit.first, " includes", to);
  }
  CHECK(on_circles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}, {"d", {}}, {"e", {"a"}}}).size() ==
        3);
}

TEST_CASE("no list of words of the product is bound to an enum by position alone") {
  // kWords[static_cast<size_t>(value)]: words_by_value makes kWords, where its value stands beside each word.
  size_t looked_at = 0;
  for (const auto& source : product_sources()) {
    const std::string& text = source.second;
    for (const std::string_view kind : {"constexpr const char* k", "constexpr std::string_view k",
                                        "constexpr std::array<std::string_view, "}) {
      for (size_t at = text.find(kind); at != std::string::npos; at = text.find(kind, at + 1)) {
        const size_t name_at = text.find(" k", at + kind.size() - 2) + 1;
        const std::string name =
            text.substr(name_at, text.find_first_of("[{ =;", name_at) - name_at);
        ++looked_at;
        CHECK_MESSAGE(text.find(name + "[static_cast<size_t>(") == std::string::npos, source.first,
                      ": ", name);
      }
    }
  }
  CHECK(looked_at > 30);
}
