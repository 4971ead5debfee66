#include "analysis/incident/wait_history.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxLines = 20;  // of one story
/// Packets under way are worth a line when they are late: their queues are full, or paused (our choice).
constexpr int64_t kLateRtts = 2;

/// The stream that ends a chain.
std::pair<uint32_t, uint32_t> root_of(const HostWait& wait) {
  return {wait.chain.back(), wait.receiver};
}

std::string listed(const Topology& topology, const std::set<uint32_t>& hosts) {
  constexpr size_t kNamed = 8;
  std::string text;
  size_t at = 0;
  for (const uint32_t host : hosts) {
    if (at == kNamed) return text + " and " + std::to_string(hosts.size() - kNamed) + " more hosts";
    const bool last = ++at == hosts.size();
    if (at > 1) text += last ? " and " : ", ";
    text += topology.node(topology.host(host)).name;
  }
  return text;
}

}  // namespace

bool is_stalled(const Topology& topology, const HostWait& wait, FabricTime t) {
  switch (wait.reason) {
    case WaitReason::kRetransmission:
    case WaitReason::kCircle: return true;
    case WaitReason::kUnderWay: return t - wait.since > topology.base_rtt * kLateRtts;
    default: return false;
  }
}

std::vector<AwaitedPacket> awaited_packets(const PacketHistory& history) {
  std::vector<AwaitedPacket> list(history.packets().size());
  std::vector<bool> seen(list.size());
  for (const Attempt& attempt : history.attempts()) {
    AwaitedPacket& awaited = list[attempt.packet];
    if (!seen[attempt.packet]) {
      const Packet& packet = history.packets()[attempt.packet];
      const Flow& flow = history.flows()[packet.flow];
      awaited = {flow.source, flow.destination, packet.payload, attempt.start, packet.delivered};
      seen[attempt.packet] = true;
    }
    if (attempt.start > awaited.lost) awaited.again = std::min(awaited.again, attempt.start);
    const bool failed = attempt.fate == Fate::kDropped || attempt.trimmed;
    if (failed && attempt.ended < awaited.lost) {
      awaited.lost = attempt.ended;
      awaited.where = attempt.where;
    }
  }
  std::vector<AwaitedPacket> whole;
  for (size_t i = 0; i < list.size(); ++i) {
    if (seen[i]) whole.push_back(list[i]);
  }
  return whole;
}

std::vector<WaitSpan> wait_spans(const Topology& topology, const PacketHistory& history,
                                 FabricTime end) {
  std::vector<WaitSpan> spans;
  const HostWaits waits(topology, awaited_packets(history));
  const FabricTime step = std::max(topology.base_rtt / 2, end / kMaxWaitSamples);
  if (step <= FabricTime::zero()) return spans;
  std::vector<std::optional<size_t>> open(topology.host_count());
  for (FabricTime t = step; t < end; t += step) {
    for (uint32_t host = 0; host < topology.host_count(); ++host) {
      const HostWait wait = waits.at(host, t);
      std::optional<size_t>& own = open[host];
      if (!is_stalled(topology, wait, t)) {
        own.reset();
      } else if (own && spans[*own].wait.reason == wait.reason &&
                 root_of(spans[*own].wait) == root_of(wait)) {
        spans[*own].until = t;
      } else if (spans.size() < kMaxWaitSpans) {
        own = spans.size();
        spans.push_back({t, t, wait});
      } else {
        own.reset();
      }
    }
  }
  return spans;
}

std::vector<WaitLine> wait_lines(const Topology& topology, std::span<const WaitSpan> spans) {
  struct Group {
    const WaitSpan* longest = nullptr;  // chain
    FabricTime from = FabricTime::never(), until;
    std::set<uint32_t> hosts;
  };
  std::vector<Group> groups;
  std::map<std::tuple<WaitReason, uint32_t, uint32_t>, size_t> latest;
  for (const WaitSpan& span : spans) {
    const auto [sender, receiver] = root_of(span.wait);
    const auto [found, is_new] =
        latest.try_emplace({span.wait.reason, sender, receiver}, groups.size());
    const bool goes_on =
        !is_new && span.from <= groups[found->second].until + topology.base_rtt * kLateRtts;
    if (!goes_on) {
      found->second = groups.size();
      groups.emplace_back();
    }
    Group& group = groups[found->second];
    group.from = std::min(group.from, span.from);
    group.until = std::max(group.until, span.until);
    group.hosts.insert(span.wait.host);
    if (group.longest == nullptr || span.wait.chain.size() > group.longest->wait.chain.size()) {
      group.longest = &span;
    }
  }
  std::vector<WaitLine> lines;
  for (const Group& group : groups) {
    if (lines.size() == kMaxLines) {
      lines.push_back({group.from, "And " + counted_noun(groups.size() - kMaxLines, "more wait") +
                                       " like these, from here on."});
      break;
    }
    std::string text = listed(topology, group.hosts) + " received next to nothing";
    text += group.until > group.from ? " at times from here to " + to_string(group.until) + ". "
                                     : " here. ";
    text += "At " + to_string(group.longest->from) + " " + to_string(topology, group.longest->wait);
    lines.push_back({group.from, text + "."});
  }
  return lines;
}

}  // namespace mrclab::analysis
