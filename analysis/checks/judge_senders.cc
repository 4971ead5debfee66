#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_senders.h"
#include "fabric/topology/pattern.h"

namespace mrclab::analysis {
namespace {

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
