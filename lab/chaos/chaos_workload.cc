#include "lab/chaos/chaos_workload.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace mrclab::lab {
namespace {

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

/// Each line may be drawn; options that exclude each other stand in one line. No option leaves
/// fewer entropy values than there are paths, because faults that leave one path count as
/// survivable.
constexpr std::array kOptions{
    "congestion_control: fixed, window_percent: 60",
    "congestion_control: fixed, window_percent: 200",
    "ack_timeout: 4rtt",
    "sack_threshold: 2048",
    "sack_base: cumulative",
    "sack_port_mask: on",
    "window_rule: fits",
    "dynamic_mpr: on",
    "max_psn_range: 256",
    "sack_base: newest",
    "out_of_window: drop",
    "trim_nack: off",
    "active_evs: 8",
    "ev_min_active: 4",
    "max_wimm: 4",
};
/// More options, with draws of their own, so that an old seed keeps its options. `receive_rate` is
/// not drawn: a slow receiver is a fault, which has an end. Its small buffer, and bitmaps that run
/// out, are options.
constexpr std::array kReceiverOptions{
    "receive_buffer: 65536",
    "receive_bitmaps: 32",
};

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

endpoint::TransportChoice draw_transport(faults::Draws& draws, faults::Draws& receiver_draws,
                                         const Topology& topology) {
  std::string text = "{profile: lab";
  std::set<std::string> keys;
  for (uint64_t left = draws.below(4); left > 0; --left) {
    const std::string option = kOptions[draws.below(kOptions.size())];
    if (keys.insert(option.substr(0, option.find(':'))).second) text += ", " + option;
  }
  for (const std::string_view option : kReceiverOptions) {
    if (receiver_draws.one_in(8)) text += ", " + std::string(option);
  }
  return endpoint::parse_transport(read_yaml_text(text + "}", "chaos").with_rtt(topology.base_rtt),
                                   topology);
}

std::map<uint32_t, uint64_t> offered_load(const std::vector<WorkloadSpec>& workload) {
  std::map<uint32_t, uint64_t> offered;
  for (const WorkloadSpec& spec : workload) std::visit(OfferedTo{offered}, spec);
  return offered;
}

bool can_catch_up(const std::vector<WorkloadSpec>& workload,
                  const endpoint::TransportProfile& profile) {
  const std::map<uint32_t, uint64_t> offered = offered_load(workload);
  uint64_t room = kRoom.ppb;
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
