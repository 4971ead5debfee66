#include "lab/scenario/expectation_list.h"

#include <algorithm>

#include "fabric/paths/path_list.h"
#include "fabric/paths/path_pattern.h"
#include "lab/scenario/connections.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kBaselineRtts = 20;  // the last 20 RTT before the first fault

/// Refuses what no run could answer.
class ExpectationCheck {
 public:
  ExpectationCheck(const Scenario& scenario, const YamlValue& entry)
      : scenario_(scenario), entry_(entry) {}

  void operator()(const auto& expect) const {
    using E = std::remove_cvref_t<decltype(expect)>;
    if constexpr (requires { expect.until; }) check_interval(expect);
    if constexpr (requires { expect.flows; }) check_hosts(expect.flows);
    if constexpr (requires { expect.path; }) check_path(expect.path);
    if constexpr (requires { expect.port; }) {
      if (!expect.port.empty()) NameResolver(scenario_.topology, 0).ports(body().require("port"));
    }
    if constexpr (std::is_same_v<E, analysis::ExpectPortShare>) {
      NameResolver(scenario_.topology, 0).ports(body().require("among"));
      check_hosts({expect.source, expect.destination, {}});
    }
    if constexpr (requires { expect.of; }) {
      if (expect.of == analysis::GoodputReference::kBaseline) require_baseline();
    }
    if constexpr (std::is_same_v<E, analysis::ExpectLatency>) {
      check_hosts({expect.source, expect.destination, {}});
      require_ping_pong(expect);
    }
    if constexpr (requires { expect.every; }) check_every(expect);
    if constexpr (std::is_same_v<E, analysis::ExpectGap>) check_gap(expect);
    if constexpr (std::is_same_v<E, analysis::ExpectDetect> ||
                  std::is_same_v<E, analysis::ExpectLeave> ||
                  std::is_same_v<E, analysis::ExpectCompletionTime>) {
      require_fault();
    }
    if constexpr (std::is_same_v<E, analysis::ExpectRecover> ||
                  std::is_same_v<E, analysis::ExpectSteady>) {
      require_baseline();
    }
  }
  void operator()(const analysis::ExpectMemoryIntact&) const {
    if (scenario_.payload_elided)
      entry_.fail("memory_intact, beside an elided payload", "\"payload: real\"");
  }
  void operator()(const analysis::ExpectTrims& expect) const {
    check_interval(expect);
    check_hosts(expect.flows);
    if (expect.at_least == 0 || scenario_.topology.marks_and_trims()) return;
    entry_.fail("packets that are trimmed, in a fabric where the kernel and Open vSwitch forward",
                "\"at_most\", or \"forwarding: switchd\" or bpf: those do not trim");
  }
  void operator()(const analysis::ExpectHealed&) const { require_heals("healed"); }
  void operator()(const analysis::ExpectLiveness&) const { require_heals("liveness"); }
  void operator()(const analysis::ExpectGoodputBack&) const { require_heals("goodput_back"); }
  void operator()(const analysis::ExpectEvsGood&) const { require_heals("evs_good"); }

 private:
  YamlValue body() const { return entry_.members().front().second; }
  void check_interval(const auto& expect) const {
    if (expect.from >= scenario_.end) {
      body().require("from").fail_expecting("an instant before the end at " + exact(scenario_.end));
    }
    if (expect.until != FabricTime::never() && expect.until > scenario_.end) {
      body().require("until").fail_expecting("at most the end at " + exact(scenario_.end));
    }
  }
  FabricTime window_of(const auto& expect) const {
    return std::min(expect.until, scenario_.end) - expect.from;
  }
  /// The intervals that are looked at: the judge would look at no more of them.
  void check_every(const auto& expect) const {
    if (scenario_.end == FabricTime::never() || expect.every == FabricTime::zero()) return;
    const int64_t intervals = window_of(expect) / expect.every;
    if (intervals <= analysis::kMaxIntervals) return;
    const int64_t least = (window_of(expect).ps() - 1) / analysis::kMaxIntervals + 1;
    body().require("every").fail_expecting(
        "at least " + exact(FabricTime::from_ps(least)) + ": no more than " +
        std::to_string(analysis::kMaxIntervals) + " intervals are looked at, and these are " +
        std::to_string(intervals));
  }
  /// A gap that no run could have, or that no interval could show, would pass unseen.
  void check_gap(const analysis::ExpectGap& expect) const {
    const FabricTime every = scenario_.topology.base_rtt / 4;
    if (expect.every == FabricTime::zero() && expect.at_most < every) {
      body().require("at_most").fail_expecting("at least " + exact(every) +
                                               ", a quarter of the base RTT, or an \"every\"");
    }
    if (scenario_.end == FabricTime::never() || expect.at_most < window_of(expect)) return;
    body().require("at_most").fail_expecting("less than the " + exact(window_of(expect)) +
                                             " that are looked at");
  }
  /// Only a ping-pong begins its next message when the last one was answered.
  void require_ping_pong(const analysis::ExpectLatency& expect) const {
    NameResolver names(scenario_.topology, scenario_.seed);
    const std::vector<NodeId> sources = names.hosts(expect.source);
    const std::vector<NodeId> destinations = names.hosts(expect.destination);
    const auto among = [&](const std::vector<NodeId>& hosts, uint32_t host) {
      return std::find(hosts.begin(), hosts.end(), scenario_.topology.host(host)) != hosts.end();
    };
    bool any = false;
    for (const endpoint::ConnectionPlan& plan : connections_of(scenario_)) {
      const uint32_t from = plan.initiator.host, to = plan.acceptor.host;
      const bool there = among(sources, from) && among(destinations, to);
      const bool back = plan.way_back && among(sources, to) && among(destinations, from);
      if (!there && !back) continue;
      const endpoint::WorkloadSpec& spec = scenario_.workload[plan.workload];
      if (!std::holds_alternative<endpoint::PingPongSpec>(spec)) {
        refuse_latency("between hosts that \"" + std::string(name_of(spec)) + "\" joins");
      }
      any = true;
    }
    if (!any) refuse_latency("between hosts that no ping_pong joins");
  }
  void refuse_latency(const std::string& found) const {
    entry_.fail("latency " + found,
                "hosts of a ping_pong alone; \"message_time\" measures messages of any workload");
  }
  void check_hosts(const analysis::FlowSelection& flows) const {
    check_pattern("source", flows.source);
    check_pattern("destination", flows.destination);
    check_pattern("host", flows.host);
    const uint32_t planes = scenario_.topology.planes;
    if (flows.plane && *flows.plane >= planes) {
      body().require("plane").fail_expecting("one of the planes 0 to " +
                                             std::to_string(planes - 1));
    }
  }
  void check_path(const std::string& pattern) const {
    for (const Path path : all_paths(scenario_.topology)) {
      if (matches_pattern(pattern, to_string(path))) return;
    }
    body().require("path").fail_expecting("a path of this fabric such as p0/u1 or p0/*");
  }
  void check_pattern(const char* key, const std::string& pattern) const {
    if (pattern.empty()) return;
    const YamlValue value = body().require(key);
    // The judge reads the pattern again, and would draw again.
    if (pattern.find("random(") != std::string::npos) value.fail_expecting("names or patterns");
    NameResolver(scenario_.topology, scenario_.seed).hosts(value);
  }
  void require_heals(const char* word) const {
    for (const faults::Fault& fault : scenario_.faults) {
      if (faults::interval_of(fault, scenario_.topology).last_heal <= scenario_.end) continue;
      entry_.fail(std::string(word) + ", beside " + describe(fault, scenario_.topology),
                  "faults that are healed before the end at " + exact(scenario_.end));
    }
  }
  void require_fault() const {
    if (scenario_.faults.empty()) {
      entry_.fail("no fault to measure from", "at least one in \"faults\"");
    }
  }
  void require_baseline() const {
    if (scenario_.faults.empty()) {
      entry_.fail("no fault, so no baseline before it",
                  "\"of: line_rate\", or at least one in \"faults\"");
    }
    FabricTime first = FabricTime::never();
    for (const faults::Fault& fault : scenario_.faults) first = std::min(first, fault.at);
    const FabricTime window = scenario_.topology.base_rtt * kBaselineRtts;
    if (first >= window) return;
    entry_.fail("the first fault at " + exact(first),
                "at least " + exact(window) + " before it: the baseline is the 20 RTT before it");
  }

  const Scenario& scenario_;
  const YamlValue& entry_;
};

}  // namespace

/// The value of an entry that has this key alone.
std::optional<YamlValue> only_member(const YamlValue& entry, std::string_view key) {
  if (!entry.is_map() || entry.members().size() != 1) return std::nullopt;
  return entry.get(key);
}

std::vector<analysis::Expectation> read_expectations(const YamlValue& list,
                                                     const Scenario& scenario) {
  std::vector<analysis::Expectation> expectations;
  size_t entries = 0;
  for (const YamlValue& entry : list.items()) {
    if (entries++ == analysis::kMaxExpectations) {
      entry.fail("more expectations", "at most " + std::to_string(analysis::kMaxExpectations));
    }
    if (only_member(entry, "program")) continue;
    expectations.push_back(analysis::parse_expectation(entry));
    std::visit(ExpectationCheck(scenario, entry), expectations.back());
  }
  return expectations;
}

std::vector<CheckProgram> read_check_programs(const YamlValue& list,
                                              const std::filesystem::path& base) {
  std::vector<CheckProgram> programs;
  for (const YamlValue& entry : list.items()) {
    if (const auto body = only_member(entry, "program")) {
      programs.push_back(parse_check_program(*body, base));
    }
  }
  return programs;
}

}  // namespace mrclab::lab
