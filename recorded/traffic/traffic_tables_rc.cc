// The section about RC over RoCEv2: how its flows retransmitted, and why, and how they share uplinks.

#include <fmt/format.h>

#include "fabric/text/counted_noun.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {

namespace {

std::string no_rows_of_rc(const analysis::Traffic& traffic, const RcSource& rc) {
  const uint64_t roce = traffic.counters.roce;
  if (roce == 0) return "no record is of RoCEv2";
  if (!rc.looked)
    return fmt::format("not looked at: {} of RoCEv2, and no fabric to read them by",
                       counted_noun(roce, "record"));
  return fmt::format("no flow of RC between hosts of this fabric in {} of RoCEv2",
                     counted_noun(roce, "record"));
}

}  // namespace

TrafficTable rc_table(const analysis::Traffic& traffic, const TrafficContext& context) {
  TrafficTable table{"rc",
                     "RC over RoCEv2: what its flows retransmitted, and why",
                     {{"flow", "flow"}, {"packets", "packets"}},
                     {},
                     context.rc.notes,
                     !context.rc.flows.empty()};
  table.without_rows = no_rows_of_rc(traffic, context.rc);
  constexpr std::array<const char*, analysis::kRcCauses> kKeys{"nak", "not_ready", "timeout"};
  for (size_t cause = 0; cause < analysis::kRcCauses; ++cause) {
    const std::string name(name_of(static_cast<analysis::RcCause>(cause)));
    table.columns.push_back({fmt::format("rounds_by_{}", kKeys[cause]), "by " + name});
    table.columns.push_back({fmt::format("resent_by_{}", kKeys[cause]), "resent"});
  }
  table.columns.push_back({"naks", "NAKs"});
  table.columns.push_back({"not_ready", "RNRs"});
  table.columns.push_back({"cnps", "CNPs"});
  for (const RcSource::NamedFlow& flow : context.rc.flows) {
    const analysis::RcRecovery& recovery = flow.recovery;
    std::vector<nlohmann::ordered_json> row{flow.name, recovery.packets};
    for (size_t cause = 0; cause < analysis::kRcCauses; ++cause) {
      row.emplace_back(recovery.rounds[cause]);
      row.emplace_back(recovery.resent[cause]);
    }
    row.emplace_back(recovery.naks);
    row.emplace_back(recovery.not_ready);
    row.emplace_back(recovery.cnps);
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return table;
  table.notes.emplace_back(
      "by: how often a flow went back for that reason (NAK, receiver not ready, its "
      "timer); again: packets that it then retransmitted");
  if (context.rc.spread) {
    const std::string shared = flows_per_uplink(*context.rc.spread);
    if (!shared.empty()) table.notes.push_back(shared);
  }
  return table;
}

}  // namespace mrclab::lab
