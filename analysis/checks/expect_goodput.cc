#include "analysis/checks/expect_goodput.h"

#include <algorithm>
#include <map>

#include "analysis/checks/expectation_rules.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr size_t kMaxSamples = 1u << 20;  // intervals that one check looks at

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
  if (selection.all()) return run.measurements.line_rate;
  const BitRate per_host{run.topology.host_rate.bps * (selection.plane ? 1 : run.topology.planes)};
  if (!selection.host.empty()) {
    return {2 * per_host.bps * count_of(hosts_of(run.topology, selection.host))};
  }
  const uint64_t senders = count_of(hosts_of(run.topology, selection.source));
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
  check.measured = percent(rate, *of);
  const std::string says = one_digit(gbps(rate)) + " Gb/s of " + one_digit(gbps(*of)) + " Gb/s";
  if (rate < share_of(*of, expected.at_least)) return failed(check, says);
  if (expected.at_most.ppb > 0 && rate > share_of(*of, expected.at_most)) {
    check.bound = percent_of(expected.at_most);
    return failed(check, says + ", at most " + exact(expected.at_most) + " expected");
  }
  return passed(check);
}

CheckResult judge(const ExpectGap& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound = expected.at_most.us();
  const FabricTime until = run.delivered_by(expected.until);
  const FabricTime every =
      expected.every > FabricTime::zero() ? expected.every : run.measurements.base_rtt / 4;
  const GoodputMeter meter = meter_of(run, expected.flows);
  std::string why;
  const auto of = reference(run, expected.of, expected.flows, meter, why);
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

CheckResult judge(const ExpectSamples& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of the mean";
  check.bound = percent_of(expected.min_over_mean);
  const FabricTime until = run.delivered_by(expected.until);
  const GoodputMeter meter = meter_of(run, expected.flows);
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

CheckResult judge(const ExpectLatency& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  check.bound =
      (expected.at_most != FabricTime::never() ? expected.at_most : expected.at_least).us();
  if (!run.topology.carries_time()) {
    return unjudged(check, "switches that are not ours take no modelled time");
  }
  const FabricTime until = run.end_of(expected.until);
  const std::vector<bool> flows = run.selected({expected.source, expected.destination, {}});
  FabricTime sum;
  int64_t turns = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (!flows[flow]) continue;
    std::optional<FabricTime> last;
    for (const uint32_t number : run.history.in_order(flow)) {
      if (number == Attempt::kNone) continue;
      const Packet& packet = run.history.packets()[number];
      if (packet.placement == Attempt::kNone || !run.history.placement(packet).first) continue;
      FabricTime start = FabricTime::never();
      for (uint32_t at = packet.last; at != Attempt::kNone;
           at = run.history.attempts()[at].previous) {
        start = run.history.attempts()[at].start;  // the first attempt comes last
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

CheckResult judge(const ExpectFairness& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "%";
  check.bound = percent_of(expected.at_least);
  const FabricTime until = run.end_of(expected.until);
  const std::vector<bool> flows = run.selected(expected.flows);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> bytes;  // by pair of hosts
  for (const Delivery& d : run.history.deliveries()) {
    const uint32_t number = run.history.packets()[d.packet].flow;
    if (!flows[number] || d.plane != expected.flows.plane.value_or(d.plane)) continue;
    const Flow& flow = run.history.flows()[number];
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
    worst = run.host_name(pair.first) + " to " + run.host_name(pair.second);
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

CheckResult judge(const ExpectCompletionTime& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% slower";
  check.bound = percent_of(expected.slower_by);
  const FabricTime until = run.end_of(expected.until), fault = run.first_fault();
  std::vector<std::optional<FabricTime>> last(run.topology.host_count());
  FabricTime before, during;
  int64_t iterations_before = 0, iterations_during = 0;
  for (const CollectiveDone& done : run.evidence.events().collectives()) {
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

const Rules<ExpectLatency>& rules_of(const ExpectLatency&) {
  static constexpr Rules<ExpectLatency> kRules{
      .sentence = [](const ExpectLatency& e, const Wording& in) -> std::string {
        return "mean latency" + in.who({e.source, e.destination, {}}) + in.when(e) +
               in.bounds(e.at_least, e.at_most, FabricTime::never(),
                         [&](FabricTime t) { return in.time(t); });
      },
      .evidence = packets_in_interval<ExpectLatency>,
      .early_end = in_its_interval<ExpectLatency>,
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
      .evidence = needs<ExpectFairness, Witness::kPackets>,
      .early_end = in_its_interval<ExpectFairness>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectCompletionTime>& rules_of(const ExpectCompletionTime&) {
  static constexpr Rules<ExpectCompletionTime> kRules{
      .sentence = [](const ExpectCompletionTime& e, const Wording& in) -> std::string {
        return "collectives slower than before the first fault" + in.when(e) +
               in.at_most(in.share(e.slower_by));
      },
      .evidence = [](const ExpectCompletionTime& e, const CheckedSpan& span) -> Reliances {
        return {
            {Witness::kEvents, std::max(span.clipped(e.until), span.clipped(span.first_fault))}};
      },
      .early_end = in_its_interval<ExpectCompletionTime>,
      .judge = judge,
  };
  return kRules;
}

void ExpectGap::check_whole(const YamlValue& body) const {
  if (every > at_most) body.require("every").fail_expecting("at most \"at_most\"");
}

}  // namespace mrclab::analysis
