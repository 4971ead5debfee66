#include "analysis/incident/host_waits.h"

#include <algorithm>
#include <map>

#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

/// Packets of a stream that are looked at for one answer: MRC's own window (specification table 7-4).
constexpr size_t kMaxOpen = 32'640;

std::string host_name(const Topology& topology, uint32_t host) {
  return topology.node(topology.host(host)).name;
}

std::string percent(double share) {
  return std::to_string(static_cast<int>(100 * share + 0.5)) + " %";
}

std::string place_of(const Topology& topology, PortRef where) {
  const bool known = where.node.value < topology.nodes.size() &&
                     where.port.value < topology.node(where.node).ports.size();
  return known ? " at " + topology.port_name(where) : "";
}

std::string known_text(const HostWait& wait) {
  return wait.known == FabricTime::never() ? "the end" : to_string(wait.known);
}

/// What the last of the chain is waited for.
std::string root_text(const Topology& topology, const HostWait& wait, const std::string& last) {
  const std::string when = wait.until == FabricTime::never() ? "" : " at " + to_string(wait.until);
  switch (wait.reason) {
    case WaitReason::kRetransmission: {
      const bool one = wait.packets == 1;
      std::string text = counted_noun(wait.packets, "packet") + " of " + last +
                         (one ? " that was" : " that were") + " lost" +
                         place_of(topology, wait.where) + " from " + to_string(wait.since) +
                         " on and ";
      if (wait.not_again == wait.packets) {
        text += one ? "is not retransmitted yet" : "are not retransmitted yet";
      } else if (wait.not_again > 0) {
        text += "of which " + std::to_string(wait.not_again) + " are not retransmitted yet";
      } else {
        text += one ? "is retransmitted" : "are retransmitted";
      }
      if (wait.until == FabricTime::never())
        return text + "; not all arrive by " + known_text(wait);
      return text + (one ? ", to arrive" : ", the last to arrive") + when;
    }
    case WaitReason::kUnderWay:
      return counted_noun(wait.packets, "packet") + " of " + last + " under way, the first since " +
             to_string(wait.since) + (when.empty() ? "" : ", the last to arrive" + when);
    case WaitReason::kSender: return last + ", which still receives what it passes on" + when;
    case WaitReason::kOwnPace:
      return last + ", which sends again" + when + " without waiting for anything that arrives";
    case WaitReason::kSilent: return last + ", which sends nothing more by " + known_text(wait);
    case WaitReason::kCircle: return last + ": each waits for the next, in a circle";
    case WaitReason::kBusy:
    case WaitReason::kNoData: break;
  }
  return last;
}

}  // namespace

std::string to_string(const Topology& topology, const HostWait& wait) {
  const std::string name = host_name(topology, wait.host);
  const std::string begin = name + " receives " + percent(wait.share);
  if (wait.reason == WaitReason::kBusy) return begin + " of its line rate";
  if (wait.reason == WaitReason::kNoData)
    return begin + ": nobody sends it data by " + known_text(wait);
  std::string text = begin + ": it waits for ";
  for (size_t i = 0; i + 1 < wait.chain.size(); ++i) {
    text += host_name(topology, wait.chain[i]) + ", which waits for ";
  }
  return text + root_text(topology, wait, host_name(topology, wait.chain.back()));
}

/// What of a stream has been sent and has not arrived at an instant.
struct HostWaits::Open {
  uint64_t lost = 0, not_again = 0, under_way = 0;
  FabricTime first_lost = FabricTime::never(), first_sent = FabricTime::never();
  FabricTime last_lost_arrives, last_arrives;
  PortRef where;
};

HostWaits::HostWaits(const Topology& topology, std::vector<AwaitedPacket> packets, FabricTime known)
    : topology_(topology), known_(known), packets_(std::move(packets)) {
  std::sort(packets_.begin(), packets_.end(),
            [](const AwaitedPacket& a, const AwaitedPacket& b) { return a.sent < b.sent; });
  streams_.resize(topology.host_count());
  arrivals_.resize(topology.host_count());
  std::map<std::pair<uint32_t, uint32_t>, size_t> place;
  for (uint32_t i = 0; i < packets_.size(); ++i) {
    const AwaitedPacket& p = packets_[i];
    std::vector<Stream>& streams = streams_.at(p.destination);
    const auto [found, is_new] = place.try_emplace({p.destination, p.source}, streams.size());
    if (is_new) streams.push_back({p.source, p.destination, {}, {}});
    Stream& stream = streams[found->second];
    const FabricTime before =
        stream.all_there.empty() ? FabricTime::zero() : stream.all_there.back();
    stream.packets.push_back(i);
    stream.all_there.push_back(std::max(before, p.delivered));
    if (p.delivered != FabricTime::never())
      arrivals_[p.destination].push_back({p.delivered, i, p.bytes});
  }
  for (std::vector<Arrival>& list : arrivals_) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Arrival& a, const Arrival& b) { return a.t < b.t; });
    for (size_t i = 1; i < list.size(); ++i) list[i].bytes += list[i - 1].bytes;
  }
}

double HostWaits::share(uint32_t host, FabricTime t) const {
  const std::vector<Arrival>& list = arrivals_[host];
  const auto bytes_until = [&](FabricTime until) -> uint64_t {
    const auto after = std::upper_bound(list.begin(), list.end(), until,
                                        [](FabricTime at, const Arrival& a) { return at < a.t; });
    return after == list.begin() ? 0 : std::prev(after)->bytes;
  };
  const FabricTime from = std::max(t - topology_.base_rtt / kSharesPerRtt, FabricTime::zero());
  uint64_t rate = 0;
  for (const Port& port : topology_.node(topology_.host(host)).ports)
    rate += topology_.links[port.link.value].rate.bps;
  const uint64_t most = bytes_in({rate}, t - from).value;
  if (most == 0) return 0;
  return static_cast<double>(bytes_until(t) - bytes_until(from)) / static_cast<double>(most);
}

HostWaits::Open HostWaits::open_packets(const Stream& stream, FabricTime t) const {
  Open open;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> places;
  const auto sent = std::partition_point(stream.packets.begin(), stream.packets.end(),
                                         [&](uint32_t i) { return packets_[i].sent <= t; });
  auto at = static_cast<size_t>(sent - stream.packets.begin());
  for (size_t looked = 0; at-- > 0 && looked < kMaxOpen && stream.all_there[at] > t; ++looked) {
    const AwaitedPacket& p = packets_[stream.packets[at]];
    if (p.delivered <= t) continue;
    if (p.lost > t) {
      ++open.under_way;
      open.first_sent = std::min(open.first_sent, p.sent);
      open.last_arrives = std::max(open.last_arrives, p.delivered);
      continue;
    }
    ++open.lost;
    open.not_again += p.again > t;
    open.first_lost = std::min(open.first_lost, p.lost);
    open.last_lost_arrives = std::max(open.last_lost_arrives, p.delivered);
    ++places[{p.where.node.value, p.where.port.value}];
  }
  uint64_t most = 0;
  for (const auto& [place, count] : places) {
    if (count <= most) continue;
    most = count;
    open.where = {NodeId{place.first}, PortId{place.second}};
  }
  return open;
}

const AwaitedPacket* HostWaits::next_of(const Stream& stream, FabricTime t) const {
  const auto next = std::partition_point(stream.packets.begin(), stream.packets.end(),
                                         [&](uint32_t i) { return packets_[i].sent <= t; });
  return next == stream.packets.end() ? nullptr : &packets_[*next];
}

const AwaitedPacket* HostWaits::released_by(uint32_t host, FabricTime t, FabricTime until) const {
  const std::vector<Arrival>& list = arrivals_[host];
  const auto after = std::upper_bound(list.begin(), list.end(), until,
                                      [](FabricTime at, const Arrival& a) { return at < a.t; });
  if (after == list.begin()) return nullptr;
  const Arrival& last = *std::prev(after);
  if (last.t <= t || last.t + topology_.base_rtt < until) return nullptr;
  return &packets_[last.packet];
}

/// Does the chain end with who sends to `host`, for packets that have not arrived there? Fills in which.
bool HostWaits::ends_here(uint32_t host, FabricTime t, HostWait& wait) const {
  const Stream *lossy = nullptr, *slow = nullptr;
  Open most_lost, oldest;
  for (const Stream& stream : streams_[host]) {
    const Open open = open_packets(stream, t);
    if (open.lost > most_lost.lost) {
      most_lost = open;
      lossy = &stream;
    }
    if (open.under_way > 0 && open.first_sent < oldest.first_sent) {
      oldest = open;
      slow = &stream;
    }
  }
  wait.receiver = host;
  if (lossy != nullptr) {
    wait.reason = WaitReason::kRetransmission;
    wait.packets = most_lost.lost;
    wait.not_again = most_lost.not_again;
    wait.since = most_lost.first_lost;
    wait.until = most_lost.last_lost_arrives;
    wait.where = most_lost.where;
    wait.chain.push_back(lossy->source);
    return true;
  }
  if (slow == nullptr) return false;
  wait.reason = WaitReason::kUnderWay;
  wait.packets = oldest.under_way;
  wait.since = oldest.first_sent;
  wait.until = oldest.last_arrives;
  wait.chain.push_back(slow->source);
  return true;
}

HostWait HostWaits::at(uint32_t host, FabricTime t) const {
  HostWait wait;
  wait.host = host;
  wait.known = known_;
  wait.share = share(host, t);
  if (wait.share >= kBusyShare) return wait;
  uint32_t at = host;
  while (!ends_here(at, t, wait)) {
    const AwaitedPacket* next = nullptr;
    const Stream* latest = nullptr;  // that sent last, where nobody sends again
    for (const Stream& stream : streams_[at]) {
      const AwaitedPacket* own = next_of(stream, t);
      if (own != nullptr && (next == nullptr || own->sent < next->sent)) next = own;
      if (latest == nullptr ||
          packets_[stream.packets.back()].sent > packets_[latest->packets.back()].sent)
        latest = &stream;
    }
    if (next == nullptr) {
      wait.reason = latest == nullptr ? WaitReason::kNoData : WaitReason::kSilent;
      if (latest != nullptr) wait.chain.push_back(latest->source);
      break;
    }
    const uint32_t sender = next->source;
    const bool met = sender == host ||
                     std::find(wait.chain.begin(), wait.chain.end(), sender) != wait.chain.end();
    wait.chain.push_back(sender);
    wait.until = next->sent;
    if (met || wait.chain.size() >= kMaxChain) {
      wait.reason = WaitReason::kCircle;
      break;
    }
    if (released_by(sender, t, next->sent) == nullptr) {
      wait.reason = WaitReason::kOwnPace;
      break;
    }
    if (share(sender, t) >= kBusyShare) {
      wait.reason = WaitReason::kSender;
      break;
    }
    at = sender;
  }
  // Nobody sends data to the last host of the chain, so that host waits for no packet: it stopped to send by itself.
  if (wait.reason == WaitReason::kNoData && !wait.chain.empty()) wait.reason = WaitReason::kSilent;
  return wait;
}

}  // namespace mrclab::analysis
