#include "scenario/spec/shipped_files.h"

#include <doctest/doctest.h>

#include "endpoint/options/transport_choice.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "netio/system/file_descriptor.h"

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

TEST_CASE("every shipped tuning is options of RoCE, with its search and its figures beside it") {
  const std::filesystem::path folder = find_fabric("octet").parent_path().parent_path() / "tunings";
  const Topology topology = build_topology(parse_fabric(read_yaml_file(find_fabric("octet"))));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path().string());
    const auto choice =
        endpoint::parse_transport(read_yaml_file(entry.path()).require("transport"), topology);
    CHECK(choice.profile == "roce");
    CHECK(choice.overrides.size() > 1);
    const std::string text = netio::read_file(entry.path());
    CHECK(text.find("tests/bench/tune_dcqcn") != std::string::npos);
    CHECK(text.find("with these numbers: goodput") != std::string::npos);
    ++files;
  }
  CHECK(files > 0);
}
