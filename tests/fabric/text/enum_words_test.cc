#include "fabric/text/enum_words.h"

#include <doctest/doctest.h>

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
