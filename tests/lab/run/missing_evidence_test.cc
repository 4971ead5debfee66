// What is taken away from the evidence of a run must never make its verdict better, nor be taken for
// something that happened: every source, cut, dropped and damaged at random places.

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "analysis/capture/open_capture.h"
#include "analysis/history/history_file.h"
#include "lab/chaos/chaos_scenario.h"
#include "lab/run/watched_run.h"
#include "netio/record/history_writer.h"
#include "netio/record/pcapng.h"
#include "netio/record/run_recorder.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/evidence_cuts.h"
#include "tests/lab/support/less_evidence.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/lab/support/written_run.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using analysis::RunInputs;
using analysis::Verdict;
using test::Cut;
using test::cut_name;
using test::FileKind;
using test::Tallies;
using test::WrittenRun;

std::string whole_file(const fs::path& file) { return netio::read_file(file, size_t{2} << 30); }

/// Beside what the scenario expects, things that do not hold in most runs: what fails by what is
/// seen must not pass when it is not.
Scenario with_contraries(Scenario scenario) {
  using namespace analysis;
  ExpectLosses losses;
  losses.at_most = 0;
  ExpectTrims trims;
  trims.at_most = 0;
  ExpectRetransmissions again;
  again.at_most = 0;
  ExpectGoodput little;
  little.of = GoodputReference::kLineRate;
  little.at_most = Probability{1'000'000};
  ExpectAffectedQps affected;
  affected.at_most = Probability{1};
  const auto add = [&](Expectation expectation) { scenario.expect.push_back(expectation); };
  add(losses);
  add(trims);
  add(again);
  add(little);
  add(affected);
  add(ExpectLossesPerQp{});
  add(ExpectPathUnused{"p0/*", {}});
  add(ExpectShare{"p0/*", {}, Probability{1}});
  add(ExpectCounter{"sacks", 0, 0});
  add(ExpectCounter{"copies", 0, 0});
  add(ExpectQpError{"Retry Counter Exceeded"});
  add(ExpectLossless{});
  add(ExpectPause{{}, Probability{1'000}, {}});
  add(ExpectDeadlockFree{FabricTime::from_us(1)});
  return scenario;
}

/// One run, and its evidence in all its reduced forms.
class Reduced {
 public:
  using Run = std::function<WrittenRun(const Scenario&, const fs::path& folder)>;

  Reduced(const Scenario& scenario, uint64_t seed, uint32_t places, Tallies& tallies,
          const Run& run = test::write_run)
      : scenario_(with_contraries(scenario)),
        random_(seed),
        places_(places),
        tallies_(tallies),
        run_(run(scenario_, made_folder("run"))),
        whole_(test::judge_files(run_.inputs())) {}

  void judge_all() {
    for (uint32_t i = 0; i < places_; ++i) {
      for (const Cut cut : test::kCuts) {
        cut_one(run_.captures, FileKind::kCapture, cut, "captures", &RunInputs::captures);
        cut_one(run_.records, FileKind::kRecords, cut, "packet records", &RunInputs::records);
        if (!run_.taps.empty()) cut_taps(cut);
      }
      for (const Cut cut : test::cuts_of(FileKind::kEvents)) {
        cut_events(cut);
        if (!run_.event_logs.empty()) cut_log(cut);
      }
      for (const Cut cut : test::cuts_of(FileKind::kReport)) cut_report(cut);
      fill_capture();
      fill_records();
      silence_a_host();
    }
    drop_all();
  }

  /// What we write we can read: from the files the judge gets all that it sees when it looks on.
  void judge_as_watched() {
    const Verdict watched = run_watched(run_.scenario);
    CHECK(watched.result == whole_.result);
    CHECK(whole_.notes == watched.notes);
    REQUIRE(watched.checks.size() == whole_.checks.size());
    for (size_t i = 0; i < watched.checks.size(); ++i) {
      INFO(watched.checks[i].about, ": ", watched.checks[i].note,
           "; files: ", whole_.checks[i].note);
      CHECK(watched.checks[i].result == whole_.checks[i].result);
      CHECK(watched.checks[i].measured == whole_.checks[i].measured);
    }
  }

 private:
  fs::path made_folder(const char* name) const {
    fs::create_directory(folder_.path() / name);
    return folder_.path() / name;
  }

  void judge(const std::string& source, const std::string& how, const RunInputs& inputs) {
    INFO(run_.scenario.name, ", seed ", run_.scenario.seed, ": ", source, ", ", how);
    test::hold_against(whole_, test::judge_files(inputs), tallies_[{source, how}]);
  }

  const fs::path& one_of(const std::vector<fs::path>& files) {
    return files[random_() % files.size()];
  }

  fs::path reduced(const fs::path& file) const { return folder_.path() / file.filename(); }
  void write(const fs::path& file, const std::string& bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  void cut_one(const std::vector<fs::path>& files, FileKind kind, Cut cut, const char* source,
               std::vector<fs::path> RunInputs::*member) {
    const fs::path file = one_of(files);
    const auto left = test::without(kind, whole_file(file), cut, random_);
    RunInputs inputs = run_.inputs();
    std::vector<fs::path>& paths = inputs.*member;
    const auto at = std::find(paths.begin(), paths.end(), file);
    if (left) {
      write(reduced(file), *left);
      *at = reduced(file);
    } else {
      paths.erase(at);
    }
    judge(source, cut_name(cut), inputs);
  }

  /// `member` names the only file of its kind.
  void cut_only_file(FileKind kind, fs::path RunInputs::*member, const std::string& source,
                     Cut cut) {
    RunInputs inputs = run_.inputs();
    fs::path& file = inputs.*member;
    const auto left = test::without(kind, whole_file(file), cut, random_);
    file = reduced(file);
    fs::remove(file);
    if (left) write(file, *left);
    judge(source, cut_name(cut), inputs);
  }
  void cut_events(Cut cut) { cut_only_file(FileKind::kEvents, &RunInputs::events, "events", cut); }
  void cut_taps(Cut cut) { cut_only_file(FileKind::kCapture, &RunInputs::taps, "taps", cut); }

  /// The log of one process is damaged before they are joined.
  void cut_log(Cut cut) {
    const RunFolder joined{folder_.path() / "joined"};
    fs::remove_all(joined.path);
    fs::create_directories(joined.path);
    fs::copy(run_.event_logs.front().parent_path(), joined.path / "events");
    const fs::path file = joined.path / "events" / one_of(run_.event_logs).filename();
    const auto left = test::without(FileKind::kEvents, whole_file(file), cut, random_);
    fs::remove(file);
    if (left) write(file, *left);
    merge_events(joined);
    RunInputs inputs = run_.inputs();
    inputs.events = joined.path / "events.jsonl";
    judge("events of a process", cut_name(cut), inputs);
  }

  /// The report of one process is damaged before it is read.
  void cut_report(Cut cut) {
    const fs::path reports = folder_.path() / "reports";
    fs::remove_all(reports);
    fs::copy(run_.folder.reports(), reports);
    const fs::path file = reports / one_of(run_.reports).filename();
    const auto left = test::without(FileKind::kReport, whole_file(file), cut, random_);
    fs::remove(file);
    if (left) write(file, *left);
    judge("process reports", cut_name(cut), run_.inputs(reports));
  }

  /// As if the file had reached its bound.
  void fill_capture() {
    const fs::path file = one_of(run_.captures);
    const auto reader = analysis::open_capture(file);
    netio::PcapngOptions options;
    options.snap_length = netio::kCaptureSnapLength;
    options.max_file_bytes = random_() % fs::file_size(file);
    netio::PcapngWriter writer(reduced(file), options);
    size_t interfaces = 0;
    analysis::CaptureRecord record;
    while (reader->next(record)) {
      for (; interfaces < reader->interfaces().size(); ++interfaces) {
        writer.add_interface(reader->interfaces()[interfaces].name);
      }
      const bool in = record.direction == analysis::CaptureDirection::kInbound;
      writer.write({record.interface, record.t, in ? Direction::kIngress : Direction::kEgress,
                    record.bytes, record.original_length, record.comment});
    }
    REQUIRE(reader->seal());
    if (interfaces == 0) return;
    writer.close(*reader->seal());
    RunInputs inputs = run_.inputs();
    *std::find(inputs.captures.begin(), inputs.captures.end(), file) = reduced(file);
    judge("captures", "ran full", inputs);
  }

  void fill_records() {
    const fs::path file = one_of(run_.records);
    const std::string bytes = whole_file(file);
    const std::vector<size_t> bounds = test::record_bounds(FileKind::kRecords, bytes);
    auto reader = analysis::HistoryReader::open(file);
    std::vector<CompactRecord> records;
    while (const auto record = reader.next()) records.push_back(*record);
    REQUIRE(reader.seal());
    if (records.empty()) return;
    // The writer takes the digest's bytes; of what it leaves out it keeps the time alone.
    const size_t kept = random_() % records.size();
    HistoryFileHeader header = reader.header();
    header.records = kept;
    header.left_out = records.size() - kept;
    for (size_t i = kept; i < records.size(); ++i) {
      header.complete = std::min(header.complete, records[i].t);
    }
    EvidenceSeal seal = *reader.seal();
    seal.records = kept;
    seal.until = header.complete;
    const HistoryHeaderBytes head = header_bytes(header);
    const std::string body = bytes.substr(kHistoryHeaderBytes, kept * kCompactRecordBytes);
    write(reduced(file), std::string(head.begin(), head.end()) + body +
                             seal_of_history(seal, checksum(0, body), head));
    RunInputs inputs = run_.inputs();
    *std::find(inputs.records.begin(), inputs.records.end(), file) = reduced(file);
    judge("packet records", "ran full", inputs);
  }

  void silence_a_host() {
    RunInputs inputs = run_.inputs();
    auto& hosts = inputs.hosts.hosts;
    hosts.erase(hosts.begin() + static_cast<long>(random_() % hosts.size()));
    judge("reports", "one host silent", inputs);
  }

  void drop_all() {
    RunInputs inputs = run_.inputs();
    inputs.captures.clear();
    judge("captures", "none at all", inputs);
    inputs.records.clear();
    inputs.events.clear();
    judge("captures, records and events", "none at all", inputs);
    RunInputs silent = run_.inputs();
    silent.hosts.hosts.clear();
    judge("reports", "none at all", silent);
    RunInputs unheard = run_.inputs();
    unheard.events.clear();
    judge("events", "none at all", unheard);
    RunInputs unkept = run_.inputs();
    unkept.records.clear();
    judge("packet records", "none at all", unkept);
  }

  const test::TemporaryRuns folder_;
  const Scenario scenario_;
  std::mt19937_64 random_;
  uint32_t places_;
  Tallies& tallies_;
  const WrittenRun run_;
  const Verdict whole_;
};

void judge_simulated(const Scenario& scenario, uint64_t seed, uint32_t places, Tallies& tallies) {
  Reduced reduced(scenario, seed, places, tallies);
  reduced.judge_as_watched();
  reduced.judge_all();
}

void judge_seeds(const char* base, uint64_t first, uint64_t last, uint32_t places,
                 Tallies& tallies) {
  const ChaosBase chaos = load_chaos_base(base);
  for (uint64_t seed = first; seed <= last; ++seed) {
    const ChaosScenario drawn = chaos_scenario(chaos, seed);
    judge_simulated(drawn.scenario, seed, places, tallies);
  }
}

TEST_SUITE("whole run") {
  TEST_CASE("no verdict is better with less evidence: incidents") {
    Tallies tallies;
    const std::vector<std::string> some{"half-nic-flap"};
    const std::vector<std::string> all = mrclab::lab::shipped_names("incidents");
    for (const std::string& name : test::nightly() ? all : some) {
      judge_simulated(load_scenario(name, {}), 1, test::nightly() ? 2 : 1, tallies);
    }
    test::show(tallies);
  }

  TEST_CASE("no verdict is better with less evidence: chaos") {
    Tallies tallies;
    judge_seeds("pair", 1, test::nightly() ? 140 : 2, 1, tallies);
    if (test::nightly()) judge_seeds("ai-backend", 1, 60, 1, tallies);
    test::show(tallies);
  }
}

/// Losses that senders see and some that they do not, by daemons and taps.
constexpr const char* kLiveStory = R"(
name: live-evidence
fabric: pair
seed: 4
taps: all
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 10us, wire_loss: {link: "p0.t0-0:u0", direction: up, loss: 10%, for: 20us}}
  - {at: 15us, link_down: {link: "h1:p1", for: 10us}}
end: 60us
expect: [safety, no_qp_error, healed]
)";

TEST_SUITE("root: evidence of live runs") {
  TEST_CASE("no verdict is better with less evidence: a live run and its taps") {
    Tallies tallies;
    const test::TemporaryRuns runs;
    const Scenario scenario = parse_scenario(read_yaml_text(kLiveStory, "live.yaml"), {}, {});
    Reduced(scenario, 1, test::nightly() ? 20 : 2, tallies,
            [&](const Scenario& all_expected, const fs::path&) {
              RunOptions options = runs.options(World::kLive);
              options.lab_name = "t_less_" + std::to_string(::getpid());
              const RunResult result = run_scenario(all_expected, options);
              CAPTURE(analysis::to_table(result.verdict));
              REQUIRE(result.verdict.timing.faithful);
              return test::live_run(all_expected, result.folder);
            })
        .judge_all();
    test::show(tallies);
  }
}

}  // namespace
}  // namespace mrclab::lab
