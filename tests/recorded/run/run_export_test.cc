// Exports of runs, read back by programs that share nothing with us: Python's json, and protoc.

#include "recorded/run/run_export.h"
#include "netio/system/output_folder.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/spec/shipped_files.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/capture/open_capture.h"
#include "analysis/trace/run_trace.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::test;
namespace fs = std::filesystem;

namespace {

/// What tests/recorded/run/read_export.py counts; it must like the file.
nlohmann::json read_back(const char* format, const fs::path& file) {
  const fs::path script = lab::data_directory() / "tests/recorded/run/read_export.py";
  FILE* pipe =
      ::popen((script.string() + " " + format + " " + file.string() + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  INFO(text);
  REQUIRE(::pclose(pipe) == 0);
  return nlohmann::json::parse(text);
}

/// The package protobuf-compiler may be missing.
bool has_protoc() {
  const bool found = std::system("command -v protoc >/dev/null") == 0;
  if (!found) MESSAGE("no protoc: what is for Perfetto was not read back");
  return found;
}

uint64_t lines_with(const fs::path& file, const std::string& word) {
  std::ifstream in(file);
  uint64_t count = 0;
  for (std::string line; std::getline(in, line);) {
    count += line.find(word) != std::string::npos ? 1 : 0;
  }
  return count;
}

constexpr uint64_t kNoLimit = uint64_t{1} << 30;

/// A run with losses, trims, retransmissions, EV states and a fault.
class ExportedRun {
 public:
  explicit ExportedRun(const char* incident = "half-nic-flap", const char* until = "430us") {
    lab::ScenarioOverrides overrides;
    overrides.until = until;
    result_ = runs_.run(lab::read_scenario_file(lab::find_incident(incident), overrides));
  }
  lab::RunExport to(lab::RunFormat format, uint64_t limit = kNoLimit) const {
    return lab::export_run(format, folder(), {}, limit);
  }
  const fs::path& folder() const { return result_.folder.path; }
  /// SACKs and NACKs that the captures show on their last wire: one uSID is left.
  std::pair<uint64_t, uint64_t> answers_at_hosts() const {
    std::pair<uint64_t, uint64_t> count;
    const auto reader = analysis::open_capture(result_.folder.captures() / "sim.pcapng");
    for (analysis::CaptureRecord record; reader->next(record);) {
      if (record.bytes.size() < kAfterBthOffset + 8 || !record.comment.empty()) continue;
      const bool last_wire =
          record.bytes[kOuterOffset + 30] == 0 && record.bytes[kOuterOffset + 31] == 0;
      MrcPacket packet;
      if (!last_wire || parse_mrc_frame(record.bytes, packet, {true}) != ParseError::kNone)
        continue;
      const auto* sack = std::get_if<Seth>(&packet.extension);
      count.first += sack != nullptr && !sack->probe_response ? 1 : 0;
      count.second += packet.bth.opcode == Opcode::kNack ? 1 : 0;
    }
    return count;
  }
  const analysis::Metrics& metrics() const { return result_.verdict.metrics; }

 private:
  TemporaryRuns runs_;
  lab::RunResult result_;
};

}  // namespace

TEST_SUITE("run export") {
  TEST_CASE("qlog has every packet of the verdict and every event, in order of time") {
    const ExportedRun run;
    const lab::RunExport done = run.to(lab::RunFormat::kQlog);
    CHECK(done.file == run.folder() / "run.sqlog");
    CHECK(done.notes.empty());
    const auto counts = read_back("qlog", done.file);
    const fs::path events = run.folder() / "events.jsonl";
    const analysis::Metrics& metrics = run.metrics();
    REQUIRE(metrics.lost > 0);
    CHECK(counts.at("transport:packet_sent") == metrics.data_packets + metrics.retransmitted);
    CHECK(counts.at("transport:packet_received") == metrics.delivered);
    CHECK(counts.at("retransmit") == metrics.retransmitted);
    CHECK(counts.at("mrc:packet_dropped") == metrics.lost);
    CHECK(counts.at("mrc:fault_started") == 1);
    CHECK(counts.at("mrc:ev_state_updated") == lines_with(events, "\"kind\":\"ev_state\""));
    CHECK(counts.at("recovery:packet_lost") == lines_with(events, "\"kind\":\"loss_detected\""));
    CHECK(counts.at("recovery:metrics_updated") > 10);
  }

  TEST_CASE("qlog has every trim, and every SACK and NACK that reaches the sender") {
    const ExportedRun run("incast-victim", "60us");
    const auto counts = read_back("qlog", run.to(lab::RunFormat::kQlog).file);
    const auto answers = run.answers_at_hosts();
    REQUIRE(answers.first > 100);
    REQUIRE(answers.second > 10);
    CHECK(counts.at("mrc:sack_received") == answers.first);
    CHECK(counts.at("mrc:nack_received") == answers.second);
    CHECK(counts.at("mrc:packet_trimmed") >= answers.second);
  }

  TEST_CASE(
      "a Perfetto trace has a closed slice for every transmission and a mark for every loss") {
    if (!has_protoc()) return;
    const ExportedRun run;
    const lab::RunExport done = run.to(lab::RunFormat::kPerfetto);
    CHECK(done.notes.empty());
    const auto counts = read_back("perfetto", done.file);
    const analysis::Metrics& metrics = run.metrics();
    CHECK(counts.at("transmission") == metrics.data_packets);
    CHECK(counts.at("retransmission") == metrics.retransmitted);
    CHECK(counts.at("loss") == metrics.lost);
    CHECK(counts.at("fault") == 1);
    CHECK(counts.at("TYPE_COUNTER") == 2 * 8 * 1000);
    CHECK(counts.at("deepest queue") == 8);
    CHECK(counts.at("KiB above 0") > 100);
    CHECK(counts.at("ev").get<uint64_t>() + counts.at("event").get<uint64_t>() ==
          lines_with(run.folder() / "events.jsonl", "kind") - 1);  // but for the log's seal
  }

  TEST_CASE("a file keeps to its limit, ends well and says from when on it is cut") {
    if (!has_protoc()) return;
    const ExportedRun run;
    for (const lab::RunFormat format : {lab::RunFormat::kQlog, lab::RunFormat::kPerfetto}) {
      const lab::RunExport done = run.to(format, 600'000);
      CHECK(done.bytes == fs::file_size(done.file));
      CHECK(done.bytes < 600'000 + 60'000);  // and the descriptions of tracks, or the last event
      REQUIRE(done.notes.size() == 1);
      CHECK(done.notes[0].find("us on did not fit into --limit") != std::string::npos);
      const bool qlog = format == lab::RunFormat::kQlog;
      const auto counts = read_back(qlog ? "qlog" : "perfetto", done.file);
      if (qlog) CHECK(counts.at("mrc:file_ends_early") == 1);
    }
  }

  TEST_CASE("events that are none of ours are counted, and what is no run is refused") {
    const ExportedRun run;
    std::ofstream(run.folder() / "events.jsonl", std::ios::app)
        << "nonsense\n{\"t_ps\":\"x\"}\n[]\n{\"t_ps\":1,\"kind\":\"\xff\",\"node\":\"h9999\"}\n"
        << "{\"t_ps\":-5,\"kind\":\"k\",\"node\":\"h0\",\"qp\":-1,\"detail\":\"\\u001e\"}\n";
    lab::write_manifest(run.folder());
    for (const lab::RunFormat format : {lab::RunFormat::kQlog, lab::RunFormat::kPerfetto}) {
      const lab::RunExport done = run.to(format);
      REQUIRE(done.notes.size() == 1);
      CHECK(done.notes[0].find("4 lines cannot be read") != std::string::npos);
    }
    CHECK_THROWS_AS(lab::export_run(lab::RunFormat::kQlog, "/nonexistent", {}, kNoLimit),
                    InputError);
    CHECK_THROWS_AS(
        lab::export_run(lab::RunFormat::kQlog, run.folder(), "/nonexistent/x", kNoLimit),
        netio::OutputError);
  }
}
