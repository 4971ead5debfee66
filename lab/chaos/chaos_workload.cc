#include "lab/chaos/chaos_workload.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "endpoint/workload/stream_layout.h"

namespace mrclab::lab {
namespace {

using endpoint::TransportKind;
using endpoint::WorkloadSpec;
constexpr int64_t kPercent = Probability::kOne / 100;
constexpr int64_t kPermille = Probability::kOne / 1'000;

/// Draws workloads whose data packets fit a budget.
class WorkloadDraw {
 public:
  /// `room`: the share of a host's line rate that this workload may fill.
  WorkloadDraw(faults::Draws& draws, const Topology& topology, FabricTime end, uint64_t packets,
               Probability room)
      : draws_(draws), topology_(topology), room_(room.ppb) {
    const BitRate nic{topology.host_rate.bps * topology.planes};
    const uint64_t of_a_host = bytes_in(nic, end).value / topology.pmtu;
    // The load that one host may offer if it alone sends: a share of its line rate.
    share_ = static_cast<int64_t>(std::min<uint64_t>(
        Probability::kOne, packets * Probability::kOne / std::max<uint64_t>(1, of_a_host)));
    nic_per_rtt_ = bytes_in(nic, topology.base_rtt).value;
    per_rtt_ = packets * topology.pmtu / static_cast<uint64_t>(end / topology.base_rtt);
  }

  WorkloadSpec draw() {
    switch (draws_.below(6)) {
      case 0: return permutation();
      case 1: return incast();
      case 2: return ping_pong();
      case 3: return collective();
      default: return write();
    }
  }

 private:
  std::vector<uint32_t> some_hosts(size_t at_least, size_t at_most) {
    std::vector<uint32_t> all(topology_.host_count());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    at_most = std::min(at_most, all.size());
    return draws_.some_of(all, at_least + draws_.below(at_most - at_least + 1));
  }
  /// The load of each of `senders` that share the budget, if `to_one` of them
  /// write to the same host.
  Probability load(size_t senders, size_t to_one) {
    const auto of = [](int64_t share, size_t parts) { return share / static_cast<int64_t>(parts); };
    const int64_t most = std::max(std::min(of(share_, senders), of(room_, to_one)), kPercent);
    return {static_cast<uint32_t>(draws_.between(std::max(kPercent, most / 4), most) / kPermille *
                                  kPermille)};
  }
  /// At least a dozen in each RTT of what a sender may offer: with a few large ones goodput would
  /// vary too much to be a baseline.
  Bytes message(Probability load) {
    const auto most = static_cast<int64_t>(nic_per_rtt_ * load.ppb / Probability::kOne / 12);
    const int64_t size =
        draws_.by_magnitude(1 << 10, std::clamp<int64_t>(most, 2 << 10, 256 << 10));
    return {static_cast<uint64_t>(size)};
  }
  uint32_t qps() { return draws_.one_in(3) ? static_cast<uint32_t>(draws_.between(2, 4)) : 1; }

  WorkloadSpec permutation() {
    endpoint::PermutationSpec spec;
    spec.hosts = some_hosts(2, 8);
    spec.load = load(spec.hosts.size(), 1);
    spec.message = message(spec.load);
    spec.shift =
        static_cast<uint32_t>(draws_.between(1, static_cast<int64_t>(spec.hosts.size()) - 1));
    spec.qps = qps();
    return spec;
  }
  WorkloadSpec incast() {
    endpoint::IncastSpec spec;
    spec.from = some_hosts(2, 5);
    spec.to = spec.from[draws_.below(spec.from.size())];
    std::erase(spec.from, spec.to);
    spec.load = load(spec.from.size(), spec.from.size());
    spec.message = message(spec.load);
    return spec;
  }
  WorkloadSpec ping_pong() {
    endpoint::PingPongSpec spec;
    const auto two = some_hosts(2, 2);
    spec.from = two[0];
    spec.to = two[1];
    spec.size = {static_cast<uint64_t>(draws_.by_magnitude(1, 8 << 10))};
    spec.count = 0;
    return spec;
  }
  /// As fast as it goes: what it sends is what it may have outstanding in an RTT.
  WorkloadSpec write() {
    endpoint::WriteSpec spec;
    const auto two = some_hosts(2, 2);
    const bool back = draws_.one_in(2);
    spec.from = two[back ? 1 : 0];
    spec.to = two[back ? 0 : 1];
    spec.count = 0;
    spec.depth = static_cast<uint32_t>(draws_.between(4, 16));
    const uint64_t in_room = nic_per_rtt_ * static_cast<uint64_t>(room_) / Probability::kOne;
    const uint64_t together = room_ < kRoom.ppb ? std::min(per_rtt_, in_room) : per_rtt_;
    const auto most = static_cast<int64_t>(std::min<uint64_t>(together / spec.depth, 24 << 10));
    spec.size = {
        static_cast<uint64_t>(draws_.by_magnitude(std::min<int64_t>(8 << 10, most), most))};
    return spec;
  }
  /// Small steps, which wait for each other: the latency keeps the rate down.
  WorkloadSpec collective() {
    endpoint::CollectiveSpec spec;
    spec.hosts = some_hosts(2, 8);
    constexpr std::array kKinds{
        endpoint::CollectiveKind::kAllReduce, endpoint::CollectiveKind::kAllGather,
        endpoint::CollectiveKind::kReduceScatter, endpoint::CollectiveKind::kAllToAll,
        endpoint::CollectiveKind::kSendRecv};
    spec.kind = kKinds[draws_.below(kKinds.size())];
    const uint64_t most = std::min<uint64_t>(per_rtt_, 64 << 10);
    spec.size = {static_cast<uint64_t>(draws_.by_magnitude(4 << 10, static_cast<int64_t>(most))) /
                 64 * 64};
    return spec;
  }

  faults::Draws& draws_;
  const Topology& topology_;
  int64_t room_;
  int64_t share_ = 0;
  uint64_t nic_per_rtt_ = 0;  // bytes that a host could send
  uint64_t per_rtt_ = 0;      // bytes that the budget allows
};

struct HostsOf {
  std::set<uint32_t>& out;
  void operator()(const endpoint::CollectiveSpec& spec) const { add(spec.hosts); }
  void operator()(const endpoint::PermutationSpec& spec) const { add(spec.hosts); }
  void operator()(const endpoint::WriteSpec& spec) const { add({spec.from, spec.to}); }
  void operator()(const endpoint::PingPongSpec& spec) const { add({spec.from, spec.to}); }
  void operator()(const endpoint::JobWorkload& job) const { add(job.spec.hosts); }
  void operator()(const endpoint::IncastSpec& spec) const {
    add(spec.from);
    add({spec.to});
    if (spec.victim) add({spec.victim->from, spec.victim->to});
  }
  void add(const std::vector<uint32_t>& hosts) const { out.insert(hosts.begin(), hosts.end()); }
};

struct OfferedTo {
  std::map<uint32_t, uint64_t>& offered;

  void operator()(const endpoint::PermutationSpec& spec) {
    for (const uint32_t host : spec.hosts) offered[host] += spec.load.ppb;
  }
  void operator()(const endpoint::IncastSpec& spec) {
    offered[spec.to] += uint64_t{spec.load.ppb} * spec.from.size();
  }
  template <class ClosedLoop>
  void operator()(const ClosedLoop&) {}
};

/// A receiver gets the completions of a stream's messages in batches, and looks at its memory then. So many queue pairs fill
/// two batches each, if there are as many as `qps`.
struct QpsThatTell {
  const Topology& topology;
  FabricTime end;
  uint32_t qps;

  template <class OpenLoop>
  requires requires(const OpenLoop& spec) { spec.load; }
  uint32_t operator()(const OpenLoop& spec) const {
    const BitRate nic{topology.host_rate.bps * topology.planes};
    const uint64_t offered = bytes_in(nic, end).value * spec.load.ppb / Probability::kOne;
    const uint64_t batch = endpoint::StreamLayout(spec.message).batch() * spec.message.value;
    return static_cast<uint32_t>(std::clamp<uint64_t>(offered / (2 * batch), 1, qps));
  }
  template <class ClosedLoop>
  uint32_t operator()(const ClosedLoop&) const {
    return qps;
  }
};

uint32_t qps_of(const WorkloadSpec& spec) {
  return std::visit(
      [](const auto& s) -> uint32_t {
        if constexpr (requires { s.qps; }) return s.qps;
        return 1;
      },
      spec);
}

}  // namespace

std::vector<WorkloadSpec> draw_workload(faults::Draws& draws, const Topology& topology,
                                        FabricTime end, bool trimming) {
  std::vector<WorkloadSpec> workload;
  const uint64_t entries = draws.one_in(3) ? 2 : 1;
  const Probability room{trimming ? kRoom.ppb
                                  : kRoomUntrimmed.ppb / static_cast<uint32_t>(entries)};
  WorkloadDraw draw(draws, topology, end, kChaosPackets / entries, room);
  while (workload.size() < entries) workload.push_back(draw.draw());
  return workload;
}

std::vector<WorkloadSpec> draw_roce_workload(faults::Draws& draws, const Topology& topology,
                                             FabricTime end, uint32_t qps, bool beside_mrc) {
  std::vector<WorkloadSpec> workload;
  const uint64_t entries = beside_mrc || draws.one_in(3) ? 2 : 1;
  // One in three may fill its paths, and collide on them.
  const Probability room = draws.one_in(3) ? kRoomUntrimmed : roce_room(topology, qps);
  WorkloadDraw draw(draws, topology, end, kChaosPackets / entries,
                    {room.ppb / static_cast<uint32_t>(entries)});
  while (workload.size() < entries) {
    std::vector<WorkloadSpec> one{draw.draw()};
    const bool mrc = beside_mrc && workload.empty();
    std::visit([&](auto& s) { s.transport = mrc ? TransportKind::kMrc : TransportKind::kRoce; },
               one.front());
    if (!mrc) {
      endpoint::set_default_qps(one, std::visit(QpsThatTell{topology, end, qps}, one.front()));
    }
    workload.push_back(std::move(one.front()));
  }
  return workload;
}

Probability roce_room(const Topology& topology, uint32_t qps) {
  const uint64_t ports = std::min(std::max(qps, 1u), topology.planes);
  // In a listed fabric any hosts may meet on a link.
  const uint64_t meeting = topology.regular() ? topology.hosts_per_t0 : topology.host_count();
  const uint64_t share = uint64_t{kRoomUntrimmed.ppb} * ports / topology.planes / meeting;
  return {static_cast<uint32_t>(std::max<uint64_t>(share, kPercent))};
}

std::map<uint32_t, uint64_t> offered_load(const std::vector<WorkloadSpec>& workload) {
  std::map<uint32_t, uint64_t> offered;
  for (const WorkloadSpec& spec : workload) std::visit(OfferedTo{offered}, spec);
  return offered;
}

bool can_catch_up(const std::vector<WorkloadSpec>& workload,
                  const endpoint::TransportProfile& profile, const Topology& topology) {
  const std::map<uint32_t, uint64_t> offered = offered_load(workload);
  uint64_t room = kRoom.ppb;
  for (const WorkloadSpec& spec : workload) {
    if (endpoint::transport_of(spec) != TransportKind::kRoce) continue;
    room = std::min<uint64_t>(room, roce_room(topology, qps_of(spec)).ppb);
  }
  if (profile.congestion_control == endpoint::CongestionAlgorithm::kFixed) {
    room = uint64_t{kRoomOfFixedWindow.ppb} * std::min(profile.window_percent, 100u) / 100;
  }
  return std::all_of(offered.begin(), offered.end(),
                     [&](const auto& host) { return host.second <= room; });
}

bool has_closed_loop(const std::vector<WorkloadSpec>& workload) {
  return std::any_of(workload.begin(), workload.end(), [](const WorkloadSpec& spec) {
    return !std::holds_alternative<endpoint::PermutationSpec>(spec) &&
           !std::holds_alternative<endpoint::IncastSpec>(spec);
  });
}

std::vector<uint32_t> hosts_of(const std::vector<WorkloadSpec>& workload) {
  std::set<uint32_t> hosts;
  for (const WorkloadSpec& spec : workload) std::visit(HostsOf{hosts}, spec);
  return {hosts.begin(), hosts.end()};
}

}  // namespace mrclab::lab
