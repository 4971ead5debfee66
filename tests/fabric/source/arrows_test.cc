// Arrows point down only: a room includes those that its README names, and a sub-room likewise. The judge shares no
// code with the judged, and what runs in a browser asks nothing of a kernel.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "tests/fabric/source/room_arrows.h"
#include "tests/support/source_text.h"

using mrclab::test::Arrows;
using mrclab::test::kRooms;
using mrclab::test::listed_rooms;
using mrclab::test::read_arrows;
using mrclab::test::source_text;

namespace {

namespace fs = std::filesystem;

/// Arrows that no README may name.
constexpr std::array<std::array<std::string_view, 2>, 9> kNever{{{"analysis", "endpoint"},
                                                                 {"analysis", "switchd"},
                                                                 {"endpoint", "switchd"},
                                                                 {"switchd", "endpoint"},
                                                                 {"sim", "endpoint"},
                                                                 {"sim", "switchd"},
                                                                 {"scenario", "live"},
                                                                 {"recorded", "live"},
                                                                 {"session", "live"}}};
/// What has no place in a room that must give the same result on every machine.
constexpr std::array<std::string_view, 9> kImpure{"chrono", "ctime",  "time.h",
                                                  "thread", "mutex",  "condition_variable",
                                                  "future", "random", "sys/socket.h"};

/// What only netio/ may ask of the kernel.
constexpr std::array<std::string_view, 8> kKernelCalls{
    "::fork(", "::setns(", "::unshare(", "::mount(", "::umount", "epoll_", "popen(", "::clone("};

bool is_pure(std::string_view room) {
  constexpr std::array<std::string_view, 10> kWithClock{"netio",   "standalone", "console",  "sim",
                                                        "plan",    "scenario",   "recorded", "live",
                                                        "session", "lab"};
  return std::find(kWithClock.begin(), kWithClock.end(), room) == kWithClock.end();
}

/// Libraries that a program loads: what they stand in for is the program's own C library, sockets and clocks. They link
/// nothing of ours and no node includes them, so no history comes from here; what a host does about their requests is
/// in verbs/server, which is pure.
bool is_in_programs(std::string_view path) {
  return path.starts_with("verbs/client/") || path.starts_with("verbs/mrc/") ||
         path.starts_with("verbs/held/");
}

bool is_main(std::string_view path) { return path.ends_with("_main.cc"); }

std::string_view room_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// May the file at `path` (from the source root) include one of the room `target`?
bool may_include(const Arrows& arrows, std::string_view path, std::string_view target) {
  const std::string_view room = room_of(path);
  if (std::find(kRooms.begin(), kRooms.end(), target) == kRooms.end()) return false;
  if (target == room) return true;
  const auto may = arrows.find(room);
  if (may != arrows.end() && may->second.contains(std::string(target))) return true;
  return target == "netio" && is_main(path) && room != "fabric";  // a daemon's main
}

/// "live/world" of "live/world/pace.h"; empty for a file that lies in a room itself.
std::string sub_room_of(std::string_view path) {
  const size_t first = path.find('/');
  const size_t second = path.find('/', first + 1);
  return second == std::string_view::npos ? "" : std::string(path.substr(0, second));
}

/// May the file at `path` include the file at `target`, as far as their sub-rooms go?
bool sub_rooms_allow(const Arrows& rooms, std::string_view path, std::string_view target) {
  const std::string from = sub_room_of(path), to = sub_room_of(target);
  if (room_of(path) != room_of(target) || from == to || !rooms.contains(from) || from.empty())
    return true;
  return rooms.at(from).contains(to);
}

/// The rooms and sub-rooms that are on a circle: what is left when rooms without arrows are taken away.
std::set<std::string> rooms_on_circles(Arrows rooms) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto room = rooms.begin(); room != rooms.end();) {
      const bool free = std::none_of(room->second.begin(), room->second.end(),
                                     [&](const std::string& to) { return rooms.contains(to); });
      room = free ? rooms.erase(room) : std::next(room);
      changed |= free;
    }
  }
  std::set<std::string> left;
  for (const auto& [room, to] : rooms) left.insert(room);
  return left;
}

/// One line per #include in `text` that the design forbids. What is included goes to `included`.
std::vector<std::string> violations(const std::string& path, std::istream& text,
                                    const Arrows& rooms = {},
                                    std::set<std::string>* included = nullptr) {
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
    const bool wrong =
        name.front() == '"'
            ? !may_include(rooms, path, room_of(inside)) || !sub_rooms_allow(rooms, path, inside)
            : is_pure(room_of(path)) && !is_main(path) && !is_in_programs(path) &&
                  std::find(kImpure.begin(), kImpure.end(), inside) != kImpure.end();
    if (wrong) found.push_back(path + ":" + std::to_string(number) + ": " + line);
    if (included != nullptr && !is_main(path)) {
      included->insert({sub_room_of(inside), std::string(room_of(inside))});
    }
  }
  return found;
}

std::vector<std::string> violations(const std::string& path, const std::string& text,
                                    const Arrows& rooms = {}) {
  std::istringstream stream(text);
  return violations(path, stream, rooms);
}

}  // namespace

TEST_CASE("no file of any room includes against the arrows") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  const Arrows rooms = read_arrows(root);
  std::map<std::string, std::set<std::string>> used;
  std::vector<std::string> all;
  size_t files = 0;
  for (const std::string_view room : kRooms) {
    REQUIRE(fs::is_directory(root / room));
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream text(entry.path());
      REQUIRE(text);
      const std::string path = entry.path().lexically_relative(root).string();
      std::set<std::string> included;
      const auto found = violations(path, text, rooms, &included);
      all.insert(all.end(), found.begin(), found.end());
      for (const std::string& from : {std::string(room), sub_room_of(path)}) {
        used[from].insert(included.begin(), included.end());
      }
      ++files;
    }
  }
  CHECK(files > 20);
  for (const std::string& line : all) FAIL_CHECK(line);
  CHECK(rooms.size() > 30);
  for (const auto& entry : rooms) {
    const std::string& room = entry.first;  // what a lambda of doctest captures must have a name
    for (const std::string& to : entry.second) {
      CHECK_MESSAGE(used[room].contains(to), room, " may include ", to, " and does not");
    }
  }
  CHECK(rooms_on_circles(rooms).empty());
}

TEST_CASE("no README names an arrow that must never be") {
  const Arrows arrows = read_arrows(MRCLAB_SOURCE_DIR);
  for (const auto& never : kNever) {
    const std::string from(never[0]), to(never[1]);
    CHECK_MESSAGE(!arrows.at(from).contains(to), from, " -> ", to);
  }
}

TEST_CASE("only netio/ and libraries in programs fork, mount, enter namespaces, wait by epoll") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  for (const std::string_view room : kRooms) {
    if (room == "netio") continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      if (is_in_programs(entry.path().lexically_relative(root).string())) continue;
      const std::string text = source_text(entry.path());
      for (const std::string_view call : kKernelCalls) {
        CHECK_MESSAGE(text.find(call) == std::string::npos, entry.path().string(), ": ", call);
      }
    }
  }
}

TEST_CASE("what is fetched ahead is fetched by cache_line.h, whose fetching g++ does not drop") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  for (const std::string_view room : kRooms) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      const bool is_it = entry.path().filename() == "cache_line.h";
      const bool prefetches =
          source_text(entry.path()).find("__builtin_prefetch") != std::string::npos;
      CHECK_MESSAGE(prefetches == is_it, entry.path().string());
    }
  }
}

TEST_CASE("each sub-room has a README of at most 30 lines that names all of its headers") {
  const fs::path root = MRCLAB_SOURCE_DIR;
  for (const auto& sub_room : read_arrows(root)) {
    const std::string& room = sub_room.first;
    if (room.find('/') == std::string::npos) continue;  // a room itself
    const std::string readme = source_text(root / room / "README.md");
    CHECK_MESSAGE(std::count(readme.begin(), readme.end(), '\n') <= 30, room);
    for (const auto& entry : fs::directory_iterator(root / room)) {
      if (entry.path().extension() != ".h") continue;
      const std::string name = entry.path().stem().string();
      const bool named = readme.find("`" + name + "`") != std::string::npos ||
                         readme.find("`" + name + ".h`") != std::string::npos;
      CHECK_MESSAGE(named, room, "/README.md does not name ", name);
    }
  }
  for (const std::string_view room : {"fabric", "lab", "analysis", "netio", "endpoint", "routing",
                                      "live", "recorded", "scenario", "verbs"}) {
    for (const auto& entry : fs::directory_iterator(root / room)) {
      const bool has_sources =
          entry.is_directory() && entry.path().filename() != "page";  // what the browser gets
      if (has_sources) CHECK_MESSAGE(fs::exists(entry.path() / "README.md"), entry.path().string());
    }
  }
}

TEST_CASE("each forbidden arrow is noticed") {
  const auto refused = [](const std::string& path, const std::string& include) {
    return !violations(path, "#pragma once\n#include " + include + "\n",
                       read_arrows(MRCLAB_SOURCE_DIR))
                .empty();
  };
  CHECK(refused("endpoint/a.cc", "\"switchd/b.h\""));
  CHECK(refused("switchd/a.h", "\"endpoint/b.h\""));
  CHECK(refused("analysis/a.cc", "\"endpoint/b.h\""));
  CHECK(refused("analysis/a.cc", "\"switchd/b.h\""));
  CHECK(refused("faults/a.cc", "\"lab/b.h\""));
  CHECK(refused("routing/a.cc", "\"switchd/b.h\""));
  CHECK(refused("routing/a.cc", "\"netio/b.h\""));
  CHECK(refused("analysis/a.cc", "\"routing/b.h\""));
  CHECK(refused("fabric/a.cc", "\"routing/b.h\""));
  CHECK(refused("fabric/a.cc", "\"faults/b.h\""));
  CHECK(refused("fabric/a_main.cc", "\"netio/b.h\""));
  CHECK(refused("netio/a.cc", "\"switchd/b.h\""));
  CHECK(refused("endpoint/a.cc", "\"netio/b.h\""));
  CHECK(refused("verbs/endpointd_main.cc", "\"switchd/b.h\""));
  CHECK(refused("standalone/a.cc", "\"lab/b.h\""));
  CHECK(refused("endpoint/a.cc", "\"standalone/b.h\""));
  CHECK(refused("lab/a.cc", "\"tests/b.h\""));
  CHECK(refused("sim/a.cc", "\"endpoint/b.h\""));
  CHECK(refused("scenario/spec/a.cc", "\"live/b.h\""));
  CHECK(refused("session/a.cc", "\"live/b.h\""));
  CHECK(refused("recorded/run/a.cc", "\"lab/b.h\""));
  CHECK(refused("live/world/a.cc", "\"recorded/b.h\""));
  CHECK(refused("fabric/a.cc", "\"beside.h\""));
  CHECK(refused("switchd/a.cc", "<chrono>"));
  CHECK(refused("endpoint/a.cc", "<random>"));
  CHECK(refused("verbs/server/a.cc", "<sys/socket.h>"));
  CHECK(refused("verbs/server/held/a.cc", "<time.h>"));
  CHECK(refused("verbs/protocol/a.h", "\"verbs/client/b.h\""));
  CHECK(refused("verbs/server/a.cc", "\"verbs/client/b.h\""));
  CHECK(refused("verbs/held/a.cc", "\"verbs/server/b.h\""));
}

TEST_CASE("each forbidden arrow between sub-rooms is noticed, and so is a circle") {
  const Arrows rooms{{"live", {"netio"}}, {"live/world", {"live/bringup"}}, {"live/bringup", {}}};
  const auto refused = [&](const std::string& path, const std::string& include) {
    return !violations(path, "#include " + include + "\n", rooms).empty();
  };
  CHECK(refused("live/bringup/a.cc", "\"live/world/b.h\""));
  CHECK(refused("live/bringup/a.cc", "\"live/door.h\""));
  CHECK_FALSE(refused("live/world/a.cc", "\"live/bringup/b.h\""));
  CHECK_FALSE(refused("live/world/a.cc", "\"live/world/b.h\""));
  CHECK_FALSE(refused("live/door.cc", "\"live/world/b.h\""));
  CHECK_FALSE(refused("live/world/a.cc", "\"netio/kernel/b.h\""));

  CHECK(rooms_on_circles(rooms).empty());
  const Arrows circle{{"a/x", {"a/y"}}, {"a/y", {"a/z"}}, {"a/z", {"a/x"}}, {"a/w", {}}};
  CHECK(rooms_on_circles(circle) == std::set<std::string>{"a/x", "a/y", "a/z"});
  CHECK(listed_rooms("lab/", "May include: console,\nplan.\n") ==
        std::set<std::string>{"lab/console", "lab/plan"});
  CHECK(listed_rooms("lab/", "May include: no other room beside this one.\n").empty());
}

TEST_CASE("arrows that point down are allowed") {
  const auto allowed = [](const std::string& path, const std::string& include) {
    return violations(path, "  #include " + include + "  // why\n", read_arrows(MRCLAB_SOURCE_DIR))
        .empty();
  };
  CHECK(allowed("endpoint/a.cc", "\"endpoint/b.h\""));
  CHECK(allowed("endpoint/a.cc", "\"fabric/b.h\""));
  CHECK(allowed("verbs/endpointd_main.cc", "\"netio/b.h\""));
  CHECK(allowed("netio/a.cc", "\"fabric/b.h\""));
  CHECK(allowed("lab/a.cc", "\"analysis/b.h\""));
  CHECK(allowed("switchd/a.cc", "\"routing/b.h\""));
  CHECK(allowed("standalone/a.cc", "\"endpoint/b.h\""));
  CHECK(allowed("netio/a.cc", "<chrono>"));
  CHECK(allowed("switchd/a.cc", "<vector>"));
  CHECK(allowed("verbs/held/a.cc", "<sys/socket.h>"));
  CHECK(allowed("verbs/mrc/a.cc", "\"verbs/client/b.h\""));
}
