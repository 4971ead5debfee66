// Every kind of fault in the simulated world: its effect as the captures show it, that the same
// measure shows nothing any more once it is healed, and that neither payload nor threads matter.
//
//   2 planes x (2 T0 + 2 T1), 4 hosts      0 -- 40 us fault -- 80 us healed -- 110 to 160 us after

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/capture/open_capture.h"
#include "fabric/packet/headers.h"
#include "faults/schedule.h"
#include "scenario/spec/scenario.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::ns;
using mrclab::test::us;

namespace {

constexpr int64_t kPropagationNs = 500;

struct Seen {
  FabricTime t;
  std::string where;  ///< interface: a port, or "<node>:drop"
  bool out = false;
  std::string comment;
  std::string bytes;
  uint32_t length = 0;

  uint8_t traffic_class() const {
    return static_cast<uint8_t>(bytes[kOuterOffset] << 4 |
                                static_cast<uint8_t>(bytes[kOuterOffset + 1]) >> 4);
  }
  bool is_data() const {
    return bytes.size() > kUdpOffset && traffic_class() >> 2 == kDscpTrimmable;
  }
  bool is_marked() const { return bytes.size() > kUdpOffset && (traffic_class() & 3) == kEcnCe; }
};

/// The captures of a run, seen through a window of time.
class View {
 public:
  View(std::vector<Seen> all, FabricTime from, FabricTime until) {
    for (Seen& seen : all) {
      if (seen.t >= from && seen.t < until) seen_.push_back(std::move(seen));
    }
  }

  std::vector<const Seen*> at(const std::string& port, bool out) const {
    std::vector<const Seen*> found;
    for (const Seen& seen : seen_) {
      if (seen.where == port && seen.out == out) found.push_back(&seen);
    }
    return found;
  }
  /// Drop records with this cause at a port, or at any port whose name begins so.
  std::vector<const Seen*> drops(const std::string& cause, const std::string& port) const {
    std::vector<const Seen*> found;
    for (const Seen& seen : seen_) {
      if (seen.comment.starts_with("drop: " + cause + " " + port)) found.push_back(&seen);
    }
    return found;
  }
  size_t dropped(const std::string& cause, const std::string& port) const {
    return drops(cause, port).size();
  }
  /// The number of these ports from which no frame left (or at which none arrived).
  size_t silent(std::initializer_list<const char*> ports, bool out = true) const {
    return static_cast<size_t>(std::count_if(
        ports.begin(), ports.end(), [&](const char* port) { return at(port, out).empty(); }));
  }
  size_t data_out(const std::string& port) const {
    const std::vector<const Seen*> found = at(port, true);
    return static_cast<size_t>(
        std::count_if(found.begin(), found.end(), [](const Seen* s) { return s->is_data(); }));
  }
  size_t marked(const std::string& port) const {
    const std::vector<const Seen*> found = at(port, true);
    return static_cast<size_t>(
        std::count_if(found.begin(), found.end(), [](const Seen* s) { return s->is_marked(); }));
  }
  size_t trimmed() const {
    return static_cast<size_t>(std::count_if(seen_.begin(), seen_.end(),
                                             [](const Seen& s) { return s.comment == "trimmed"; }));
  }
  /// Between two that leave a port, one right behind the other.
  FabricTime least_gap(const std::string& port) const {
    FabricTime least = FabricTime::never();
    const std::vector<const Seen*> sent = at(port, true);
    for (size_t i = 1; i < sent.size(); ++i) {
      if (sent[i]->is_data() && sent[i - 1]->is_data()) {
        least = std::min(least, sent[i]->t - sent[i - 1]->t);
      }
    }
    return least;
  }
  size_t twice_in_a_row(const std::string& port) const {
    size_t twice = 0;
    const std::vector<const Seen*> sent = at(port, true);
    for (size_t i = 1; i < sent.size(); ++i) twice += sent[i]->bytes == sent[i - 1]->bytes;
    return twice;
  }
  struct Crossing {
    FabricTime left, arrived;
    FabricTime flight() const { return arrived - left; }
  };
  /// The frames that left one end of a wire and arrived at the other, in the order of leaving.
  std::vector<Crossing> crossings(const std::string& from, const std::string& to) const {
    std::map<std::string, std::vector<FabricTime>> left;
    for (const Seen* seen : at(from, true)) left[seen->bytes].push_back(seen->t);
    std::vector<Crossing> found;
    for (const Seen* seen : at(to, false)) {
      std::vector<FabricTime>& times = left[seen->bytes];
      if (times.empty()) continue;
      found.push_back({times.front(), seen->t});
      times.erase(times.begin());
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Crossing& a, const Crossing& b) { return a.left < b.left; });
    return found;
  }
  size_t longer_than(const std::string& from, const std::string& to, FabricTime flight) const {
    const std::vector<Crossing> all = crossings(from, to);
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [&](const Crossing& c) { return c.flight() > flight; }));
  }
  size_t overtaken(const std::string& from, const std::string& to) const {
    const std::vector<Crossing> all = crossings(from, to);
    size_t count = 0;
    for (size_t i = 1; i < all.size(); ++i) count += all[i].arrived < all[i - 1].arrived;
    return count;
  }

 private:
  std::vector<Seen> seen_;
};

const char* const kSteady =
    "workload:\n  - permutation: {hosts: all, load: 60%, message: 16KiB, shift: 2}\n";
const char* const kSteadyRoce =
    "transport: {profile: roce}\n"
    "workload:\n  - permutation: {hosts: all, load: 60%, message: 16KiB, shift: 2}\n";
/// Three to one, with windows that no feedback makes smaller.
const char* const kThreeToOne =
    "transport: {congestion_control: fixed, window_percent: 200}\n"
    "workload:\n  - incast: {from: \"h[1-3]\", to: h0, load: 50%, message: 32KiB}\n";
/// More than the uplinks carry.
const char* const kUphill =
    "transport: {congestion_control: fixed, window_percent: 200}\n"
    "workload:\n  - permutation: {hosts: all, load: 95%, message: 32KiB, shift: 2}\n";

struct EffectRow {
  const char* kind;
  const char* body;  ///< of the fault at 40 us, over at 80 us
  /// How much of the effect these captures show.
  std::function<size_t(const View&)> measure;
  const char* workload = kSteady;
  uint32_t t1 = 2;
};

// The wire that most are about: from T0 0 to T1 0 of plane 0.
const char* const kT0Uplink = "p0.t0-0:u0";
const char* const kT1Downlink = "p0.t1-0:d0";
#define UPLINK "link: \"p0.t0-0:u0\", direction: up, for: 40us"

const std::vector<EffectRow>& table() {
  static const std::vector<EffectRow> rows{
      {"link_down", "{link: \"p0.t0-0:u0\", for: 40us}",
       [](const View& v) {
         return v.silent({kT0Uplink, kT1Downlink});
       }},
      {"blackhole", "{" UPLINK "}",
       [](const View& v) {  // two had started before
         return v.at(kT1Downlink, false).size() > 2 ? 0 : v.dropped("wire_loss", kT1Downlink);
       }},
      {"wire_loss", "{loss: 40%, " UPLINK "}",
       [](const View& v) {
         return v.at(kT1Downlink, false).empty() ? 0 : v.dropped("wire_loss", kT1Downlink);
       }},
      {"wire_loss", "{loss: 90%, burst: 20, gap: 20, " UPLINK "}",
       [](const View& v) { return v.dropped("wire_loss", kT1Downlink); }},
      {"wire_loss", "{every: 7, " UPLINK "}",
       [](const View& v) { return v.dropped("wire_loss", kT1Downlink); }},
      {"bit_errors", "{rate: 1e-5, " UPLINK "}",
       [](const View& v) { return v.dropped("frame_check", kT1Downlink); }},
      {"bit_errors", "{rate: 2e-3, fec: kp4, " UPLINK "}",
       [](const View& v) { return v.dropped("frame_check", kT1Downlink); }},
      {"bit_errors", "{rate: 1e-5, switch: p0.t1-0, for: 40us}",
       [](const View& v) { return v.dropped("bad_icrc", "h"); }},
      {"delay", "{by: 2us, " UPLINK "}",
       [](const View& v) {
         return v.longer_than(kT0Uplink, kT1Downlink, ns(kPropagationNs + 1'990));
       }},
      {"jitter", "{up_to: 2us, " UPLINK "}",
       [](const View& v) {
         CHECK(v.overtaken(kT0Uplink, kT1Downlink) == 0);
         return v.longer_than(kT0Uplink, kT1Downlink, ns(kPropagationNs + 2));
       }},
      {"reorder", "{share: 20%, by: 3us, " UPLINK "}",
       [](const View& v) { return v.overtaken(kT0Uplink, kT1Downlink); }},
      {"duplicate", "{share: 30%, " UPLINK "}",
       [](const View& v) { return v.twice_in_a_row(kT0Uplink); }},
      {"rate", "{to: 25Gb/s, link: \"h0:p0\", direction: up, for: 40us}",
       [](const View& v) { return size_t{v.least_gap("h0:p0") >= ns(1'360)}; }},
      {"optic_glitch", "{optic: \"p0.t0-0:o0\", down: 40us}",
       [](const View& v) {
         return v.silent({"p0.t0-0:d0", "p0.t0-0:d1", "h0:p0", "h1:p0"});
       }},
      {"optic_dead", "{optic: \"p0.t0-0:o0\", for: 40us}",
       [](const View& v) {
         return v.silent({"p0.t0-0:d0", "p0.t0-0:d1", "h0:p0", "h1:p0"});
       }},
      {"flap", "{link: \"p0.t0-0:u0\", count: 2, down: 15us, up: 10us}",
       [](const View& v) { return v.dropped("port_down", kT0Uplink); }},
      {"port_down", "{port: \"h0:p1\", for: 40us}",
       [](const View& v) {
         return v.silent({"h0:p1", "p1.t0-0:d0"});
       }},
      {"nic_dead", "{host: h0, for: 40us}",
       [](const View& v) {
         return v.silent({"h0:p0", "h0:p1"});
       }},
      {"switch_hang", "{switch: p0.t1-0, for: 40us}",
       [](const View& v) { return v.dropped("switch_hung", "p0.t1-0"); }},
      {"switch_crash", "{switch: p0.t0-0, for: 40us}",
       [](const View& v) {
         return v.silent({kT0Uplink, "p0.t0-0:d0", kT1Downlink, "h0:p0"}) *
                v.dropped("switch_down", "p0.t0-0");
       }},
      {"switch_reboot", "{switch: p0.t0-0, down: 20us, reload: 20us}",
       [](const View& v) {
         return v.dropped("switch_down", "p0.t0-0") * v.dropped("unknown_usid", "p0.t0-0");
       }},
      {"switch_wrong_route", "{route: \"p0.t0-0:u0\", to: \"p0.t0-0:u1\", for: 40us}",
       [](const View& v) { return v.dropped("unknown_usid", "p0.t1-1:d0"); }},
      {"switch_missing_route", "{route: \"p0.t0-0:u0\", for: 40us}",
       [](const View& v) { return v.dropped("unknown_usid", "p0.t0-0"); }},
      {"stale_table", "{route: [\"p0.t0-0:u0\", \"p0.t0-0:u1\"], for: 40us}",
       [](const View& v) {
         return v.dropped("unknown_usid", "p0.t1-0:d0") * v.dropped("unknown_usid", "p0.t1-1:d0");
       }},
      {"trim_off", "{switch: \"p*.t0-0\", for: 40us}",
       [](const View& v) { return v.dropped("queue_full", "p") * (v.trimmed() == 0); },
       kThreeToOne},
      {"ecn_off", "{switch: \"p*\", for: 40us}",
       [](const View& v) { return size_t{v.marked(kT0Uplink) == 0}; }, kUphill, 1},
      {"ecn_always", "{switch: p0.t0-0, for: 40us}",
       [](const View& v) { return v.marked(kT0Uplink); }},
      {"buffer", "{switch: p0.t0-0, lost: 99%, for: 40us}",
       [](const View& v) { return v.trimmed() + v.dropped("trimmed_queue_full", "p0.t0-0"); }},
      {"plane_down", "{plane: p0, for: 40us}",
       [](const View& v) {
         return v.silent({kT0Uplink, kT1Downlink, "h0:p0", "p0.t0-1:u1"});
       }},
      {"host_pause", "{host: h1, for: 40us}",
       [](const View& v) { return size_t{v.data_out("h1:p0") + v.data_out("h1:p1") < 20}; }},
      {"host_restart", "{host: h3, down: 40us}",
       [](const View& v) {
         return v.silent({"h3:p0", "h3:p1"}, false);
       }},
      {"lossy_ev", "{host: h0, path: p0/u1, loss: 100%, for: 40us}",
       [](const View& v) {
         const std::vector<const Seen*> lost = v.drops("wire_loss", "p0.t0-0:d0");
         for (const Seen* seen : lost) CHECK(seen->bytes.substr(kUdpOffset, 2) == "\xC0\x01");
         return v.data_out("h0:p0") == 0 ? 0 : lost.size();
       }},
      {"incast", "{from: \"h[1-3]\", to: h0, size: 64KiB}",
       [](const View& v) { return v.dropped("no_receiver", "h0"); }},
      {"attack", "{kind: flood, from: \"h[1-3]\", to: h0, share: 20%, for: 40us}",
       [](const View& v) { return v.dropped("no_receiver", "h0"); }},
      {"denylist", "{host: h0, path: \"p0/*\", for: 40us}",
       [](const View& v) { return size_t{v.data_out("h0:p0") < 3}; }},
      {"slow_receiver", "{host: h3, share: 2%, for: 40us}",
       [](const View& v) { return v.dropped("receive_buffer_full", "h3"); }},
      {"pcie_stall", "{host: h3, for: 40us}",
       [](const View& v) { return v.dropped("receive_buffer_full", "h3"); }},
      {"pause_storm", "{host: h3, for: 40us}",
       [](const View& v) {
         // The data of RoCE that comes to h3 stands, and what came before is long through.
         size_t data = 0;
         for (const char* port : {"h3:p0", "h3:p1"}) {
           for (const Seen* seen : v.at(port, false)) data += seen->length > 1000;
         }
         return size_t{data < 20};
       },
       kSteadyRoce},
      {"line_card", "{card: \"p0.t0-0:c1\", for: 40us}",
       [](const View& v) {
         return v.silent({"p0.t0-0:u0", "p0.t0-0:u1"});
       }},
      {"power_loss", "{zone: feed, down: 20us, reload: 20us}",
       [](const View& v) {
         return v.silent({kT1Downlink, "p1.t1-0:d0"});
       }},
      {"verbs", "{host: h0, qp: 1, status: fatal}",
       [](const View& v) {
         // What was under way is answered, and then nothing comes to h0 any more.
         return v.at("h0:p0", false).size() + v.at("h0:p1", false).size();
       },
       "workload: [{write: {from: h0, to: h2, size: 1MiB, count: 40}}]\n"},
      {"drain", "{switch: p0.t1-0, for: 40us}",
       [](const View& v) { return size_t{v.data_out(kT1Downlink) < 10}; }},
  };
  return rows;
}

std::string text_of(const EffectRow& row) {
  return std::string("name: row\nseed: 3\nfabric: {name: f, planes: 2, t0: 2, t1: ") +
         std::to_string(row.t1) +
         ", hosts_per_t0: 2, line_cards: {ports: 2},\n  power_zones: {feed: [p0.t1-0, p1.t1-0]}}\n"
         "end: 160us\n" +
         row.workload + "faults:\n  - {at: 40us, " + row.kind + ": " + row.body + "}\n";
}

Scenario scenario_of(const EffectRow& row, CaptureScope captures, bool elided) {
  ScenarioOverrides overrides;
  overrides.captures = captures;
  overrides.payload_elided = elided;
  return parse_scenario(read_yaml_text(text_of(row), "row.yaml"), {}, overrides);
}

std::vector<Seen> read_captures(const std::filesystem::path& folder) {
  std::vector<Seen> all;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto reader = analysis::open_capture(file.path());
    analysis::CaptureRecord record;
    while (reader->next(record)) {
      Seen seen;
      seen.t = record.t;
      seen.where = reader->interfaces()[record.interface].name;
      seen.out = record.direction == analysis::CaptureDirection::kOutbound;
      seen.comment = record.comment;
      seen.bytes.assign(record.bytes.begin(), record.bytes.end());
      seen.length = record.original_length;
      all.push_back(std::move(seen));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) { return a.t < b.t; });
  return all;
}

}  // namespace

TEST_CASE("every kind of fault has a line in the table of effects") {
  std::set<std::string_view> tested;
  for (const EffectRow& row : table()) tested.insert(row.kind);
  for (const faults::FaultInfo& kind : faults::all_faults()) {
    INFO(std::string(kind.name));
    CHECK(tested.contains(kind.name));
  }
}

TEST_CASE("every kind of fault shows in the captures while it lasts, and no more once healed" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  for (const EffectRow& row : table()) {
    CAPTURE(text_of(row));
    const Scenario scenario = scenario_of(row, CaptureScope::kAll, false);
    CHECK_FALSE(scenario.schedule.empty());
    CHECK(faults::replay(scenario.schedule).degraded_targets().empty());
    const RunResult run = runs.run(scenario);
    const std::vector<Seen> seen = read_captures(run.folder.path / "captures");
    // A frame that was under way at the start is recorded when its last bit has left.
    const View during(seen, us(40) + ns(345), us(80)), after(seen, us(110), us(160));
    CHECK(row.measure(during) > 0);
    CHECK(row.measure(after) == 0);

    RunOptions options = runs.options(World::kSim);
    options.threads = 2;
    options.history_bytes = 0;
    const RunResult elided = run_scenario(scenario_of(row, CaptureScope::kNone, true), options);
    CHECK(elided.verdict.metrics.history_sha256 == run.verdict.metrics.history_sha256);
  }
}
