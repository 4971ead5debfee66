#include "fabric/text/line_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <vector>

#include "fabric/text/yaml.h"
#include "tests/support/errors.h"

namespace mrclab {
namespace {

namespace fs = std::filesystem;

/// A file that goes away with the test.
struct TextFile {
  explicit TextFile(const std::string& text) {
    std::string name = fs::temp_directory_path() / "mrclab-lines-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
    path = folder / "events.jsonl";
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TextFile() { fs::remove_all(folder); }
  fs::path folder, path;
};

std::vector<std::string> lines_of(const std::string& text) {
  const TextFile file(text);
  LineFile lines(file.path);
  std::vector<std::string> all;
  for (std::string line; lines.next(line);) all.push_back(line);
  return all;
}

TEST_CASE("a file's lines come one by one, the last with or without its end") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("").empty());
  CHECK(lines_of("a\n\nb\n") == Lines{"a", "", "b"});
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of(std::string("\0\n", 2)) == Lines{std::string(1, '\0')});
}

TEST_CASE("a line without end is refused by file and number, before it fills the memory") {
  const std::string longest(LineFile::kMaxLineBytes, 'x');
  CHECK(lines_of("a\n" + longest + "\nb\n").size() == 3);
  const TextFile file("a\n" + longest + "x\nb\n");
  LineFile lines(file.path);
  std::string line;
  CHECK(lines.next(line));
  const std::string said = test::error_of([&] { lines.next(line); });
  CHECK(said.find("events.jsonl:2: found a line of more than 1048576 bytes") != std::string::npos);
  CHECK(line.size() <= LineFile::kMaxLineBytes);
  CHECK(test::error_of([&] { LineFile(file.folder / "none"); }).find("none: No such file") !=
        std::string::npos);
}

}  // namespace
}  // namespace mrclab
