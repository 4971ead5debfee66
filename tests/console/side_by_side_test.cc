// Output of analyze and of the judge does not depend on how many threads they have.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/judge/analyze.h"
#include "console/all_cores.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "recorded/traffic/traffic_input.h"
#include "recorded/traffic/traffic_report.h"
#include "tests/lab/support/evidence_cuts.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/lab/support/written_run.h"
#include "tests/support/nightly.h"

namespace mrclab::lab::side_by_side_test {
namespace {

namespace fs = std::filesystem;
using analysis::SideBySide;

/// Losses, retransmissions, trims, and enough records for many batches.
const std::string kSharedIncast = R"(
name: side-by-side
fabric: octet
seed: 5
workload:
  - incast: {from: "h[1-7]", to: h0, load: 100%, message: 64KiB}
faults:
  - {at: 20us, wire_loss: {wire: "p1.t0-1:u0->p1.t1-0:d1", loss: 20%, for: 20us}}
end: 50us
expect: []
)";

Scenario incast(CaptureScope captures) {
  Scenario scenario = parse_scenario(read_yaml_text(kSharedIncast, "incast.yaml"));
  scenario.captures = captures;
  return scenario;
}

struct Way {
  const char* name;
  SideBySide side_by_side;
};

/// Two and three threads, and one that takes what could run at once in the other order: whatever
/// depends on who comes first shows there, without any luck.
std::vector<Way> ways() {
  return {{"two threads", on_threads(2)},
          {"three threads", on_threads(3)},
          {"one thread, backwards", [](size_t count, const std::function<void(size_t)>& work) {
             while (count > 0) work(--count);
           }}};
}

/// All tables of these captures, or why there are none.
std::string tables(const std::vector<fs::path>& files, const SideBySide& side_by_side,
                   size_t batch = 0) {
  TrafficWords words;
  for (const fs::path& file : files) words.sources.push_back(file.string());
  try {
    TrafficRequest request = traffic_request(words);
    request.input.side_by_side = side_by_side;
    request.input.batch = batch;
    return to_json(traffic_tables(analysis::analyze_traffic(request.input), request.context))
        .dump();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

void check_tables(const std::vector<fs::path>& files, size_t batch = 0) {
  const std::string alone = tables(files, {});
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    CHECK_MESSAGE(tables(files, way.side_by_side, batch) == alone, "other tables");
  }
}

/// All that a judge of these files writes.
std::string results(analysis::RunInputs inputs, const SideBySide& side_by_side) {
  inputs.side_by_side = side_by_side;
  std::string all;
  for (const analysis::ResultFile& file :
       analysis::result_files("run", analysis::analyze(inputs), {})) {
    all += file.name + "\n" + file.text + "\n";
  }
  return all;
}

void check_results(const analysis::RunInputs& inputs) {
  const std::string alone = results(inputs, {});
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    CHECK_MESSAGE(results(inputs, way.side_by_side) == alone, "other results");
  }
}

analysis::RunInputs with_captures(analysis::RunInputs inputs, std::vector<fs::path> captures) {
  inputs.captures = std::move(captures);
  return inputs;
}

void write(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_CASE("an optic glitch is analyzed and judged alike by any number of threads" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  ScenarioOverrides overrides;
  if (!test::nightly()) overrides.until = "650us";  // by day until it is over
  const Scenario scenario = load_scenario("optic-glitch", overrides);
  const fs::path capture = runs.run(scenario).folder.path / "captures" / "sim.pcapng";
  check_tables({capture});
  fs::create_directory(runs.path() / "written");
  const test::WrittenRun written = test::write_run(scenario, runs.path() / "written");
  check_tables(written.captures);
  check_results(written.inputs());
  check_results(with_captures(written.inputs(), {capture}));
}

TEST_CASE("captures of everything, of several processes, are analyzed and judged alike") {
  const test::TemporaryRuns runs;
  const Scenario scenario = incast(CaptureScope::kAll);
  fs::create_directory(runs.path() / "written");
  const test::WrittenRun written = test::write_run(scenario, runs.path() / "written");
  for (const size_t batch : {1, 7, 300}) check_tables(written.captures, batch);
  std::vector<fs::path> twice = written.captures;  // and what overlaps
  twice.insert(twice.end(), written.captures.begin(), written.captures.end());
  check_tables(twice, 64);
  check_results(written.inputs());
}

TEST_CASE("damaged captures are analyzed and judged alike by any number of threads") {
  const test::TemporaryRuns runs;
  const Scenario scenario = incast(CaptureScope::kHosts);
  fs::create_directory(runs.path() / "written");
  const test::WrittenRun written = test::write_run(scenario, runs.path() / "written");
  const std::string bytes = netio::read_file(written.captures[0], size_t{1} << 30);
  const fs::path damaged = runs.path() / "damaged.pcapng";
  std::mt19937_64 random(7);
  for (const test::Cut cut : test::cuts_of(test::FileKind::kCapture)) {
    if (cut == test::Cut::kFile) continue;
    CAPTURE(test::cut_name(cut));
    write(damaged, *test::without(test::FileKind::kCapture, bytes, cut, random));
    check_tables({damaged}, 100);
    check_tables({written.captures[1], damaged}, 100);
    check_results(with_captures(written.inputs(), {damaged}));
  }
  // Many bytes wrong, among them lengths, times, interfaces and packets.
  for (int i = 0; i < 20; ++i) {
    std::string wrong = bytes.substr(0, bytes.size() / 4);
    for (int j = 0; j < 1 + i * i; ++j) {
      wrong[2000 + random() % (wrong.size() - 2000)] = static_cast<char>(random());
    }
    write(damaged, wrong);
    check_tables({damaged}, 100);
    check_results(with_captures(written.inputs(), {damaged}));
  }
}

}  // namespace
}  // namespace mrclab::lab::side_by_side_test
