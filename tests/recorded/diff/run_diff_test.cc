// Differences planted on purpose, and whether `mrclab diff` names the first one.

#include "recorded/diff/run_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "analysis/history/history_file.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_manifest.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::mentions;

namespace {

namespace fs = std::filesystem;

const std::string kHead = R"(
name: planted
fabric: pair
seed: 9
workload:
  - all_reduce: {hosts: all, size: 256KiB, until: end}
faults:
  - {at: 30us, wire_loss: {wire: "p1.t0-0:u0->p1.t1-0:d0", loss: 20%, for: 50us}}
)";
const std::string kTail = R"(
end: 60us
expect:
  - no_qp_error
)";
const std::string kPlanted =
    "  - {at: 33us, wire_loss: {wire: \"h1:p0->p0.t0-1:d0\", loss: 30%, for: 20us}}";

Scenario scenario_of(const std::string& more = "") {
  Scenario scenario = parse_scenario(read_yaml_text(kHead + more + kTail, "planted.yaml"));
  scenario.captures = CaptureScope::kNone;
  return scenario;
}

void replace_in(const fs::path& file, const std::string& what, const std::string& with) {
  std::string text = netio::read_file(file);
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  netio::write_file(file, text.replace(at, what.size(), with));
}

/// The file `bytes`, changed since `seal` was read from it, as if it had been written so.
std::string sealed_again(const std::string& bytes, const EvidenceSeal& seal) {
  const std::string unsealed = bytes.substr(0, bytes.rfind(kSealWord));
  HistoryHeaderBytes header;
  std::copy_n(unsealed.begin(), header.size(), header.begin());
  const uint32_t records = checksum(0, std::string_view(unsealed).substr(header.size()));
  return unsealed + seal_of_history(seal, records, header);
}

/// Makes the record `index` of the run's file another one, and the stream's hash with it.
CompactRecord corrupt_record(const fs::path& folder, size_t index, size_t byte) {
  const fs::path file = folder / "history" / "sim.bin";
  std::string bytes = netio::read_file(file, 1 << 24);
  const size_t at = kHistoryHeaderBytes + index * kCompactRecordBytes;
  REQUIRE(bytes.size() > at + kCompactRecordBytes);
  auto reader = analysis::HistoryReader::open(file);
  while (reader.next()) continue;
  bytes[at + byte] ^= 0x01;
  netio::write_file(file, sealed_again(bytes, reader.seal().value()));
  const auto* raw = reinterpret_cast<const uint8_t*>(bytes.data()) + at;
  const auto record =
      parse_compact(std::span<const uint8_t, kCompactRecordBytes>(raw, kCompactRecordBytes), 32);
  RecordedRun run = read_run(folder);
  const std::string name = stream_names(run.scenario.topology)[record->stream];
  for (HistoryStream& stream : run.streams) {
    if (stream.name == name) stream.hash.back() ^= 0x01;
  }
  netio::write_file(folder / "history.txt", history_to_text(run.streams));
  replace_in(folder / "verdict.json", run.history_sha256, history_sha256(run.streams));
  write_manifest(folder);
  return *record;
}

std::string diff_error(const fs::path& a, const fs::path& b) {
  return test::error_of([&] { diff_runs(a, b, 4); });
}

}  // namespace

TEST_CASE("two runs of one seed have the same history, and diff says which") {
  const test::TemporaryRuns runs;
  const RunResult a = runs.run(scenario_of());
  const RunResult b = runs.run(scenario_of());
  const RunDiff diff = diff_runs(a.folder.path, b.folder.path, 4);
  CHECK(diff.same);
  CHECK(diff.hints.empty());
  CHECK(to_text(diff).find(a.verdict.metrics.history_sha256) != std::string::npos);
  CHECK(to_json(diff).at("same") == true);
}

TEST_CASE("one fault more: the first frame that it takes is named, with the fault") {
  const test::TemporaryRuns runs;
  const fs::path a = runs.run(scenario_of()).folder.path;
  const fs::path b = runs.run(scenario_of(kPlanted)).folder.path;
  const RunDiff diff = diff_runs(a, b, 4);
  REQUIRE(diff.located);
  const StreamDifference& first = diff.streams.front();
  CHECK(first.name == "p0.t0-1:d0/in");
  CHECK(first.t >= FabricTime::from_us(33));
  REQUIRE(first.a);
  REQUIRE(first.b);
  CHECK(first.a->event == PacketEvent::kPassed);
  CHECK(first.b->event == PacketEvent::kDropped);
  CHECK(first.b->cause == DropCause::kWireLoss);
  CHECK(same_packet(*first.a, *first.b));
  CHECK(mentions(diff.hints, "in force, B only: wire_loss h1:p0->p0.t0-1:d0 at 33us"));
  REQUIRE(diff.before.size() == 4);
  CHECK(diff.before.back().record.t <= first.t);
  const std::string text = to_text(diff);
  CAPTURE(text);
  CHECK(text.find("dropped, wire_loss") != std::string::npos);
  CHECK(test::widest_line(text.substr(text.find("-----"))) <= 80);
  CHECK(to_json(diff).at("first").at("stream") == "p0.t0-1:d0/in");
}

TEST_CASE("another seed of a lossy wire is named as such") {
  const test::TemporaryRuns runs;
  Scenario scenario = scenario_of();
  const fs::path a = runs.run(scenario).folder.path;
  scenario.seed = 10;
  const RunDiff diff = diff_runs(a, runs.run(scenario).folder.path, 4);
  CHECK(diff.located);
  CHECK(mentions(diff.hints, "seed: A 9, B 10"));
}

TEST_CASE("of unlike fabrics no more streams differ than there are") {
  const test::TemporaryRuns runs;
  const auto folder_of = [&](const std::string& fabric) {
    Scenario scenario = parse_scenario(
        read_yaml_text("name: unlike\nfabric: " + fabric +
                           "\nseed: 9\nworkload:\n  - all_reduce: {hosts: all, size: 64KiB, until: "
                           "end}\nend: 30us\nexpect: [no_qp_error]\n",
                       "unlike.yaml"));
    scenario.captures = CaptureScope::kNone;
    return runs.run(scenario).folder.path;
  };
  const RunDiff diff =
      diff_runs(folder_of("{name: a, planes: 4, t0: 2, t1: 1, hosts_per_t0: 1}"),
                folder_of("{name: b, planes: 1, t0: 2, t1: 4, hosts_per_t0: 1}"), 4);
  const std::string text = to_text(diff), counted = "streams that differ: ";
  size_t differ = 0, all = 0;
  REQUIRE(text.find(counted) != std::string::npos);
  REQUIRE(std::sscanf(text.c_str() + text.find(counted) + counted.size(), "%zu of %zu", &differ,
                      &all) == 2);
  CHECK(differ == diff.streams.size());
  CHECK(differ <= all);
  CHECK(differ > std::max(diff.a.streams.size(), diff.b.streams.size()));
}

TEST_CASE("one bit of one record is found at its place") {
  const test::TemporaryRuns runs;
  const fs::path a = runs.run(scenario_of()).folder.path;
  const fs::path b = runs.run(scenario_of()).folder.path;
  const CompactRecord record = corrupt_record(b, 700, 31);  // in the fingerprint
  const RunDiff diff = diff_runs(a, b, 4);
  REQUIRE(diff.located);
  REQUIRE(diff.streams.size() == 1);
  CHECK(diff.streams.front().b == record);
  CHECK(to_text(diff).find("its carrier, addresses or BTH bits differ") != std::string::npos);
}

TEST_CASE(
    "records that do not reach the difference: up to when both are the same, and what to do") {
  const test::TemporaryRuns runs;
  const fs::path a = runs.run(scenario_of()).folder.path;
  RunOptions options = runs.options(World::kSim);
  options.history_bytes = 16 << 10;
  const fs::path b = run_scenario(scenario_of(kPlanted), options).folder.path;
  const RunDiff diff = diff_runs(a, b, 4);
  CHECK_FALSE(diff.same);
  CHECK_FALSE(diff.located);
  CHECK(diff.complete() > FabricTime::zero());
  CHECK(diff.complete() < FabricTime::from_us(33));
  CHECK(to_text(diff).find("mrclab run " + b.string() + "/scenario.yaml --world sim --history ") !=
        std::string::npos);
  options.history_bytes = 0;
  const fs::path digest = run_scenario(scenario_of(kPlanted), options).folder.path;
  CHECK(to_text(diff_runs(a, digest, 4)).find("kept no complete records") != std::string::npos);
}

TEST_CASE("what is no run folder, or a broken one, is refused with the file's name") {
  const test::TemporaryRuns runs;
  const fs::path good = runs.run(scenario_of()).folder.path;
  const fs::path other = runs.run(scenario_of(kPlanted)).folder.path;
  CHECK(diff_error(good, "nowhere").find("found no run folder \"nowhere\"") == 0);
  CHECK(diff_error(runs.path(), good).find("found no SHA256SUMS") != std::string::npos);
  const auto broken = [&](const char* file, const std::string& content) {
    const fs::path copy = runs.path() / "copy";
    fs::remove_all(copy);
    fs::copy(other, copy, fs::copy_options::recursive);
    netio::write_file(copy / file, content);
    write_manifest(copy);
    return diff_error(good, copy);
  };
  CHECK(broken("verdict.json", "{}").find("verdict.json: ") != std::string::npos);
  CHECK(broken("verdict.json", "[").find("verdict.json: ") != std::string::npos);
  CHECK(broken("history.txt", "x").find("expected lines of name") != std::string::npos);
  CHECK(broken("history.txt", "").find("not the history that verdict.json names") !=
        std::string::npos);
  CHECK(broken("scenario.yaml", "name: x").find("scenario.yaml") != std::string::npos);
  CHECK(broken("history/sim.bin", "x").find("it ends within its header") != std::string::npos);
}

// A change of behaviour changes this digest: then the new one is put here, and the commit has the reason.
// Compiler, optimization and sanitizers must not: every build's tests run this.
TEST_CASE("a simulated history is the same on any build") {
  const test::TemporaryRuns runs;
  CHECK(runs.run(scenario_of(kPlanted)).verdict.metrics.history_sha256 ==
        "95555eef2047ac3bc0c05f68904bed1bfea5a1269332571036b252c7c8bb3155");
}
