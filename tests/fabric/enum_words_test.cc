#include "fabric/text/enum_words.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/support/source_text.h"

namespace mrclab {
namespace {

enum class Colour { kRed, kGreen };

constexpr auto kColours =
    words_by_value<Colour>({{Colour::kRed, "red"}, {Colour::kGreen, "green"}});

}  // namespace

TEST_CASE("a word stands at the place of its value") {
  CHECK(kColours[static_cast<size_t>(Colour::kGreen)] == "green");
  CHECK(kColours.size() == 2);
}

}  // namespace mrclab

TEST_CASE("no list of words of the product is bound to an enum by position alone") {
  namespace fs = std::filesystem;
  const fs::path root = MRCLAB_SOURCE_DIR;
  // kWords[static_cast<size_t>(value)]: kWords is made by words_by_value, where its value stands beside each word.
  size_t looked_at = 0;
  for (const auto& room : fs::directory_iterator(root)) {
    if (!fs::exists(room.path() / "CMakeLists.txt") || room.path().filename() == "tests") continue;
    for (const auto& entry : fs::recursive_directory_iterator(room.path())) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      const std::string text = mrclab::test::source_text(entry.path());
      for (const std::string_view kind : {"constexpr const char* k", "constexpr std::string_view k",
                                          "constexpr std::array<std::string_view, "}) {
        for (size_t at = text.find(kind); at != std::string::npos; at = text.find(kind, at + 1)) {
          const size_t name_at = text.find(" k", at + kind.size() - 2) + 1;
          const std::string name =
              text.substr(name_at, text.find_first_of("[{ =;", name_at) - name_at);
          ++looked_at;
          CHECK_MESSAGE(text.find(name + "[static_cast<size_t>(") == std::string::npos,
                        entry.path().lexically_relative(root).string(), ": ", name);
        }
      }
    }
  }
  CHECK(looked_at > 30);
}
