#include "fabric/text/input_file.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace mrclab;

TEST_CASE("of a stream comes what there is, at most as much as is wanted") {
  std::string text;
  for (int i = 0; text.size() < 40'000; ++i) text += std::to_string(i) + "\n";
  text.resize(40'000);
  for (const size_t most :
       {0, 1, 16'383, 16'384, 16'385, 32'768, 39'999, 40'000, 40'001, 1 << 20}) {
    CAPTURE(most);
    std::istringstream stream(text);
    CHECK(read_at_most(stream, most) == text.substr(0, most));
  }
  std::istringstream stream(text);
  CHECK(read_at_most(stream, 10'000) == text.substr(0, 10'000));
  CHECK(read_at_most(stream, 1 << 20) == text.substr(10'000));
  CHECK(read_at_most(stream, 1 << 20).empty());
  std::istringstream failed;
  failed.setstate(std::ios::failbit);
  CHECK(read_at_most(failed, 100).empty());
}
