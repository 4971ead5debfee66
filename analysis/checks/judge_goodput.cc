#include "analysis/expect/expect_goodput.h"

#include <algorithm>
#include <map>

#include "analysis/checks/expectation_rules.h"
#include "analysis/measure/message_times.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

double gbps(BitRate rate) { return static_cast<double>(rate.bps) * 1e-9; }
double percent(BitRate rate, BitRate of) {
  return of.bps == 0 ? 0 : 100.0 * static_cast<double>(rate.bps) / static_cast<double>(of.bps);
}

std::string unit_of(const GoodputReference& of) {
  if (of.kind == GoodputReference::kRate) return "% of " + exact(of.rate);
  return of.kind == GoodputReference::kBaseline ? "% of baseline" : "% of line rate";
}

GoodputMeter meter_of(const JudgedRun& run, const FlowSelection& selection) {
  if (selection.all()) return run.measurements.goodput;
  const std::vector<bool> flows = run.selected(selection);
  std::vector<Delivery> deliveries;
  for (const Delivery& d : run.history.deliveries()) {
    const bool in_plane = !selection.plane || d.plane == *selection.plane;
    if (in_plane && flows[run.history.packets()[d.packet].flow]) deliveries.push_back(d);
  }
  return GoodputMeter(deliveries);
}

BitRate line_rate_of(const JudgedRun& run, const FlowSelection& selection) {
  const FollowedSenders& followed = run.evidence.followed();
  if (selection.all() && followed.all()) return run.measurements.line_rate;
  const BitRate per_host{run.topology.host_rate.bps * (selection.plane ? 1 : run.topology.planes)};
  if (!selection.host.empty()) {
    return {2 * per_host.bps * count_of(hosts_of(run.topology, selection.host))};
  }
  std::vector<bool> sources = hosts_of(run.topology, selection.source);
  for (uint32_t host = 0; host < sources.size(); ++host) {
    sources[host] = sources[host] && followed.follows(host);
  }
  const uint64_t senders = count_of(sources);
  const uint64_t receivers = count_of(hosts_of(run.topology, selection.destination));
  return {per_host.bps * std::min(senders, receivers)};
}

/// What a goodput is held against; empty and `why` if there is no such thing.
std::optional<BitRate> reference(const JudgedRun& run, const GoodputReference& of,
                                 const FlowSelection& selection, const GoodputMeter& meter,
                                 std::string& why) {
  if (of.kind == GoodputReference::kRate) return of.rate;
  if (of.kind == GoodputReference::kLineRate) {
    const BitRate rate = line_rate_of(run, selection);
    if (rate.bps > 0) return rate;
    why = "the selection names no host";
    return std::nullopt;
  }
  const Measurements& m = run.measurements;
  const Baseline baseline = baseline_before(run.first_fault(), meter, m.window(), m.end);
  if (baseline.usable) return baseline.rate;
  why = baseline.why_not;
  return std::nullopt;
}

/// What a goodput was measured on: packets of the selected flows that were under way in the interval. If there were
/// none because everything stood still, the messages that waited to go on.
Looked offered(const FlowSelection& selection, FabricTime from, FabricTime until,
               const JudgedRun& run) {
  const std::vector<bool> flows = run.selected(selection);
  Looked packets = run.sent(flows, from, until, selection.plane);
  if (packets.count() > 0) return packets;
  uint64_t waiting = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (!flows[flow]) continue;
    for (const MessageTime& message : messages_of(run.history, flow)) {
      waiting += message.began < until && message.arrived >= from ? 1 : 0;
    }
  }
  if (waiting == 0) return packets;
  return {waiting, "messages that stood still", from, until, Source::kPackets};
}

CheckResult judge(const ExpectGoodput& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = unit_of(expected.of);
  const bool capped = expected.at_least.ppb == 0;
  check.bound = percent_of(capped ? expected.at_most : expected.at_least);
  const Measurements& m = run.measurements;
  const FabricTime until = run.delivered_by(expected.until);
  if (expected.from >= until) {
    return unjudged(check, "the run ends at " + to_string(m.end) + ", before this interval");
  }
  const GoodputMeter meter = meter_of(run, expected.flows);
  std::string why;
  const auto of = reference(run, expected.of, expected.flows, meter, why);
  if (!of) return unjudged(check, why);
  const BitRate rate = meter.rate_between(expected.from, until);
  check.looked = offered(expected.flows, expected.from, until, run);
  check.measured = percent(rate, *of);
  const std::string says = one_digit(gbps(rate)) + " Gb/s of " + one_digit(gbps(*of)) + " Gb/s";
  if (rate < share_of(*of, expected.at_least)) return failed(check, says);
  if (expected.at_most.ppb > 0 && rate > share_of(*of, expected.at_most)) {
    check.bound = percent_of(expected.at_most);
    return failed(check, says + ", at most " + exact(expected.at_most) + " expected");
  }
  return passed(check, *check.looked);
}

/// Why so many intervals are not looked at; empty: they are.
std::string too_fine(FabricTime from, FabricTime until, FabricTime every) {
  const int64_t intervals = until > from ? (until - from).ps() / every.ps() : 0;
  if (intervals <= kMaxIntervals) return "";
  return std::to_string(intervals) + " intervals of " + to_string(every) + " are more than the " +
         std::to_string(kMaxIntervals) + " that a check looks at";
}

CheckResult judge(const ExpectGap& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.at_most.us();
  const FabricTime until = run.delivered_by(expected.until);
  const FabricTime every =
      expected.every > FabricTime::zero() ? expected.every : run.measurements.base_rtt / 4;
  if (const std::string why = too_fine(expected.from, until, every); !why.empty())
    return unjudged(check, why);
  if (every > expected.at_most) {
    return unjudged(check,
                    "no stretch shorter than an interval, " + to_string(every) + ", can be seen");
  }
  const GoodputMeter meter = meter_of(run, expected.flows);
  std::string why;
  const auto of = reference(run, expected.of, expected.flows, meter, why);
  if (!of) return unjudged(check, why);
  const BitRate low = share_of(*of, expected.below);
  FabricTime longest, since = expected.from, where;
  FabricTime t = expected.from;
  uint64_t steps = 0;
  for (; t + every <= until; t += every, ++steps) {
    if (meter.rate_between(t, t + every) >= low) since = t + every;
    if (t + every - since > longest) {
      longest = t + every - since;
      where = since;
    }
  }
  if (steps == 0) return unjudged(check, "the run ends before this interval");
  check.measured = longest.us();
  check.looked =
      Looked(steps, "interval of " + to_string(every), expected.from, t, Source::kPackets);
  if (longest > FabricTime::zero()) check.where = {where, where + longest, {}};
  if (longest > expected.at_most) {
    return failed(check, "from " + to_string(where) + " to " + to_string(where + longest));
  }
  if (t - expected.from <= expected.at_most) {
    return unjudged(check, "no stretch longer than the bound fits between " +
                               to_string(expected.from) + " and " + to_string(t));
  }
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectSamples& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of the mean";
  check.bound = percent_of(expected.min_over_mean);
  const FabricTime until = run.delivered_by(expected.until);
  if (const std::string why = too_fine(expected.from, until, expected.every); !why.empty())
    return unjudged(check, why);
  const GoodputMeter meter = meter_of(run, expected.flows);
  uint64_t least = UINT64_MAX, sum = 0, samples = 0;
  FabricTime where;
  FabricTime t = expected.from;
  for (; t + expected.every <= until; t += expected.every, ++samples) {
    const uint64_t bytes = meter.bytes_between(t, t + expected.every).value;
    sum += bytes;
    if (bytes >= least) continue;
    least = bytes;
    where = t;
  }
  check.looked = Looked(samples, "sample", expected.from, t, Source::kPackets);
  if (samples < 2) return unjudged(check, "fewer than two samples before the run ends");
  if (sum == 0) return unjudged(check, "nothing was delivered");
  check.where = {where, where + expected.every, {}};
  check.measured =
      100.0 * static_cast<double>(least) * static_cast<double>(samples) / static_cast<double>(sum);
  if (Wide{least} * samples * Probability::kOne < Wide{sum} * expected.min_over_mean.ppb) {
    return failed(check, "the sample at " + to_string(where));
  }
  return passed(check, *check.looked);
}

/// The selected pairs of hosts whose sender reports messages to the receiver.
std::vector<std::pair<uint32_t, uint32_t>> pairs_that_posted(const JudgedRun& run,
                                                             const FlowSelection& selection) {
  const std::vector<bool> source = hosts_of(run.topology, selection.source);
  const std::vector<bool> destination = hosts_of(run.topology, selection.destination);
  const std::vector<bool> either = hosts_of(run.topology, selection.host);
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const HostReport& host : run.hosts.hosts) {
    const auto node = run.topology.find_node(host.host);
    if (!node) continue;
    const uint32_t from = run.topology.node(*node).index;
    for (const QueueReport& queue : host.queues) {
      const bool meant =
          source[from] && destination[queue.peer] && (either[from] || either[queue.peer]);
      if (meant && queue.posted > 0) pairs.emplace_back(from, queue.peer);
    }
  }
  return pairs;
}

CheckResult judge(const ExpectFairness& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "%";
  check.bound = percent_of(expected.at_least);
  const FabricTime until = run.end_of(expected.until);
  const std::vector<bool> flows = run.selected(expected.flows);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytes;  // by pair of hosts
  for (size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = run.history.flows()[i];
    if (flows[i]) bytes[{flow.source, flow.destination}] = 0;
  }
  for (const auto& pair : pairs_that_posted(run, expected.flows)) bytes[pair] = 0;
  for (const Delivery& d : run.history.deliveries()) {
    const uint32_t number = run.history.packets()[d.packet].flow;
    if (!flows[number] || d.plane != expected.flows.plane.value_or(d.plane)) continue;
    const Flow& flow = run.history.flows()[number];
    uint64_t& sum = bytes[{flow.source, flow.destination}];
    if (d.t >= expected.from && d.t < until) sum += d.bytes;
  }
  check.looked = Looked(bytes.size(), "pair of hosts", expected.from, until, Source::kPackets);
  if (bytes.size() < 2) return unjudged(check, "fewer than two pairs of hosts sent anything");
  double sum = 0, squares = 0;  // for display and a comparison with room: shares of a few pairs
  uint64_t least = UINT64_MAX, most = 0;
  std::string worst;
  for (const auto& [pair, value] : bytes) {
    const auto x = static_cast<double>(value);
    sum += x;
    squares += x * x;
    most = std::max(most, value);
    if (value >= least) continue;
    least = value;
    worst = run.host_name(pair.first) + " to " + run.host_name(pair.second);
  }
  if (most == 0) return unjudged(check, "nothing was delivered in this interval");
  const double jain = sum * sum / (static_cast<double>(bytes.size()) * squares);
  const double measured = expected.by == FairnessMeasure::kJain
                              ? jain
                              : static_cast<double>(least) / static_cast<double>(most);
  check.measured = 100.0 * measured;
  check.note = counted_noun(bytes.size(), "pair") + ", the least is " + worst;
  check.where = {expected.from, until, worst};
  if (*check.measured < percent_of(expected.at_least)) return failed(check, check.note);
  return passed(check, *check.looked);
}

/// A share of the baseline needs what was before the first fault as well.
template <class E>
Reliances goodput_evidence(const E& e, const CheckedSpan& span) {
  const bool baseline = e.of.kind == GoodputReference::kBaseline;
  return {span.packets_until(e.until),
          span.packets_until(baseline ? span.first_fault : FabricTime::zero())};
}

}  // namespace

const Rules<ExpectGoodput>& rules_of(const ExpectGoodput&) {
  static constexpr Rules<ExpectGoodput> kRules{
      .sentence = [](const ExpectGoodput& e, const Wording& in) -> std::string {
        const bool whole_plane = e.flows.all_hosts() && e.flows.plane;
        return "goodput" +
               (whole_plane ? " of plane " + std::to_string(*e.flows.plane) : in.who(e.flows)) +
               in.when(e) + in.bounds(e.at_least, e.at_most, Probability{}, Wording::share) +
               in.of(e.of);
      },
      .evidence = goodput_evidence<ExpectGoodput>,
      .early_end = in_its_interval<ExpectGoodput>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectGap>& rules_of(const ExpectGap&) {
  static constexpr Rules<ExpectGap> kRules{
      .sentence = [](const ExpectGap& e, const Wording& in) -> std::string {
        return "longest stretch below " + in.share(e.below) + in.of(e.of) + in.who(e.flows) +
               in.when(e) + in.at_most(in.time(e.at_most));
      },
      .evidence = goodput_evidence<ExpectGap>,
      .early_end = in_its_interval<ExpectGap>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectSamples>& rules_of(const ExpectSamples&) {
  static constexpr Rules<ExpectSamples> kRules{
      .sentence = [](const ExpectSamples& e, const Wording& in) -> std::string {
        return "lowest goodput of " + in.time(e.every) + in.who(e.flows) + in.when(e) +
               in.at_least(in.share(e.min_over_mean)) + " of the mean";
      },
      .evidence = packets_in_interval<ExpectSamples>,
      .early_end = in_its_interval<ExpectSamples>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectFairness>& rules_of(const ExpectFairness&) {
  static constexpr Rules<ExpectFairness> kRules{
      .sentence = [](const ExpectFairness& e, const Wording& in) -> std::string {
        const char* by =
            e.by == FairnessMeasure::kJain ? "Jain's fairness" : "least over most goodput";
        return by + in.who(e.flows) + in.when(e) + in.at_least(in.share(e.at_least));
      },
      // The whole run: only its end shows which flows took part.
      .evidence = needs<ExpectFairness, Witness::kPackets, Witness::kReports>,
      .early_end = in_its_interval<ExpectFairness>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
