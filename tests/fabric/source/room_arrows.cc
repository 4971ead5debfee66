#include "tests/fabric/source/room_arrows.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/support/source_text.h"

namespace mrclab::test {

namespace fs = std::filesystem;

std::set<std::string> listed_rooms(const std::string& prefix, const std::string& readme) {
  const std::string label = "May include: ";
  const size_t at = readme.find(label);
  REQUIRE_MESSAGE(at != std::string::npos, prefix, "README.md says what the room may include");
  const size_t begin = at + label.size();
  std::istringstream names(readme.substr(begin, readme.find('.', begin) - begin));
  std::set<std::string> found;
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    if (!name.starts_with("no other room")) found.insert(prefix + name);
  }
  return found;
}

Arrows read_arrows(const fs::path& root) {
  Arrows rooms;
  for (const std::string_view room : kRooms) {
    rooms[std::string(room)] = listed_rooms("", source_text(root / room / "README.md"));
    for (const auto& entry : fs::directory_iterator(root / room)) {
      if (!entry.is_directory() || !fs::exists(entry.path() / "README.md")) continue;
      const std::string name = entry.path().lexically_relative(root).string();
      rooms[name] = listed_rooms(std::string(room) + "/", source_text(entry.path() / "README.md"));
    }
  }
  return rooms;
}

}  // namespace mrclab::test
