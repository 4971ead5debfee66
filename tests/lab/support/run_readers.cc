#include "tests/lab/support/run_readers.h"

#include <doctest/doctest.h>

#include "analysis/capture/open_capture.h"
#include "fabric/packet/headers.h"
#include "lab/chaos/shrink.h"
#include "lab/run/replay.h"
#include "recorded/diff/run_diff.h"
#include "recorded/run/blame_run.h"
#include "recorded/run/packet_trace.h"
#include "recorded/run/run_export.h"
#include "recorded/run/run_report.h"
#include "recorded/traffic/traffic_input.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::test {

namespace fs = std::filesystem;
using namespace mrclab::lab;

namespace {

/// The PSN of the first data packet to this queue pair.
Psn first_psn(const fs::path& run, Qpn qp) {
  const auto reader = analysis::open_capture(run / "captures" / "sim.pcapng");
  analysis::CaptureRecord record;
  MrcPacket packet;
  while (reader->next(record)) {
    if (parse_mrc_frame(record.bytes, packet, {.allow_cut = true}) != ParseError::kNone) continue;
    if (carries_data(packet.bth.opcode) && packet.bth.destination_qp == qp) return packet.bth.psn;
  }
  FAIL("no data for a queue pair in ", run.string());
  return {};
}

}  // namespace

std::vector<RunReader> run_readers(const Scenario& scenario, const fs::path& untouched) {
  const QueuePairEnd end = queue_pairs(scenario).front();
  TraceRequest request;
  request.qp = end.peer_qpn;
  request.psn = first_psn(untouched, end.peer_qpn);
  return {
      {"diff",
       [untouched](const fs::path& run) { diff_runs(untouched, run, 4); },
       {"verdict.json", "scenario.yaml", "schedule.txt", "history.txt", "history/sim.bin"}},
      {"report",
       [](const fs::path& run) { read_page(run); },
       {"verdict.json", "scenario.yaml", "schedule.txt", "captures/sim.pcapng", "history/sim.bin",
        "events.jsonl", "command.txt"}},
      {"export",
       [](const fs::path& run) { export_run(RunFormat::kQlog, run, {}, UINT64_MAX); },
       {"verdict.json", "captures/sim.pcapng", "history/sim.bin", "events.jsonl"}},
      {"blame",
       [](const fs::path& run) { blame_of_run(run); },
       {"scenario.yaml", "captures/sim.pcapng", "events.jsonl"}},
      {"trace",
       [request](const fs::path& run) { PacketTrace(run, std::nullopt, request); },
       {"scenario.yaml", "captures/sim.pcapng", "history/sim.bin", "events.jsonl"}},
      {"analyze",
       [](const fs::path& run) {
         TrafficWords words;
         words.sources = {run.string()};
         traffic_request(words);
       },
       {"scenario.yaml", "captures/sim.pcapng", "verdict.json", "events.jsonl"}},
      {"replay",
       [](const fs::path& run) {
         replay_command({run, World::kSim, run.parent_path() / "again"});
       },
       {"verdict.json", "scenario.yaml", "schedule.txt", "history.txt"}},
      {"shrink",
       [](const fs::path& run) {
         ShrinkOptions options;
         options.target = run.string();
         shrink_command(options);
       },
       {"scenario.yaml"}},
  };
}

}  // namespace mrclab::test
