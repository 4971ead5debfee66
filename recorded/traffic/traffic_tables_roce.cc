// RoCEv2 in the sections that MRC has as well: the summary, and flows.

#include <algorithm>
#include <set>

#include "recorded/traffic/traffic_names.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::Traffic;
using Json = nlohmann::ordered_json;

double nanoseconds(FabricTime t) { return static_cast<double>(t.ps()) * 1e-3; }

Json rate_of(uint64_t bytes, FabricTime from, FabricTime until) {
  if (until <= from) return nullptr;
  return static_cast<double>(bytes) * 8e12 / static_cast<double>((until - from).ps());
}

Json quantile_of(const analysis::LogHistogram& h, double q) {
  if (h.count() == 0) return nullptr;
  return static_cast<double>(h.quantile(q));
}

}  // namespace

/// RoCEv2's flows have no paths, and nothing trims their packets.
void add_roce_flows(const Traffic& traffic, const TrafficContext& context, TrafficTable& table) {
  std::vector<const analysis::RoceFlow*> flows;
  for (const analysis::RoceFlow& f : traffic.roce.flows) {
    if (f.is_data()) flows.push_back(&f);
  }
  std::stable_sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) {
    return std::max(a->delivered_bytes, a->bytes) > std::max(b->delivered_bytes, b->bytes);
  });
  for (const analysis::RoceFlow* f : flows) {
    const bool fates = f->both_ends || f->delivered > 0;
    const bool peer = f->peer != analysis::RoceFlow::kNone;
    const auto rtt = [&](int64_t ps, double over = 1) {
      return f->rtts == 0 ? Json() : Json(static_cast<double>(ps) * 1e-3 / over);
    };
    table.rows.push_back({roce_flow_name(context.topology, *f),
                          host_name(context.topology, f->source),
                          host_name(context.topology, f->destination),
                          f->qp.value,
                          f->packets,
                          fates ? Json(f->delivered) : Json(),
                          fates ? Json(f->delivered_bytes) : Json(),
                          rate_of(fates ? f->delivered_bytes : f->bytes, f->first, f->last),
                          nullptr,
                          f->resent,
                          f->needless,
                          f->lost,
                          nullptr,
                          nullptr,
                          f->open,
                          nullptr,
                          nullptr,
                          rtt(f->rtt_sum_ps, static_cast<double>(std::max<uint64_t>(f->rtts, 1))),
                          rtt(f->rtt_min_ps),
                          rtt(f->rtt_max_ps),
                          nullptr,
                          peer ? Json(f->naks) : Json(),
                          peer ? Json(f->acks) : Json(),
                          nullptr});
  }
}

void add_roce_summary(const Traffic& traffic, TrafficTable& table) {
  const analysis::RoceTraffic& roce = traffic.roce;
  if (roce.frames == 0) return;
  const auto add = [&table](const char* key, const char* heading, Json value, Shown shown) {
    table.columns.push_back({key, heading, shown});
    table.rows[0].push_back(std::move(value));
  };
  analysis::RoceFlow sum;
  uint64_t flows = 0, paired = 0, by_timer = 0;
  std::set<Ipv6Address> hosts;
  for (const analysis::RoceFlow& f : roce.flows) {
    hosts.insert(f.source);
    hosts.insert(f.destination);
    if (!f.is_data()) continue;
    ++flows;
    paired += f.peer != analysis::RoceFlow::kNone ? 1 : 0;
    sum.packets += f.packets;
    sum.bytes += f.bytes;
    sum.resent += f.resent;
    sum.lost += f.lost;
    sum.gone_back += f.gone_back;
    sum.needless += f.needless;
    sum.naks += f.naks;
    sum.not_ready += f.not_ready;
    sum.cnps += f.cnps;
    by_timer += f.rounds[static_cast<size_t>(analysis::RoceCause::kTimer)];
  }
  const auto of_answers = [paired](uint64_t count) { return paired > 0 ? Json(count) : Json(); };
  add("roce_from_ns", "RoCEv2 from", Json(nanoseconds(roce.first - traffic.origin)),
      Shown::kNanoseconds);
  add("roce_until_ns", "  until", Json(nanoseconds(roce.last - traffic.origin)),
      Shown::kNanoseconds);
  add("roce_hosts", "  hosts", Json(hosts.size()), Shown::kPlain);
  add("roce_flows", "  flows", Json(flows), Shown::kPlain);
  add("roce_packets", "  packets", Json(sum.packets), Shown::kPlain);
  add("roce_bytes", "  bytes", Json(sum.bytes), Shown::kPlain);
  add("roce_lost", "  lost", Json(sum.lost), Shown::kPlain);
  add("roce_resent", "  retransmitted", Json(sum.resent), Shown::kPlain);
  add("roce_gone_back", "    had arrived behind a gap", Json(sum.gone_back), Shown::kPlain);
  add("roce_needless", "    had been taken", Json(sum.needless), Shown::kPlain);
  add("roce_naks", "  NAKs", of_answers(sum.naks), Shown::kPlain);
  add("roce_not_ready", "  receiver not ready", of_answers(sum.not_ready), Shown::kPlain);
  add("roce_timeouts", "  timeouts", Json(by_timer), Shown::kPlain);
  add("roce_cnps", "  CNPs", of_answers(sum.cnps), Shown::kPlain);
  add("roce_rtt_p50_ns", "  packet to ACK, median", quantile_of(roce.rtt_ns, 0.5),
      Shown::kNanoseconds);
  add("roce_rtt_p99_ns", "  packet to ACK, 99 %", quantile_of(roce.rtt_ns, 0.99),
      Shown::kNanoseconds);
}

}  // namespace mrclab::lab
