#include "netio/runtime/daemon_outputs.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "fabric/history/report_json.h"
#include "netio/system/file_descriptor.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/fabrics.h"

namespace mrclab::netio {
namespace {

/// A process that runs all nodes of a small fabric, in a run with an empty folder.
struct OutputRun {
  OutputRun() {
    for (const char* name : {"events", "history", "captures", "reports"}) {
      std::filesystem::create_directories(directory / name);
    }
    config.process_name = "plane-0";
    config.process_of_node.assign(topology.nodes.size(), 0);
    config.history_bytes = 1 << 20;
    config.run_dir = directory / "";
  }
  bool wrote(const char* file) const { return std::filesystem::exists(directory / file); }

  test::TemporaryDirectory directory;
  Topology topology = mrclab::test::pair();
  DaemonConfig config;
};

}  // namespace

TEST_CASE("a daemon opens the files that it was asked for, and closes them with a seal") {
  OutputRun run;
  run.config.capture = CaptureMode::kNone;
  DaemonOutputs outputs(run.config, run.topology, {});
  CHECK(run.wrote("events/plane-0.jsonl"));
  CHECK(run.wrote("history/plane-0.bin"));
  CHECK_FALSE(run.wrote("captures/plane-0.pcapng"));
  const auto recorder = outputs.make_recorder(run.topology.nodes[0]);
  recorder->event({FabricTime::from_ns(1), "test", {}, {}, {}, {}, "", ""});
  outputs.close({{run.topology.nodes[0].id}, FabricTime::zero()});
  const std::string events = read_file(run.directory / "events/plane-0.jsonl");
  CHECK(events.find("test") < events.find(kSealWord));
  ProcessReport report;
  outputs.count_in(report);
  CHECK(report.events_dropped == 0);
  CHECK(report.capture_records == 0);
  report.process = "plane-0";
  outputs.write_report(report);
  CHECK(run.wrote("reports/plane-0.json"));
}

TEST_CASE("a successor's files come after its predecessor's, and it goes on within their bound") {
  OutputRun run;
  const DaemonOutputs first(run.config, run.topology, {});
  CHECK(run.wrote("captures/plane-0.pcapng"));
  CHECK(first.record_bytes_left() <= run.config.history_bytes);
  run.config.incarnation = 2;
  const uint64_t left = 50'000;
  const DaemonOutputs second(run.config, run.topology, left);
  CHECK(run.wrote("events/plane-0.start0002.jsonl"));
  CHECK(run.wrote("history/plane-0.start0002.bin"));
  CHECK(run.wrote("captures/plane-0.start0002.pcapng"));
  CHECK(second.record_bytes_left() <= left);
  CHECK(second.record_bytes_left() > left / 2);
}

TEST_CASE("what was published as recorded stays so when an earlier packet finds no room later") {
  OutputRun run;
  run.config.capture = CaptureMode::kNone;
  const uint64_t two_records = kHistoryHeaderBytes + 2 * kCompactRecordBytes;
  DaemonOutputs outputs(run.config, run.topology, two_records);
  const auto recorder = outputs.make_recorder(run.topology.nodes[0]);
  const Frame nothing;
  const auto packet_at = [&](int64_t ns) {
    recorder->packet({.t = FabricTime::from_ns(ns), .port = PortId{0}, .frame = nothing});
  };
  ProcessSlot slot;
  const auto published = [&](int64_t committed_ns) {
    outputs.publish_records(FabricTime::from_ns(committed_ns), slot);
    return std::pair(slot.recorded_ps.load(), slot.records_cut_ps.load());
  };

  packet_at(100);
  packet_at(200);
  CHECK(published(500) == std::pair(int64_t{500'000}, INT64_MAX));
  packet_at(900);
  packet_at(400);  // which arrived before 500 ns, and was taken in after that
  CHECK(published(950) == std::pair(int64_t{500'000}, int64_t{500'001}));
  packet_at(450);
  CHECK(published(990) == std::pair(int64_t{500'000}, int64_t{500'001}));
}

TEST_CASE("without a folder nothing is written, and the bound on records is passed on as it was") {
  OutputRun run;
  run.config.run_dir.clear();
  DaemonOutputs outputs(run.config, run.topology, 50'000);
  outputs.close({});
  outputs.write_report({});
  CHECK(outputs.record_bytes_left() == 50'000);
  const DaemonOutputs first(run.config, run.topology, {});
  CHECK(first.record_bytes_left() > run.config.history_bytes / 2);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run.directory / "")) {
    CHECK(entry.is_directory());
  }
}

}  // namespace mrclab::netio
