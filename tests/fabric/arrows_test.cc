// Arrows point down only: the pure rooms know fabric/ and themselves, the judge shares no code with
// the judged, and only daemons' mains and lab/ touch the kernel.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kRooms{"fabric", "netio",    "endpoint",   "switchd",
                                                 "faults", "analysis", "standalone", "lab"};
/// What has no place in a room that must give the same result on every machine.
constexpr std::array<std::string_view, 9> kImpure{"chrono", "ctime",  "time.h",
                                                  "thread", "mutex",  "condition_variable",
                                                  "future", "random", "sys/socket.h"};

bool is_pure(std::string_view room) {
  return room != "netio" && room != "standalone" && room != "lab";
}

bool is_main(std::string_view path) { return path.ends_with("_main.cc"); }

std::string_view room_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// May the file at `path` (from the source root) include "`target`/..."?
bool may_include(std::string_view path, std::string_view target) {
  const std::string_view room = room_of(path);
  if (std::find(kRooms.begin(), kRooms.end(), target) == kRooms.end()) return false;
  if (room == "lab" || target == room || target == "fabric") return true;
  if (room == "standalone") return target == "netio" || target == "endpoint";
  return target == "netio" && is_main(path) && room != "fabric" && room != "netio";
}

/// One line per #include in `text` that the design forbids.
std::vector<std::string> violations(const std::string& path, std::istream& text) {
  std::vector<std::string> found;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::istringstream words(line);
    std::string directive, name;
    words >> directive;
    if (directive == "#") words >> directive;
    if (directive != "#include" && directive != "include") continue;
    words >> name;
    if (name.size() < 3) continue;
    const std::string inside = name.substr(1, name.size() - 2);
    const bool wrong = name.front() == '"'
                           ? !may_include(path, room_of(inside))
                           : is_pure(room_of(path)) && !is_main(path) &&
                                 std::find(kImpure.begin(), kImpure.end(), inside) != kImpure.end();
    if (wrong) found.push_back(path + ":" + std::to_string(number) + ": " + line);
  }
  return found;
}

std::vector<std::string> violations(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  return violations(path, stream);
}

}  // namespace

TEST_CASE("no file of any room includes against the arrows") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  std::vector<std::string> all;
  size_t files = 0;
  for (const std::string_view room : kRooms) {
    REQUIRE(fs::is_directory(root / room));
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream text(entry.path());
      REQUIRE(text);
      const auto found = violations(entry.path().lexically_relative(root).string(), text);
      all.insert(all.end(), found.begin(), found.end());
      ++files;
    }
  }
  CHECK(files > 20);
  for (const std::string& line : all) FAIL_CHECK(line);
}

TEST_CASE("each forbidden arrow is noticed") {
  const auto refused = [](const std::string& path, const std::string& include) {
    return !violations(path, "#pragma once\n#include " + include + "\n").empty();
  };
  CHECK(refused("endpoint/a.cc", "\"switchd/b.h\""));
  CHECK(refused("switchd/a.h", "\"endpoint/b.h\""));
  CHECK(refused("analysis/a.cc", "\"endpoint/b.h\""));
  CHECK(refused("analysis/a.cc", "\"switchd/b.h\""));
  CHECK(refused("faults/a.cc", "\"lab/b.h\""));
  CHECK(refused("fabric/a.cc", "\"faults/b.h\""));
  CHECK(refused("fabric/a_main.cc", "\"netio/b.h\""));
  CHECK(refused("netio/a.cc", "\"switchd/b.h\""));
  CHECK(refused("endpoint/a.cc", "\"netio/b.h\""));
  CHECK(refused("endpoint/endpointd_main.cc", "\"switchd/b.h\""));
  CHECK(refused("standalone/a.cc", "\"lab/b.h\""));
  CHECK(refused("endpoint/a.cc", "\"standalone/b.h\""));
  CHECK(refused("lab/a.cc", "\"tests/b.h\""));
  CHECK(refused("fabric/a.cc", "\"beside.h\""));
  CHECK(refused("switchd/a.cc", "<chrono>"));
  CHECK(refused("endpoint/a.cc", "<random>"));
}

TEST_CASE("arrows that point down are allowed") {
  const auto allowed = [](const std::string& path, const std::string& include) {
    return violations(path, "  #include " + include + "  // why\n").empty();
  };
  CHECK(allowed("endpoint/a.cc", "\"endpoint/b.h\""));
  CHECK(allowed("endpoint/a.cc", "\"fabric/b.h\""));
  CHECK(allowed("endpoint/endpointd_main.cc", "\"netio/b.h\""));
  CHECK(allowed("netio/a.cc", "\"fabric/b.h\""));
  CHECK(allowed("lab/a.cc", "\"analysis/b.h\""));
  CHECK(allowed("standalone/a.cc", "\"endpoint/b.h\""));
  CHECK(allowed("netio/a.cc", "<chrono>"));
  CHECK(allowed("switchd/a.cc", "<vector>"));
}
