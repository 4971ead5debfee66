#include "analysis/expect/expect_losses.h"

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_senders.h"
#include "analysis/history/counter_names.h"
#include "fabric/topology/pattern.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

/// Members of HistoryCounters, in the order of kCounterNames.
constexpr uint64_t HistoryCounters::*kCounters[] = {
    &HistoryCounters::sacks,           &HistoryCounters::nacks,
    &HistoryCounters::fatal_nacks,     &HistoryCounters::probes,
    &HistoryCounters::retransmissions, &HistoryCounters::trimmed,
    &HistoryCounters::dropped,         &HistoryCounters::dropped_control,
    &HistoryCounters::copies,          &HistoryCounters::duplicate_deliveries,
    &HistoryCounters::acks_ahead,      &HistoryCounters::rtx_bit_wrong,
    &HistoryCounters::refused};
static_assert(std::size(kCounters) == kCounterNames.size());

/// Lost data packets by flow, between two instants; of one plane, if one is given.
std::vector<uint64_t> losses(const JudgedRun& run, FabricTime from, FabricTime until,
                             std::optional<uint32_t> plane) {
  std::vector<uint64_t> lost(run.history.flows().size());
  for (const Attempt& attempt : run.history.attempts()) {
    if (!attempt.lost() || attempt.ended < from || attempt.ended >= until) continue;
    if (plane && !in_plane(attempt, *plane)) continue;
    ++lost[run.history.packets()[attempt.packet].flow];
  }
  return lost;
}

CheckResult judge(const ExpectLossesPerQp& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  check.bound = static_cast<double>(expected.at_most);
  const std::vector<bool> flows = run.selected(expected.flows);
  const FabricTime until = run.end_of(expected.until);
  check.looked = run.sent(flows, expected.from, until, expected.flows.plane);
  const std::vector<uint64_t> lost = losses(run, expected.from, until, expected.flows.plane);
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
  check.where = {expected.from, until, most > 0 ? run.flow_name(worst) : ""};
  if (most > expected.at_most) return failed(check, run.flow_name(worst) + "; " + check.note);
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectAffectedQps& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of QPs";
  const bool floor_only = expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor_only ? expected.at_least : expected.at_most);
  const std::vector<bool> flows = run.selected(expected.flows);
  const FabricTime until = run.end_of(expected.until);
  check.looked = run.sent(flows, expected.from, until, expected.flows.plane);
  const std::vector<uint64_t> lost = losses(run, expected.from, until, expected.flows.plane);
  uint64_t affected = 0;
  for (uint32_t flow = 0; flow < flows.size(); ++flow) {
    affected += flows[flow] && lost[flow] > 0 ? 1 : 0;
  }
  const uint64_t qps = count_of(flows);
  if (qps == 0) return unjudged(check, "no QP sent any data");
  if (check.looked->count() == 0) return without_evidence(check, *check.looked);
  check.measured = 100.0 * static_cast<double>(affected) / static_cast<double>(qps);
  check.note = std::to_string(affected) + " of " + std::to_string(qps) + " QPs";
  const Wide share = Wide{affected} * Probability::kOne;
  if (share < Wide{qps} * expected.at_least.ppb || share > Wide{qps} * expected.at_most.ppb) {
    return failed(check, check.note);
  }
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectLosses& expected, const JudgedRun& run) {
  return count_attempts(run, expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (!a.lost()) return std::nullopt;
    return a.ended;
  });
}

CheckResult judge(const ExpectTrims& expected, const JudgedRun& run) {
  return count_attempts(run, expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (!a.trimmed) return std::nullopt;
    return a.ended;
  });
}

CheckResult judge(const ExpectRetransmissions& expected, const JudgedRun& run) {
  return count_attempts(run, expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (a.attempt == 0) return std::nullopt;
    return a.start;
  });
}

CheckResult judge(const ExpectCounter& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  const HistoryCounters& counters = run.history.counters();
  if (counters.records == 0) return unjudged(check, "there is no capture to count in");
  check.where = run.whole_run(expected.name);
  // Every counter counts data packets or their answers.
  const Looked sent = run.of_whole_run(run.history.attempts().size(), "packet", Source::kPackets);
  for (size_t i = 0; i < kCounterNames.size(); ++i) {
    if (kCounterNames[i] != expected.name) continue;
    return judge_count(check, counters.*kCounters[i], expected.at_least, expected.at_most, "",
                       sent);
  }
  return unjudged(check, "there is no such counter");
}

constexpr const char* kTooManyWays = "datagrams went between more pairs of hosts than are counted";

std::string tenant_name(const Topology& topology, uint32_t host) {
  const uint32_t number = topology.tenant_of.empty() ? 0 : topology.tenant_of[host];
  return number == 0 ? "no tenant" : topology.tenants[number - 1].name;
}

CheckResult judge(const ExpectIsolated& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  check.bound = 0;
  const Topology& topology = run.topology;
  const std::vector<std::string>& named = expected.tenants.names;
  const auto is_meant = [&](uint32_t host) {
    return named.empty() ||
           std::find(named.begin(), named.end(), tenant_name(topology, host)) != named.end();
  };
  const SenderTally& senders = run.evidence.senders();
  uint64_t packets = 0;
  const SenderTally::Intrusion* first = nullptr;
  const std::vector<SenderTally::Intrusion> all = senders.intrusions(topology);
  for (const SenderTally::Intrusion& one : all) {
    if (!is_meant(one.from) && !is_meant(one.to)) continue;
    packets += one.arrived.packets;
    if (first == nullptr || one.arrived.first < first->arrived.first) first = &one;
  }
  check.measured = static_cast<double>(packets);
  check.looked = run.of_whole_run(senders.arrivals, {"packet that arrived", "packets that arrived"},
                                  Source::kPackets);
  if (first == nullptr && senders.uncounted > 0) return unjudged(check, kTooManyWays);
  if (first == nullptr) return passed(check, *check.looked);
  const std::string who = run.host_name(first->from) + " (" + tenant_name(topology, first->from) +
                          ") to " + run.host_name(first->to) + " (" +
                          tenant_name(topology, first->to) + ")" +
                          (first->forged ? ", under another's address" : "");
  check.where = {first->arrived.first, run.measurements.end, who};
  return failed(check, "first " + who);
}

CheckResult judge(const ExpectDroppedFor& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  if (run.history.counters().records == 0)
    return unjudged(check, "there is no capture to count in");
  const std::vector<bool> hosts = hosts_of(run.topology, expected.host);
  uint64_t count = 0;
  for (const auto& [sender, packets] : run.evidence.senders().drops) {
    const bool meant =
        hosts[sender.first] && matches_pattern(expected.reason, name_of(sender.second));
    if (meant) count += packets;
  }
  check.where = run.whole_run(expected.host);
  const Looked records =
      run.of_whole_run(run.history.counters().records, "packet record", Source::kPackets);
  return judge_count(check, count, expected.at_least, expected.at_most, "", records);
}

CheckResult judge(const ExpectDatagrams& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "packets";
  if (run.history.counters().records == 0)
    return unjudged(check, "there is no capture to count in");
  if (run.evidence.senders().uncounted > 0) return unjudged(check, kTooManyWays);
  const std::vector<bool> hosts = hosts_of(run.topology, expected.to);
  uint64_t count = 0;
  for (const auto& [way, these] : run.evidence.senders().datagrams) {
    if (hosts[way.second]) count += these.packets;
  }
  check.where = run.whole_run(expected.to);
  const Looked records =
      run.of_whole_run(run.history.counters().records, "packet record", Source::kPackets);
  return judge_count(check, count, expected.at_least, expected.at_most, "", records);
}

}  // namespace

const Rules<ExpectLossesPerQp>& rules_of(const ExpectLossesPerQp&) {
  static constexpr Rules<ExpectLossesPerQp> kRules{
      .sentence = [](const ExpectLossesPerQp& e, const Wording& in) -> std::string {
        return "most packets lost by one QP" + in.who(e.flows) + in.when(e) +
               in.at_most(std::to_string(e.at_most));
      },
      // The whole run: only its end shows which queue pairs took part.
      .evidence = needs<ExpectLossesPerQp, Witness::kPackets>,
      .early_end = in_its_interval<ExpectLossesPerQp>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectAffectedQps>& rules_of(const ExpectAffectedQps&) {
  static constexpr Rules<ExpectAffectedQps> kRules{
      .sentence = [](const ExpectAffectedQps& e, const Wording& in) -> std::string {
        return "QPs that lost a packet" + in.who(e.flows) + in.when(e) +
               in.bounds(e.at_least, e.at_most, Probability{Probability::kOne}, Wording::share);
      },
      // The whole run: only its end shows which queue pairs took part.
      .evidence = needs<ExpectAffectedQps, Witness::kPackets>,
      .early_end = in_its_interval<ExpectAffectedQps>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectLosses>& rules_of(const ExpectLosses&) {
  static constexpr Rules<ExpectLosses> kRules{
      .sentence = [](const ExpectLosses& e, const Wording& in) -> std::string {
        return in.packets("lost", e);
      },
      .evidence = packets_in_interval<ExpectLosses>,
      .early_end = in_its_interval<ExpectLosses>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectTrims>& rules_of(const ExpectTrims&) {
  static constexpr Rules<ExpectTrims> kRules{
      .sentence = [](const ExpectTrims& e, const Wording& in) -> std::string {
        return in.packets("trimmed", e);
      },
      .evidence = packets_in_interval<ExpectTrims>,
      .early_end = in_its_interval<ExpectTrims>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectRetransmissions>& rules_of(const ExpectRetransmissions&) {
  static constexpr Rules<ExpectRetransmissions> kRules{
      .sentence = [](const ExpectRetransmissions& e, const Wording& in) -> std::string {
        return in.packets("retransmitted", e);
      },
      .evidence = packets_in_interval<ExpectRetransmissions>,
      .early_end = in_its_interval<ExpectRetransmissions>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectCounter>& rules_of(const ExpectCounter&) {
  static constexpr Rules<ExpectCounter> kRules{
      .sentence = [](const ExpectCounter& e, const Wording& in) -> std::string {
        return e.name + in.count_bounds(e.at_least, e.at_most);
      },
      .evidence = needs<ExpectCounter, Witness::kPackets>,
      .early_end =
          [](const ExpectCounter& e, const EarlyResult& result) {
            const std::optional<double>& measured = result.check().measured;
            const bool short_of = measured && *measured < static_cast<double>(e.at_least);
            return short_of ? result.inconclusive("there was time left at " + result.at())
                            : result.so_far();
          },
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectIsolated>& rules_of(const ExpectIsolated&) {
  static constexpr Rules<ExpectIsolated> kRules{
      .sentence = [](const ExpectIsolated& e, const Wording& in) -> std::string {
        std::string names;
        for (const std::string& name : e.tenants.names)
          names += (names.empty() ? " " : ", ") + name;
        return "packets that reached another tenant" + (names.empty() ? "" : ", of or to" + names) +
               in.at_most("0");
      },
      .evidence = needs<ExpectIsolated, Witness::kPackets>,
      .early_end = so_far<ExpectIsolated>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectDroppedFor>& rules_of(const ExpectDroppedFor&) {
  static constexpr Rules<ExpectDroppedFor> kRules{
      .sentence = [](const ExpectDroppedFor& e, const Wording& in) -> std::string {
        return "packets of " + (e.host.empty() ? "all hosts" : e.host) + " dropped for " +
               e.reason + in.count_bounds(e.at_least, e.at_most);
      },
      .evidence = needs<ExpectDroppedFor, Witness::kPackets>,
      .early_end = so_far<ExpectDroppedFor>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectDatagrams>& rules_of(const ExpectDatagrams&) {
  static constexpr Rules<ExpectDatagrams> kRules{
      .sentence = [](const ExpectDatagrams& e, const Wording& in) -> std::string {
        return "datagrams that reached " + e.to + in.count_bounds(e.at_least, e.at_most);
      },
      .evidence = needs<ExpectDatagrams, Witness::kPackets>,
      .early_end = so_far<ExpectDatagrams>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
