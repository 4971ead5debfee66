#include "lazy/lazy_library.h"

#include <doctest/doctest.h>

using mrclab::late::call_late;
using mrclab::late::find_function;

namespace {

double cube_root(double of) { return call_late<&cube_root>("libm.so.6", "cbrt", of); }

}  // namespace

TEST_SUITE("libraries that are loaded late") {
  TEST_CASE("a function of a library that was not linked is found when it is called") {
    CHECK(cube_root(27) == doctest::Approx(3));
    CHECK(cube_root(8) == doctest::Approx(2));
  }

  TEST_CASE("where a library or a function in it is missing, the error names it") {
    CHECK_THROWS_WITH(find_function("libno-such-library.so.7", "f"),
                      doctest::Contains("libno-such-library.so.7"));
    CHECK_THROWS_WITH(find_function("libc.so.6", "no_such_function"),
                      doctest::Contains("no_such_function"));
  }
}
