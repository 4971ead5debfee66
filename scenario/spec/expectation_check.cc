#include "scenario/spec/expectation_check.h"

#include <algorithm>
#include <set>

#include "fabric/packet/drop_cause.h"
#include "fabric/paths/path_list.h"
#include "fabric/paths/path_pattern.h"
#include "scenario/spec/connections.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kBaselineRtts = 20;  // the last 20 RTT before the first fault

template <class E, class... Any>
constexpr bool kIsOneOf = (std::is_same_v<E, Any> || ...);

/// The flows that an expectation looks at: those that it names, or all.
template <class E>
analysis::FlowSelection flows_of(const E& expect) {
  if constexpr (requires { expect.flows; }) return expect.flows;
  if constexpr (requires { expect.source; }) return {expect.source, expect.destination, {}};
  return {};
}

// Bounds: is one there, and does it exclude anything? Which value excludes nothing depends on the type.
bool is_floor(uint64_t at_least) { return at_least > 0; }
bool is_floor(Probability at_least) { return at_least.ppb > 0; }
bool is_floor(FabricTime at_least) { return at_least > FabricTime::zero(); }
bool is_ceiling(uint64_t at_most) { return at_most != analysis::PacketBounds::kNoBound; }
bool is_ceiling(FabricTime at_most) { return at_most != FabricTime::never(); }
bool is_above(uint64_t a, uint64_t b) { return a > b; }
bool is_above(Probability a, Probability b) { return a.ppb > b.ppb; }
bool is_above(FabricTime a, FabricTime b) { return a > b; }

}  // namespace

/// One expectation of the list.
class ExpectationCheck::OfOne {
 public:
  OfOne(const ExpectationCheck& of, const YamlValue& entry)
      : scenario_(of.scenario_), planned_(of.flows_), entry_(entry) {}

  template <class E>
  void operator()(const E& expect) const {
    using namespace analysis;
    if constexpr (requires { expect.until; }) check_interval(expect);
    const FlowSelection flows = flows_of(expect);
    check_names(flows);
    if constexpr (requires { expect.path; }) check_path(expect.path);
    if constexpr (kIsOneOf<E, ExpectPause, ExpectPortShare>) check_ports(expect);
    if constexpr (requires { E::kBounded; }) check_bounds(expect);
    const std::vector<PlannedFlow> selected = selection(flows);
    check_traffic(expect, flows, selected);
    if constexpr (requires { expect.every; }) check_intervals(expect);
    if constexpr (requires { expect.of.rate; }) {
      if (expect.of == GoodputReference::kBaseline) require_baseline(selected);
    }
    if constexpr (kIsOneOf<E, ExpectDetect, ExpectLeave, ExpectCompletionTime>) require_fault();
    if constexpr (kIsOneOf<E, ExpectRecover, ExpectSteady>) require_baseline(selected);
    if constexpr (kIsOneOf<E, ExpectHealed, ExpectLiveness, ExpectGoodputBack, ExpectEvsGood>) {
      require_heals(E::kWord.name);
    }
    if constexpr (kIsOneOf<E, ExpectLossless, ExpectPause, ExpectDeadlockFree>) {
      require_roce(E::kWord.name);
    }
    if constexpr (kIsOneOf<E, ExpectStepTime, ExpectExposed, ExpectStraggler, ExpectStepsDone,
                           ExpectJobAlive, ExpectJobDies, ExpectJobGoesOn, ExpectInterference,
                           ExpectTtft, ExpectTpot, ExpectSlo>) {
      const bool alone = !entry_.is_map();
      mrclab::lab::require_possible(scenario_, asked_of_job(expect), entry_,
                                    alone ? entry_ : body());
    }
    check_own(expect);
  }

 private:
  /// What stands behind the expectation's word, wherever what was published stands.
  YamlValue body() const {
    const auto members = entry_.members();
    const auto found = std::find_if(members.begin(), members.end(), [](const auto& member) {
      return member.first != "published" && member.first != "figure";
    });
    return found->second;
  }
  /// Where one of the keys stands, the first that is there; else the entry.
  YamlValue place_of(std::initializer_list<std::string_view> keys) const {
    if (!entry_.is_map() || !body().is_map()) return entry_;
    for (const std::string_view key : keys) {
      if (const auto value = body().get(key)) return *value;
    }
    return entry_;
  }

  // --- what single kinds need ----------------------------------------------------------------------

  void check_own(const auto&) const {}
  void check_own(const analysis::ExpectMemoryIntact&) const {
    if (scenario_.payload_elided)
      entry_.fail("memory_intact, beside an elided payload", "\"payload: real\"");
  }
  void check_own(const analysis::ExpectTrims& expect) const {
    if (expect.at_least == 0 || scenario_.topology.marks_and_trims()) return;
    entry_.fail("packets that are trimmed, in a fabric where the kernel and Open vSwitch forward",
                "\"at_most\", or \"forwarding: switchd\" or bpf: those do not trim");
  }
  void check_own(const analysis::ExpectOrchestratorNames&) const {
    const auto& without =
        scenario_.without;  // where it was left out on purpose the check is inconclusive
    const bool left_out =
        std::find(without.begin(), without.end(), "orchestrator") != without.end();
    if (scenario_.topology.orchestrator.on || left_out) return;
    entry_.fail("orchestrator_names, without an orchestrator",
                "\"orchestrator: on\" in the fabric");
  }
  void check_own(const analysis::ExpectMapperNames&) const {
    if (scenario_.topology.mapper.on) return;
    entry_.fail("mapper_names, without a mapper", "\"mapper: {period: 10rtt}\" in the scenario");
  }
  void check_own(const analysis::ExpectIsolated& expect) const {
    const std::vector<Tenant>& tenants = scenario_.topology.tenants;
    if (tenants.empty()) {
      entry_.fail("isolated, without tenants", "\"tenants: {a: h0, b: h1}\" in the scenario");
    }
    for (const std::string& name : expect.tenants.names) {
      const auto has_name = [&](const Tenant& tenant) { return tenant.name == name; };
      if (std::any_of(tenants.begin(), tenants.end(), has_name)) continue;
      body().require("tenants").fail("the tenant " + in_quotes(name), "a name in \"tenants\"");
    }
  }
  void check_own(const analysis::ExpectDroppedFor& expect) const {
    check_pattern("host", expect.host);
    for (size_t i = 1; i < kDropCauses; ++i) {
      if (matches_pattern(expect.reason, name_of(static_cast<DropCause>(i)))) return;
    }
    body().require("reason").fail_expecting("a cause such as not_authorised or queue_full");
  }
  void check_own(const analysis::ExpectDatagrams& expect) const { check_pattern("to", expect.to); }
  void check_own(const analysis::ExpectStepTime& expect) const {
    if (expect.of == analysis::StepReference::kBaseline) require_fault();
  }
  void check_own(const analysis::ExpectInterference&) const {
    if (scenario_.workload.size() > 1) return;
    entry_.fail("interference, beside no other work", "a second entry of \"workload\"");
  }
  void check_own(const analysis::ExpectJobGoesOn& expect) const {
    for (const endpoint::WorkloadSpec& spec : scenario_.workload) {
      const auto* const job = std::get_if<endpoint::JobWorkload>(&spec);
      if (job == nullptr || (!expect.job.empty() && job->spec.name != expect.job)) continue;
      if (job->spec.on_error && job->spec.on_error->goes_on()) return;
    }
    entry_.fail("job_goes_on, of a job that ends with its first error",
                "\"on_error: {then: restart}\" or \"shrink\" in the job");
  }
  void check_own(const analysis::ExpectDenied&) const { check_denylist("denied"); }
  void check_own(const analysis::ExpectAllowedAgain&) const { check_denylist("allowed_again"); }
  void check_denylist(const std::string& word) const {
    if (scenario_.topology.denylist.on) return;
    entry_.fail(word + ", without a denylist", "\"denylist: on\" in the scenario");
  }
  /// Half of a round trip is the time of a ping-pong alone: only it begins its next message when the last one was
  /// answered.
  void check_own(const analysis::ExpectLatency& expect) const {
    if (!scenario_.programs.empty()) return;
    const std::vector<bool> sources = hosts(expect.source),
                            destinations = hosts(expect.destination);
    bool any = false;
    for (const endpoint::ConnectionPlan& plan : connections_of(scenario_)) {
      const uint32_t from = plan.initiator.host, to = plan.acceptor.host;
      const bool there = sources[from] && destinations[to];
      const bool back = plan.way_back && sources[to] && destinations[from];
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
  void check_own(const analysis::ExpectCompletionTime&) const {
    FabricTime first = FabricTime::never();
    for (const auto& spec : scenario_.workload) {
      if (!std::holds_alternative<endpoint::CollectiveSpec>(spec)) continue;
      first = std::min(first, endpoint::start_of(spec));
    }
    if (first == FabricTime::never()) {
      entry_.fail("completion_time, without a collective",
                  "a collective such as \"all_reduce\" in \"workload\"");
    }
    if (first < first_fault()) return;
    entry_.fail("collectives that begin at " + exact(first) + ", when the first fault is there",
                "one that begins before it: that is what later ones are compared with");
  }
  /// A single pair is always as fast as itself.
  void check_own(const analysis::ExpectFairness& expect) const {
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const PlannedFlow& flow : selection(expect.flows)) pairs.emplace(flow.from, flow.to);
    if (pairs.size() == 1) entry_.fail("the fairness of one pair of hosts", "two pairs at least");
  }
  /// A bound must lie between one step and the whole interval: no gap can be shorter or longer.
  void check_own(const analysis::ExpectGap& expect) const {
    const FabricTime every = scenario_.topology.base_rtt / 4;
    if (expect.every == FabricTime::zero() && expect.at_most < every) {
      body().require("at_most").fail_expecting("at least " + exact(every) +
                                               ", a quarter of the base RTT, or an \"every\"");
    }
    const FabricTime length = window_of(expect);
    if (expect.at_most < length) return;
    body().require("at_most").fail_expecting("less than the " + exact(length) +
                                             " that are looked at");
  }

  // --- instants ------------------------------------------------------------------------------------

  FabricTime window_of(const auto& expect) const {
    const FabricTime until = std::min(expect.until, scenario_.end);
    return until == FabricTime::never() ? until : until - expect.from;
  }
  void check_interval(const auto& expect) const {
    if (expect.from >= scenario_.end) {
      body().require("from").fail_expecting("an instant before the end at " + exact(scenario_.end));
    }
    if (expect.until != FabricTime::never() && expect.until > scenario_.end) {
      body().require("until").fail_expecting("at most the end at " + exact(scenario_.end));
    }
  }
  /// The intervals that are looked at: one at least, and no more than the judge would look at.
  void check_intervals(const auto& expect) const {
    const FabricTime length = window_of(expect);
    if (expect.every > length) {
      body().require("every").fail_expecting("at most the " + exact(length) +
                                             " that are looked at");
    }
    if (length == FabricTime::never() || expect.every == FabricTime::zero()) return;
    const int64_t intervals = length / expect.every;
    if (intervals <= analysis::kMaxIntervals) return;
    const int64_t least = (length.ps() - 1) / analysis::kMaxIntervals + 1;
    body().require("every").fail_expecting(
        "at least " + exact(FabricTime::from_ps(least)) + ": no more than " +
        std::to_string(analysis::kMaxIntervals) + " intervals are looked at, and these are " +
        std::to_string(intervals));
  }

  // --- names ---------------------------------------------------------------------------------------

  void check_names(const analysis::FlowSelection& flows) const {
    check_pattern("source", flows.source);
    check_pattern("destination", flows.destination);
    check_pattern("host", flows.host);
    const uint32_t planes = scenario_.topology.planes;
    if (flows.plane && *flows.plane >= planes) {
      body().require("plane").fail_expecting("one of the planes 0 to " +
                                             std::to_string(planes - 1));
    }
  }
  void check_pattern(const char* key, const std::string& pattern) const {
    if (pattern.empty()) return;
    const YamlValue value = body().require(key);
    // The judge reads the pattern again, and would draw again.
    if (pattern.find("random(") != std::string::npos) value.fail_expecting("names or patterns");
    NameResolver(scenario_.topology, scenario_.seed).hosts(value);
  }
  void check_ports(const auto& expect) const {
    NameResolver names(scenario_.topology, 0);
    if (!expect.port.empty()) names.ports(body().require("port"));
    if constexpr (requires { expect.among; }) names.ports(body().require("among"));
  }
  void check_path(const std::string& pattern) const {
    const YamlValue value = body().require("path");
    if (const auto mistake = mistake_in_paths(pattern, scenario_.topology)) {
      value.fail(mistake->found, mistake->expected);
    }
    if (names_paths(scenario_) || !scenario_.programs.empty()) return;
    // What a hash chooses is known by its plane alone.
    for (uint32_t plane = 0; plane < scenario_.topology.planes; ++plane) {
      for (const Chosen chosen : {Chosen::kByHashIpv6, Chosen::kByHashIpv4, Chosen::kByFlow}) {
        if (matches_pattern(pattern, to_string(Path{plane, 0, chosen}))) return;
      }
    }
    value.fail(in_quotes(pattern) + ", a path by its uplink, where no workload chooses uplinks",
               "all paths of planes such as p0/*: here switches choose the rest");
  }

  // --- bounds --------------------------------------------------------------------------------------

  bool has_ceiling(const auto& expect) const {
    using Bound = std::remove_cvref_t<decltype(expect.at_most)>;
    if constexpr (std::is_same_v<Bound, Probability>) {
      // A goodput may be above its reference; of shares of one whole 100 % are no bound.
      if constexpr (requires { expect.of; }) return expect.at_most.ppb > 0;
      return expect.at_most.ppb < Probability::kOne;
    } else {
      return is_ceiling(expect.at_most);
    }
  }
  void check_bounds(const auto& expect) const {
    const bool ceiling = has_ceiling(expect);
    if (!is_floor(expect.at_least) && !ceiling) {
      place_of({"at_least", "at_most"}).fail_expecting("a bound that not every run keeps");
    }
    if (ceiling && is_above(expect.at_least, expect.at_most)) {
      body().require("at_most").fail_expecting("no less than \"at_least\"");
    }
  }

  // --- traffic -------------------------------------------------------------------------------------

  std::vector<bool> hosts(const std::string& pattern) const {
    const Topology& topology = scenario_.topology;
    std::vector<bool> in(topology.host_count(), pattern.empty());
    if (pattern.empty()) return in;
    for (const NodeId node : NameResolver(topology, 0).hosts(pattern)) {
      in[topology.node(node).index] = true;
    }
    return in;
  }
  std::vector<PlannedFlow> selection(const analysis::FlowSelection& flows) const {
    if (flows.all_hosts()) return planned_;
    const std::vector<bool> from = hosts(flows.source), to = hosts(flows.destination),
                            host = hosts(flows.host);
    std::vector<PlannedFlow> selected;
    for (const PlannedFlow& flow : planned_) {
      const bool at_host = host[flow.from] || host[flow.to];
      if (from[flow.from] && to[flow.to] && at_host) selected.push_back(flow);
    }
    return selected;
  }
  /// Something is planned for what it looks at, and it begins before the interval is over.
  void check_traffic(const auto& expect, const analysis::FlowSelection& flows,
                     const std::vector<PlannedFlow>& selected) const {
    if (planned_.empty()) return;
    if (selected.empty()) {
      const bool names_both = !flows.source.empty() && !flows.destination.empty();
      place_of({"source", "destination", "host"})
          .fail(names_both ? "no workload from " + flows.source + " to " + flows.destination
                           : "hosts between which no workload sends",
                "hosts of which one sends to the other in \"workload\"");
    }
    if constexpr (requires { expect.until; }) {
      const FabricTime first = first_start(selected);
      if (expect.until > first) return;
      body().require("until").fail_expecting("an instant after " + exact(first) +
                                             ", when what it looks at begins to send");
    }
  }
  static FabricTime first_start(const std::vector<PlannedFlow>& flows) {
    FabricTime first = FabricTime::never();
    for (const PlannedFlow& flow : flows) first = std::min(first, flow.start);
    return first;
  }
  void require_roce(std::string_view word) const {
    if (uses_roce(scenario_) || !scenario_.programs.empty()) return;
    entry_.fail(std::string(word) + ", where no workload uses RoCE",
                "\"transport: roce\" for one, or no such check: only RoCE's data may be paused");
  }

  // --- faults --------------------------------------------------------------------------------------

  FabricTime first_fault() const {
    FabricTime first = FabricTime::never();
    for (const faults::Fault& fault : scenario_.faults) first = std::min(first, fault.at);
    return first;
  }
  void require_heals(std::string_view word) const {
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
  void require_baseline(const std::vector<PlannedFlow>& selected) const {
    if (scenario_.faults.empty()) {
      entry_.fail("no fault, so no baseline before it",
                  "\"of: line_rate\", or at least one in \"faults\"");
    }
    const FabricTime first = first_fault();
    const FabricTime window = scenario_.topology.base_rtt * kBaselineRtts;
    if (first < window) {
      entry_.fail("the first fault at " + exact(first),
                  "at least " + exact(window) + " before it: the baseline is the 20 RTT before it");
    }
    const FabricTime start = first_start(selected);
    if (selected.empty() || start < first) return;
    entry_.fail(
        "work that begins at " + exact(start) + ", not before the first fault at " + exact(first),
        "work before it: the baseline is the 20 RTT before it");
  }

  const Scenario& scenario_;
  const std::vector<PlannedFlow>& planned_;
  const YamlValue& entry_;
};

ExpectationCheck::ExpectationCheck(const Scenario& scenario) : scenario_(scenario) {
  if (scenario.programs.empty()) flows_ = planned_flows(scenario);
}

void ExpectationCheck::require_possible(const analysis::Expectation& expectation,
                                        const YamlValue& entry) const {
  std::visit(OfOne(*this, entry), static_cast<const analysis::ExpectationKind&>(expectation));
}

std::string ExpectationCheck::why_impossible(const analysis::Expectation& expectation) const {
  constexpr std::string_view kFound = "found ", kExpected = ": expected ";
  try {
    require_possible(expectation, read_yaml_text(analysis::to_yaml(expectation), "expect"));
  } catch (const InputError& error) {
    const std::string text = error.what();
    const size_t from = text.find(kFound);
    if (from == std::string::npos) return text;
    const size_t begin = from + kFound.size();
    return text.substr(begin, text.find(kExpected, begin) - begin);
  }
  return "";
}

void leave_out_impossible(Scenario& scenario) {
  const ExpectationCheck check(scenario);
  std::erase_if(scenario.expect, [&](const analysis::Expectation& expectation) {
    return !check.why_impossible(expectation).empty();
  });
}

}  // namespace mrclab::lab
