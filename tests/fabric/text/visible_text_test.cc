#include "fabric/text/visible_text.h"

#include <doctest/doctest.h>

#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"

using namespace mrclab;

TEST_CASE("what has a shape is shown as it is, everything else as its bytes") {
  struct Row {
    std::string text, shown;
  };
  const Row table[] = {
      {"p0.t0-0:u0 -> h3", "p0.t0-0:u0 -> h3"},
      {"Größe 5 µs", "Größe 5 µs"},
      {"\U0001F600", "\U0001F600"},
      {"\x1b[2J\x1b[1;1Hpass", "\\x1b[2J\\x1b[1;1Hpass"},
      {"a\rb\tc\nd", "a\\x0db\\x09c\\nd"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\x7f", "\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b"
       "2J"},  // CSI of eight bits
      {"\xe2\x80\xae"
       "cod",
       "\\xe2\\x80\\xae"
       "cod"},  // right to left from here
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc0\xaf", "\\xc0\\xaf"},           // longer than needed
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // half of a pair
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"cut \xe2\x82", "cut \\xe2\\x82"},
  };
  for (const Row& row : table) CHECK(visible(row.text) == row.shown);
  CHECK(visible_lines("a\n\tb\r\x1b[A\n") == "a\n\tb\\x0d\\x1b[A\n");
}

TEST_CASE("what is quoted in an error is visible, too") {
  CHECK(in_quotes("a\x1b[A\n\xff") == "\"a\\x1b[A\\n\\xff\"");
}

TEST_CASE("the depth of JSON is what its brackets say, outside of texts") {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK_FALSE(nests_too_deep(nested(kMaxJsonDepth)));
  CHECK(nests_too_deep(nested(kMaxJsonDepth + 1)));
  CHECK(nests_too_deep(std::string(100'000, '{')));
  std::string flat;
  for (int i = 0; i < 1000; ++i) flat += "[{}],";
  CHECK_FALSE(nests_too_deep(flat));
  CHECK_FALSE(nests_too_deep("\"" + std::string(1000, '[') + "\""));
  CHECK_FALSE(nests_too_deep("\"\\\"" + std::string(1000, '[') + "\""));
  CHECK(nests_too_deep("\"\\\\\"" + std::string(1000, '[')));
  CHECK_FALSE(nests_too_deep("]]]]"));
}
