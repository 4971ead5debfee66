// Independent evidence: libpcap on the veths and the daemons' own captures show the same packets, and
// where they do not, the verdict reports it.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <random>

#include "analysis/capture/open_capture.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/judge/analyze.h"
#include "analysis/judge/tap_evidence.h"
#include "fabric/packet/trailer.h"
#include "lab/run/run_taps.h"
#include "lab/run/scenario_run.h"
#include "netio/record/pcapng.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/evidence_cuts.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using analysis::CheckResult;
using analysis::Result;

namespace {

/// Loss that senders see, a cut that they do not, trims, and copies.
constexpr const char* kTapped = R"(
name: tapped
fabric: octet
workload:
  - incast: {from: "h4, h5, h6", to: h0, load: 60%, message: 16KiB}
faults:
  - {at: 40us, wire_loss: {link: "h4:p0", loss: 5%, until: 90us}}
  - {at: 50us, duplicate: {link: "h5:p1", share: 5%, until: 90us}}
  - {at: 60us, link_down: {link: "h0:p3", for: 30us}}
end: 150us
taps: all
expect:
  - no_qp_error
)";

Scenario parse_tapped(const std::string& text) {
  return parse_scenario(read_yaml_text(text, "tapped.yaml"));
}

/// A copy of what the taps wrote, without the records that `drop` chooses.
void copy_without(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::function<bool(const TimeTrailer&, const std::string&)>& drop) {
  const auto reader = analysis::open_capture(from);
  netio::PcapngOptions options;
  options.snap_length = 65'535;
  netio::PcapngWriter writer(to, options);
  size_t interfaces = 0;
  analysis::CaptureRecord record;
  while (reader->next(record)) {
    for (; interfaces < reader->interfaces().size(); ++interfaces) {
      writer.add_interface(reader->interfaces()[interfaces].name);
    }
    const auto at = trailer_offset(record.bytes);
    const auto trailer = at ? parse_trailer(record.bytes.subspan(*at)) : std::nullopt;
    if (trailer && drop(*trailer, reader->interfaces()[record.interface].name)) continue;
    netio::PcapngRecord copy;
    copy.interface = record.interface;
    copy.t = record.t;
    copy.bytes = record.bytes;
    writer.write(copy);
  }
  writer.close({});
}

const CheckResult* tap_check(const analysis::Verdict& verdict) {
  for (const CheckResult& check : verdict.checks) {
    if (check.name == "taps_agree") return &check;
  }
  return nullptr;
}

CheckResult judge_file(const Scenario& scenario, const RunFolder& folder,
                       const std::filesystem::path& file) {
  analysis::SightingReader frames(scenario.topology);
  for (const auto& capture : analysis::captures_in(folder.captures())) frames.add_file(capture);
  const analysis::PacketHistory daemons =
      analysis::join_sightings(scenario.topology, frames.take());
  analysis::TapEvidence taps(scenario.topology, scenario.stop());
  taps.add_file(file);
  taps.finish();
  return judge_taps(compare(scenario.topology, daemons, taps.packets()), taps, 0);
}

}  // namespace

TEST_CASE("taps that could see nothing, or that nothing is held against, are refused") {
  const test::TemporaryRuns runs;
  std::string text = kTapped;
  text += "captures: none\n";
  CHECK_THROWS_WITH_AS(runs.run(parse_tapped(text)),
                       "tapped: found \"taps\" beside \"captures: none\": expected captures to "
                       "hold them against",
                       InputError);
  Scenario fast = parse_tapped(kTapped);
  fast.topology.wires = WireMode::kFast;
  CHECK_THROWS_AS(runs.run(fast), InputError);
  CHECK(parse_tapped(to_yaml(parse_tapped(kTapped))).taps == CaptureScope::kAll);
  // The simulator has no veths: nothing is tapped, and nothing is claimed.
  CHECK(tap_check(runs.run(parse_tapped(kTapped)).verdict) == nullptr);
}

TEST_SUITE("root: taps") {
  TEST_CASE("libpcap on every veth and the daemons show the same transmissions") {
    const test::TemporaryRuns runs;
    const Scenario scenario = parse_tapped(kTapped);
    RunOptions options = runs.options(World::kLive);
    options.lab_name = "t_taps_" + std::to_string(::getpid());
    const RunResult result = run_scenario(scenario, options);
    CAPTURE(analysis::to_table(result.verdict));
    REQUIRE(result.verdict.timing.faithful);
    const CheckResult* check = tap_check(result.verdict);
    REQUIRE(check != nullptr);
    CAPTURE(check->note);
    CHECK(check->result == Result::kPass);
    CHECK(check->note.find("frames at both ends of 256 wires") != std::string::npos);
    REQUIRE(result.verdict.taps);
    CHECK(result.verdict.taps->interfaces == 256);
    CHECK(result.verdict.taps->packets > result.verdict.metrics.data_packets);
    CHECK(result.verdict.taps->missing == 0);

    // It takes one frame at one end of one wire to notice.
    const auto file = tap_file(result.folder), fewer = runs.path() / "fewer.pcapng";
    CHECK(judge_file(scenario, result.folder, file).note == check->note);
    const auto without = [&](const std::string& port, uint64_t sequence) {
      copy_without(file, fewer, [&](const TimeTrailer& trailer, const std::string& name) {
        return name == port && trailer.sequence == sequence &&
               (scenario.topology.port_name(scenario.topology.wire(trailer.wire).from) == port);
      });
      return judge_file(scenario, result.folder, fewer);
    };
    const CheckResult at_host = without("h4:p2", 1);
    CHECK(at_host.result == Result::kFail);
    CHECK(at_host.note.find("1 wire whose ends differ") != std::string::npos);
    CHECK(at_host.measured.value_or(0) >= 1);
    const CheckResult at_switch = without("p2.t0-1:u0", 0);
    CHECK(at_switch.result == Result::kFail);
    CHECK(at_switch.measured == 1);
  }

  TEST_CASE("no part of what was tapped, and none with another bit, is held against anything") {
    const test::TemporaryRuns runs;
    const Scenario scenario = parse_tapped(kTapped);
    RunOptions options = runs.options(World::kLive);
    options.lab_name = "t_tapcut_" + std::to_string(::getpid());
    const RunResult result = run_scenario(scenario, options);
    const std::filesystem::path whole = tap_file(result.folder);
    CHECK(judge_file(scenario, result.folder, whole).result == Result::kPass);
    const std::string bytes = netio::read_file(whole, size_t{1} << 30);
    const std::filesystem::path part = runs.path() / "part.pcapng";
    std::mt19937_64 random(1);
    const int rounds = test::nightly() ? 20 : 5;
    for (int i = 0; i < rounds; ++i) {
      for (const test::Cut cut : test::kCuts) {
        const auto left = test::without(test::FileKind::kCapture, bytes, cut, random);
        std::filesystem::remove(part);
        if (left) netio::write_file(part, *left);
        INFO(test::kCutNames[static_cast<size_t>(cut)], ", ", i);
        CHECK_THROWS_AS(judge_file(scenario, result.folder, part), analysis::CaptureError);
      }
    }
  }

  TEST_CASE("a run does not wait for taps whose disk is full, and says that it is") {
    const test::TemporaryRuns runs;
    RunOptions options = runs.options(World::kLive);
    options.lab_name = "t_full_" + std::to_string(::getpid());
    std::filesystem::path full;
    options.on_process = [&](const std::string&, int) {
      if (!full.empty()) return;
      const RunFolder folder{std::filesystem::directory_iterator(runs.path())->path()};
      full = folder.taps();
      std::filesystem::create_directories(full);
      REQUIRE(::mount("tmpfs", full.c_str(), "tmpfs", 0, "size=512k") == 0);
    };
    Scenario scenario = parse_tapped(kTapped);
    scenario.taps = CaptureScope::kHosts;
    CHECK_THROWS_WITH_AS(run_scenario(scenario, options), doctest::Contains("No space left"),
                         netio::SystemError);
    CHECK(::umount2(full.c_str(), MNT_DETACH) == 0);
  }
}
