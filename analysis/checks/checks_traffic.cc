// Checks of goodput and what is made of it, of latency, losses and completion times.

#include <algorithm>
#include <map>

#include "analysis/checks/judge.h"
#include "fabric/pattern.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr size_t kMaxSamples = 1u << 20;  // intervals that one check looks at

double gbps(BitRate rate) { return static_cast<double>(rate.bps) * 1e-9; }
double percent(BitRate rate, BitRate of) {
  return of.bps == 0 ? 0 : 100.0 * static_cast<double>(rate.bps) / static_cast<double>(of.bps);
}

/// Hosts of a pattern, by host number; all if it is empty.
std::vector<bool> hosts_of(const Topology& topology, const std::string& pattern) {
  std::vector<bool> in(topology.host_count(), pattern.empty());
  if (pattern.empty()) return in;
  try {
    for (const NodeId node : NameResolver(topology, 0).hosts(pattern)) {
      in[topology.node(node).index] = true;
    }
  } catch (const NameError&) {
    // Names nobody: nothing is selected, and the check cannot be judged.
  }
  return in;
}

uint64_t count(const std::vector<bool>& flags) {
  return static_cast<uint64_t>(std::count(flags.begin(), flags.end(), true));
}

std::string unit_of(const GoodputReference& of) {
  if (of.kind == GoodputReference::kRate) return "% of " + exact(of.rate);
  return of.kind == GoodputReference::kBaseline ? "% of baseline" : "% of line rate";
}

}  // namespace

std::string Judge::flow_name(uint32_t number) const {
  const Flow& flow = in_.history.flows()[number];
  return host_name(flow.source) + " to " + host_name(flow.destination) + " " +
         qp_name(flow.destination_qp);
}

FabricTime Judge::first_fault() const { return first_start(in_.faults); }

std::vector<bool> Judge::selected(const FlowSelection& selection) const {
  const std::vector<bool> source = hosts_of(in_.topology, selection.source);
  const std::vector<bool> destination = hosts_of(in_.topology, selection.destination);
  const std::vector<bool> host = hosts_of(in_.topology, selection.host);
  std::vector<bool> result;
  for (const Flow& flow : in_.history.flows()) {
    result.push_back(source[flow.source] && destination[flow.destination] &&
                     (host[flow.source] || host[flow.destination]));
  }
  return result;
}

GoodputMeter Judge::meter_of(const FlowSelection& selection) const {
  if (selection.all()) return in_.measurements.goodput;
  const std::vector<bool> flows = selected(selection);
  std::vector<Delivery> deliveries;
  for (const Delivery& d : in_.history.deliveries()) {
    const bool in_plane = !selection.plane || d.plane == *selection.plane;
    if (in_plane && flows[in_.history.packets()[d.packet].flow]) deliveries.push_back(d);
  }
  return GoodputMeter(deliveries);
}

BitRate Judge::line_rate_of(const FlowSelection& selection) const {
  if (selection.all()) return in_.measurements.line_rate;
  const BitRate per_host{in_.topology.host_rate.bps * (selection.plane ? 1 : in_.topology.planes)};
  if (!selection.host.empty()) {
    return {2 * per_host.bps * count(hosts_of(in_.topology, selection.host))};
  }
  const uint64_t senders = count(hosts_of(in_.topology, selection.source));
  const uint64_t receivers = count(hosts_of(in_.topology, selection.destination));
  return {per_host.bps * std::min(senders, receivers)};
}

std::optional<BitRate> Judge::reference(const GoodputReference& of, const FlowSelection& selection,
                                        const GoodputMeter& meter, std::string& why) const {
  if (of.kind == GoodputReference::kRate) return of.rate;
  if (of.kind == GoodputReference::kLineRate) {
    const BitRate rate = line_rate_of(selection);
    if (rate.bps > 0) return rate;
    why = "the selection names no host";
    return std::nullopt;
  }
  const Measurements& m = in_.measurements;
  const Baseline baseline = baseline_before(first_fault(), meter, m.window(), m.end);
  if (baseline.usable) return baseline.rate;
  why = baseline.why_not;
  return std::nullopt;
}

CheckResult Judge::operator()(const ExpectGoodput& expected) const {
  CheckResult check;
  check.unit = unit_of(expected.of);
  const bool capped = expected.at_least.ppb == 0;
  check.bound = percent_of(capped ? expected.at_most : expected.at_least);
  const Measurements& m = in_.measurements;
  const FabricTime until = delivered_by(expected.until);
  if (expected.from >= until) {
    return unjudged(check, "the run ends at " + to_string(m.end) + ", before this interval");
  }
  const GoodputMeter meter = meter_of(expected.flows);
  std::string why;
  const auto of = reference(expected.of, expected.flows, meter, why);
  if (!of) return unjudged(check, why);
  const BitRate rate = meter.rate_between(expected.from, until);
  check.measured = percent(rate, *of);
  const std::string says = one_digit(gbps(rate)) + " Gb/s of " + one_digit(gbps(*of)) + " Gb/s";
  if (rate < share_of(*of, expected.at_least)) return failed(check, says);
  if (expected.at_most.ppb > 0 && rate > share_of(*of, expected.at_most)) {
    check.bound = percent_of(expected.at_most);
    return failed(check, says + ", at most " + exact(expected.at_most) + " expected");
  }
  return passed(check);
}

CheckResult Judge::operator()(const ExpectGap& expected) const {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.at_most.us();
  const FabricTime until = delivered_by(expected.until);
  const FabricTime every =
      expected.every > FabricTime::zero() ? expected.every : in_.measurements.base_rtt / 4;
  const GoodputMeter meter = meter_of(expected.flows);
  std::string why;
  const auto of = reference(expected.of, expected.flows, meter, why);
  if (!of) return unjudged(check, why);
  const BitRate low = share_of(*of, expected.below);
  FabricTime longest, since = expected.from, where;
  FabricTime t = expected.from;
  size_t steps = 0;
  for (; t + every <= until && steps < kMaxSamples; t += every, ++steps) {
    if (meter.rate_between(t, t + every) >= low) since = t + every;
    if (t + every - since > longest) {
      longest = t + every - since;
      where = since;
    }
  }
  if (steps == 0) return unjudged(check, "the run ends before this interval");
  check.measured = longest.us();
  if (longest > FabricTime::zero()) check.where = {where, where + longest, {}};
  if (longest > expected.at_most) {
    return failed(check, "from " + to_string(where) + " to " + to_string(where + longest));
  }
  return passed(check);
}

CheckResult Judge::operator()(const ExpectSamples& expected) const {
  CheckResult check;
  check.unit = "% of the mean";
  check.bound = percent_of(expected.min_over_mean);
  const FabricTime until = delivered_by(expected.until);
  const GoodputMeter meter = meter_of(expected.flows);
  uint64_t least = UINT64_MAX, sum = 0, samples = 0;
  FabricTime where;
  for (FabricTime t = expected.from; t + expected.every <= until && samples < kMaxSamples;
       t += expected.every, ++samples) {
    const uint64_t bytes = meter.bytes_between(t, t + expected.every).value;
    sum += bytes;
    if (bytes >= least) continue;
    least = bytes;
    where = t;
  }
  if (samples < 2) return unjudged(check, "fewer than two samples before the run ends");
  if (sum == 0) return unjudged(check, "nothing was delivered");
  check.where = {where, where + expected.every, {}};
  check.measured =
      100.0 * static_cast<double>(least) * static_cast<double>(samples) / static_cast<double>(sum);
  if (Wide{least} * samples * Probability::kOne < Wide{sum} * expected.min_over_mean.ppb) {
    return failed(check, "the sample at " + to_string(where));
  }
  check.note = std::to_string(samples) + " samples";
  return passed(check);
}

CheckResult Judge::operator()(const ExpectLatency& expected) const {
  CheckResult check;
  check.unit = "us";
  check.bound =
      (expected.at_most != FabricTime::never() ? expected.at_most : expected.at_least).us();
  if (!in_.topology.carries_time()) {
    return unjudged(check, "switches that are not ours take no modelled time");
  }
  const FabricTime until = end_of(expected.until);
  const std::vector<bool> flows = selected({expected.source, expected.destination, {}});
  FabricTime sum;
  int64_t turns = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (!flows[flow]) continue;
    std::optional<FabricTime> last;
    for (const uint32_t number : in_.history.in_order(flow)) {
      if (number == Attempt::kNone) continue;
      const Packet& packet = in_.history.packets()[number];
      if (packet.placement == Attempt::kNone || !in_.history.placement(packet).first) continue;
      FabricTime start = FabricTime::never();
      for (uint32_t at = packet.last; at != Attempt::kNone;
           at = in_.history.attempts()[at].previous) {
        start = in_.history.attempts()[at].start;  // the first attempt comes last
      }
      if (start < expected.from || start >= until) continue;
      if (last) {
        sum += start - *last;
        ++turns;
      }
      last = start;
    }
  }
  if (turns == 0) return unjudged(check, "fewer than two pings in this interval");
  const FabricTime mean = sum / (2 * turns);
  check.measured = mean.us();
  check.note = "over " + std::to_string(turns + 1) + " pings";
  if (mean > expected.at_most || mean < expected.at_least) {
    return failed(check, to_string(mean) + " " + check.note);
  }
  return passed(check);
}

CheckResult Judge::operator()(const ExpectFairness& expected) const {
  CheckResult check;
  check.unit = "%";
  check.bound = percent_of(expected.at_least);
  const FabricTime until = end_of(expected.until);
  const std::vector<bool> flows = selected(expected.flows);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytes;  // by pair of hosts
  for (const Delivery& d : in_.history.deliveries()) {
    const uint32_t number = in_.history.packets()[d.packet].flow;
    if (!flows[number] || d.plane != expected.flows.plane.value_or(d.plane)) continue;
    const Flow& flow = in_.history.flows()[number];
    uint64_t& sum = bytes[{flow.source, flow.destination}];
    if (d.t >= expected.from && d.t < until) sum += d.bytes;
  }
  if (bytes.size() < 2) return unjudged(check, "fewer than two pairs of hosts delivered anything");
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
    worst = host_name(pair.first) + " to " + host_name(pair.second);
  }
  if (most == 0) return unjudged(check, "nothing was delivered in this interval");
  const double jain = sum * sum / (static_cast<double>(bytes.size()) * squares);
  const double measured = expected.by == FairnessMeasure::kJain
                              ? jain
                              : static_cast<double>(least) / static_cast<double>(most);
  check.measured = 100.0 * measured;
  check.note = std::to_string(bytes.size()) + " pairs, the least is " + worst;
  check.where = {expected.from, until, worst};
  if (*check.measured < percent_of(expected.at_least)) return failed(check, check.note);
  return passed(check);
}

std::vector<uint64_t> Judge::losses(FabricTime from, FabricTime until,
                                    std::optional<uint32_t> plane) const {
  std::vector<uint64_t> lost(in_.history.flows().size());
  for (const Attempt& attempt : in_.history.attempts()) {
    if (attempt.fate != Fate::kDropped || attempt.ended < from || attempt.ended >= until) continue;
    if (plane && !in_plane(attempt, *plane)) continue;
    ++lost[in_.history.packets()[attempt.packet].flow];
  }
  return lost;
}

CheckResult Judge::operator()(const ExpectLossesPerQp& expected) const {
  CheckResult check;
  check.unit = "packets";
  check.bound = static_cast<double>(expected.at_most);
  const std::vector<bool> flows = selected(expected.flows);
  const std::vector<uint64_t> lost =
      losses(expected.from, end_of(expected.until), expected.flows.plane);
  uint64_t most = 0, sum = 0, qps = 0;
  uint32_t worst = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (!flows[flow]) continue;
    ++qps;
    sum += lost[flow];
    if (lost[flow] <= most) continue;
    most = lost[flow];
    worst = flow;
  }
  if (qps == 0) return unjudged(check, "no QP sent any data");
  check.measured = static_cast<double>(most);
  check.note = "on average " + one_digit(static_cast<double>(sum) / static_cast<double>(qps)) +
               " of " + std::to_string(qps) + " QPs";
  check.where = {expected.from, end_of(expected.until), most > 0 ? flow_name(worst) : ""};
  if (most > expected.at_most) return failed(check, flow_name(worst) + "; " + check.note);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectAffectedQps& expected) const {
  CheckResult check;
  check.unit = "% of QPs";
  const bool floor_only = expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor_only ? expected.at_least : expected.at_most);
  const std::vector<bool> flows = selected(expected.flows);
  const std::vector<uint64_t> lost =
      losses(expected.from, end_of(expected.until), expected.flows.plane);
  uint64_t affected = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    affected += flows[flow] && lost[flow] > 0 ? 1 : 0;
  }
  const uint64_t qps = count(flows);
  if (qps == 0) return unjudged(check, "no QP sent any data");
  check.measured = 100.0 * static_cast<double>(affected) / static_cast<double>(qps);
  check.note = std::to_string(affected) + " of " + std::to_string(qps) + " QPs";
  const Wide share = Wide{affected} * Probability::kOne;
  if (share < Wide{qps} * expected.at_least.ppb || share > Wide{qps} * expected.at_most.ppb) {
    return failed(check, check.note);
  }
  return passed(check);
}

CheckResult Judge::operator()(const ExpectCompletionTime& expected) const {
  CheckResult check;
  check.unit = "% slower";
  check.bound = percent_of(expected.slower_by);
  const FabricTime until = end_of(expected.until), fault = first_fault();
  std::vector<std::optional<FabricTime>> last(in_.topology.host_count());
  FabricTime before, during;
  int64_t iterations_before = 0, iterations_during = 0;
  for (const CollectiveDone& done : in_.evidence.events().collectives()) {
    std::optional<FabricTime>& previous = last[done.host];
    if (previous && done.t < fault) {
      before += done.t - *previous;
      ++iterations_before;
    } else if (previous && done.t >= expected.from && done.t < until) {
      during += done.t - *previous;
      ++iterations_during;
    }
    previous = done.t;
  }
  if (iterations_before == 0) {
    return unjudged(check, "no host finished two iterations before the first fault");
  }
  if (iterations_during == 0) return unjudged(check, "no iteration ended in this interval");
  const FabricTime usual = before / iterations_before, now = during / iterations_during;
  check.measured = 100.0 * (now.us() / usual.us() - 1);
  check.note = to_string(usual) + " before, " + to_string(now) + " then";
  const FabricTime allowed =
      usual + FabricTime::from_ps(static_cast<int64_t>(Wide{static_cast<uint64_t>(usual.ps())} *
                                                       expected.slower_by.ppb / Probability::kOne));
  if (now > allowed) return failed(check, check.note);
  return passed(check);
}

}  // namespace mrclab::analysis
