#include "scenario/spec/shipped_files.h"

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_CASE("a fabric is found by name or by path, and a wrong name gets the nearest one") {
  CHECK(find_fabric("octet").filename() == "octet.yaml");
  const std::filesystem::path folder = find_fabric("octet").parent_path();
  CHECK(find_fabric("pair.yaml", folder) == folder / "pair.yaml");
  CHECK(find_incident("optic-glitch").filename() == "optic-glitch.yaml");
  CHECK_THROWS_WITH_AS(find_fabric("octett"),
                       "found \"octett\", which names no fabric: expected \"octet\" or the path of "
                       "a file",
                       NameError);
  CHECK_THROWS_WITH_AS(find_fabric("./no/x.yaml"),
                       "found \"./no/x.yaml\", and no file \"./no/x.yaml\": expected the path of a "
                       "fabric file",
                       NameError);
}
