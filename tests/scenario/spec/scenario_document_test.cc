// Scenarios that include files, have variables, and values set from outside; and all mistakes of a file at once.

#include "scenario/spec/scenario_document.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "scenario/spec/scenario.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::error_of;

namespace {

class Files {
 public:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  /// Of a message about a file here, without the folder.
  std::string error(const std::filesystem::path& path,
                    const std::vector<SetValue>& sets = {}) const {
    ScenarioOverrides overrides;
    overrides.sets = sets;
    std::string text = error_of([&] { read_scenario_file(path, overrides); });
    const std::string folder = (folder_ / "").string();
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

 private:
  netio::test::TemporaryDirectory folder_;
};

const std::string kBase =
    "fabric: pair\nend: 100us\nvars: {size: 64KiB}\n"
    "workload:\n  - write: {from: h0, to: h1, size: ${size}, until: end}\n";

Scenario read_with(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  ScenarioOverrides overrides;
  for (const std::string& set : sets) overrides.sets.push_back(read_set(set).front());
  return read_scenario_file(path, overrides);
}

}  // namespace

TEST_CASE("a scenario is laid over the files that it includes, each path from its own file") {
  const Files files;
  files.write("parts/base.yaml",
              kBase + "faults:\n  - {at: 10us, nic_dead: {host: h0, for: 5us}}\n");
  files.write("parts/twice.yaml", "include: base.yaml\nend: 200us\n");
  const auto path = files.write("s.yaml",
                                "include: parts/twice.yaml\nname: s\nvars: {size: 1KiB}\n"
                                "faults:\n  - {at: 20us, nic_dead: {host: h1, for: 5us}}\n");
  const Scenario scenario = read_scenario_file(path);
  CHECK(scenario.end == FabricTime::from_us(200));
  CHECK(std::get<endpoint::WriteSpec>(scenario.workload.at(0)).size == Bytes{1024});
  REQUIRE(scenario.faults.size() == 2);
  CHECK(scenario.faults[1].at == FabricTime::from_us(20));
  // What a run folder keeps names no other file and no variable.
  CHECK(parse_scenario(read_yaml_text(to_yaml(scenario), "again")).end == scenario.end);
  const auto wrong = files.write("w.yaml", "include: parts/base.yaml\nname: w\nseed: x\nend: 5\n");
  CHECK(files.error(wrong).starts_with("w.yaml:3:7: found \"x\""));
  CHECK(files.error(wrong).find("w.yaml:4:6: found \"5\"") != std::string::npos);
}

TEST_CASE("includes end: no circle, bounded depth, relative, and only of scenarios") {
  const Files files;
  const auto circle = files.write("a.yaml", "include: b.yaml\nname: a\n");
  files.write("b.yaml", "include: a.yaml\nend: 1us\n");
  CHECK(
      files.error(circle) ==
      "b.yaml:1:10: found \"a.yaml\", which includes itself that way: expected files that include "
      "others in no circle");
  std::filesystem::path deep = files.write("d0.yaml", "end: 1us\n");
  for (int i = 1; i < 12; ++i) {
    deep = files.write("d" + std::to_string(i) + ".yaml",
                       "include: d" + std::to_string(i - 1) + ".yaml\nend: 1us\n");
  }
  CHECK(files.error(deep).find("found deeper includes: expected at most 8 levels") !=
        std::string::npos);
  CHECK(files.error(files.write("c.yaml", "include: /etc/passwd\nname: c\n")) ==
        "c.yaml:1:10: found \"/etc/passwd\": expected the path of a file, relative to this one");
  files.write("secret", "root:$6$abc:19000:0:99999:7:::\nuser: x\n");
  const std::string secret = files.error(files.write("e.yaml", "include: secret\nname: e\n"));
  CHECK(secret.find("abc") == std::string::npos);
  CHECK(secret.find("a map with keys of a scenario") != std::string::npos);
  CHECK(error_of([] {
          parse_scenario(read_yaml_text("include: x.yaml\nname: s\n", "page"));
        }).find("where no file is read") != std::string::npos);
}

TEST_CASE(
    "any key of a scenario can be set: its variables by name, those below a fabric's name too") {
  const Files files;
  const auto path = files.write("s.yaml", "name: s\n" + kBase);
  const auto write_of = [](const Scenario& scenario) {
    return std::get<endpoint::WriteSpec>(scenario.workload.at(0));
  };
  CHECK(write_of(read_with(path, {"size=2KiB"})).size == Bytes{2048});
  CHECK(write_of(read_with(path, {"workload[0].write.depth=3"})).depth == 3);
  CHECK(read_with(path, {"seed=9", "end=50us"}).end == FabricTime::from_us(50));
  CHECK(read_with(path, {"fabric.planes=4"}).topology.planes == 4);
  CHECK(read_with(path, {"transport.evs=2"}).transport != read_scenario_file(path).transport);
  CHECK(files.error(path, {{"sise", "1KiB"}}).find("expected \"size\"") != std::string::npos);
  CHECK(files.error(path, {{"vars.other", "1"}}).find("no variable of") != std::string::npos);
  CHECK(files.error(path, {{"end", "soon"}}).starts_with("--set end:1:1: found \"soon\""));
  CHECK(read_set("hosts=\"h[0,1]\",all").size() == 2);
  CHECK(error_of([] { read_set("end"); }).find("expected KEY=VALUE") != std::string::npos);
}

TEST_CASE("all mistakes of a scenario are reported at once, with what would be right") {
  const Files files;
  const auto path = files.write("s.yaml",
                                "name: s\nfabric: pair\nseeed: 1\n"
                                "workload:\n"
                                "  - write: {from: h0, to: h9, size: 1MiB, deepth: 4, until: end}\n"
                                "  - all_redduce: {size: 1MiB}\n"
                                "faults:\n"
                                "  - {at: 10us, link_dwn: {link: \"h0:p0\"}}\n"
                                "end: 100us\n"
                                "captures: some\n"
                                "expect:\n"
                                "  - losses: {at_mots: 0}\n");
  const std::string all = files.error(path);
  CAPTURE(all);
  for (const char* part :
       {"s.yaml:3:1: found the key \"seeed\": expected \"seed\"\n",
        "s.yaml:5:43: found the key \"deepth\": expected \"depth\"\n",
        "s.yaml:6:5: found the workload \"all_redduce\": expected \"all_reduce\"\n",
        "s.yaml:8:16: found the fault \"link_dwn\": expected \"link_down\"\n",
        "s.yaml:10:11: found \"some\": expected \"none\"\n",
        "s.yaml:12:14: found the key \"at_mots\": expected \"at_most\""}) {
    CHECK(all.find(part) != std::string::npos);
  }
  const std::string nameless = files.error(files.write(
      "n.yaml",
      "name: n\nfabric: piar\nend: soon\nworkload:\n  - wirte: {}\nfaults:\n  - {att: 1us}\n"));
  CAPTURE(nameless);
  CHECK(nameless.find("n.yaml:2:9: found \"piar\"") != std::string::npos);
  CHECK(nameless.find("n.yaml:3:6: found \"soon\"") != std::string::npos);
  CHECK(nameless.find("n.yaml:5:5: found the key \"wirte\"") != std::string::npos);
}
