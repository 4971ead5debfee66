#include "analysis/blame/blame_hosts.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/measure/pause_times.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

/// Datagrams: fewer, or slower than a quarter of a port, are no burst.
constexpr uint64_t kBurstFrames = 16;
constexpr uint64_t kBurstShareOfPort = 4;
/// Refusals with less between them are one blame: as long as a sender waits before it tries again, and
/// more (our choice).
constexpr int64_t kRefusalPauseRtts = 20;
/// Bursts to one receiver with less between them are one blame: what waits in a NIC whose port is dark goes on when
/// there is light (our choice).
constexpr int64_t kBurstPauseRtts = 20;
/// Fewer refusals are a burst that a buffer was too small for: no component is at fault (our choice).
constexpr uint64_t kFewRefusals = 5;

/// Transmissions that reached their host whole, taken or refused.
std::vector<const Attempt*> in_order_of_end(const PacketHistory& packets) {
  std::vector<const Attempt*> reached;
  for (const Attempt& attempt : packets.attempts()) {
    const bool refused =
        attempt.fate == Fate::kDropped && attempt.cause == DropCause::kReceiveBufferFull;
    if (attempt.fate == Fate::kDelivered || refused) reached.push_back(&attempt);
  }
  std::stable_sort(reached.begin(), reached.end(),
                   [](const Attempt* a, const Attempt* b) { return a->ended < b->ended; });
  return reached;
}

}  // namespace

void blame_bursts(const Topology& topology, const PacketHistory& packets,
                  std::vector<Blame>& blames) {
  std::vector<std::pair<uint32_t, size_t>> of_receiver;  // and its place in `blames`
  for (const DatagramBurst& burst : packets.bursts()) {
    const FabricTime took = burst.until - burst.from;
    const Bytes least = bytes_in({topology.host_rate.bps / kBurstShareOfPort}, took);
    if (burst.frames < kBurstFrames || burst.bytes < least.value) continue;
    const std::string sender = topology.node(topology.host(burst.source)).name;
    const std::string to = topology.node(topology.host(burst.destination)).name;
    const auto sends = [&](const Blame& blame) {
      return (" " + blame.component + " ").find(" " + sender + " ") != std::string::npos;
    };
    const FabricTime pause = std::max(topology.base_rtt * kBurstPauseRtts, FabricTime{kBurstPause});
    const auto same = std::find_if(of_receiver.begin(), of_receiver.end(), [&](const auto& entry) {
      const Blame& blame = blames[entry.second];
      return entry.first == burst.destination && burst.from <= blame.until + pause &&
             blame.from <= burst.until + pause;
    });
    const size_t place = same == of_receiver.end() ? blames.size() : same->second;
    if (place == blames.size()) {
      of_receiver.emplace_back(burst.destination, blames.size());
      Blame blame;
      blame.kind = "host";
      blame.symptom = Symptom::kBursts;
      blame.from = burst.from;
      blame.until = burst.until;
      blames.push_back(blame);
    }
    Blame& blame = blames[place];
    if (burst.from > blame.until + kBurstPause) ++blame.times;
    if (!sends(blame)) blame.component += (blame.component.empty() ? "" : " ") + sender;
    blame.from = std::min(blame.from, burst.from);
    blame.until = std::max(blame.until, burst.until);
    blame.bad += burst.frames;
    blame.of = blame.bad;
    blame.evidence = counted_noun(blame.bad, "datagram") + " to " + to +
                     (blame.bad == 1 ? " that is no MRC and heeds no congestion"
                                     : " that are no MRC and heed no congestion");
  }
}

void blame_receivers(const Topology& topology, const PacketHistory& packets,
                     std::vector<Blame>& blames) {
  std::vector<std::optional<Blame>> open(topology.host_count());
  const auto close = [&](std::optional<Blame>& blame) {
    if (blame && blame->bad >= kFewRefusals) {
      blame->evidence = std::to_string(blame->bad) + " of " + counted_noun(blame->of, "packet") +
                        " that reached it " + (blame->bad == 1 ? "was" : "were") +
                        " refused: its receive buffer was full";
      blames.push_back(*blame);
    }
    blame.reset();
  };
  for (const Attempt* attempt : in_order_of_end(packets)) {
    const uint32_t host = packets.flows()[packets.packets()[attempt->packet].flow].destination;
    std::optional<Blame>& blame = open[host];
    const FabricTime pause = topology.base_rtt * kRefusalPauseRtts;
    if (blame && attempt->ended > blame->until + pause) close(blame);
    if (attempt->cause != DropCause::kReceiveBufferFull) {
      if (blame) ++blame->of;
      continue;
    }
    if (!blame) {
      blame.emplace();
      blame->kind = "host";
      blame->component = topology.node(topology.host(host)).name;
      blame->symptom = Symptom::kDrainsSlowly;
      blame->from = attempt->ended;
    }
    blame->until = attempt->ended;
    ++blame->bad;
    ++blame->of;
  }
  for (std::optional<Blame>& blame : open) close(blame);
}

void blame_pausers(const Topology& topology, const PacketHistory& packets,
                   std::vector<Blame>& blames) {
  if (packets.pauses().empty()) return;
  // What the last pause asked for may be more than the run has left.
  FabricTime last = packets.pauses().back().t;
  if (!packets.deliveries().empty()) last = std::max(last, packets.deliveries().back().t);
  const PauseTimes times(topology, packets.pauses(), {}, last);
  std::vector<std::optional<Blame>> open(topology.host_count());
  std::vector<FabricTime> stood(topology.host_count());
  const auto close = [&](uint32_t host) {
    if (!open[host]) return;
    open[host]->evidence = "its NIC held the port toward it back for " + to_string(stood[host]) +
                           " and took less than a packet in that time";
    blames.push_back(*open[host]);
    open[host].reset();
  };
  for (const PausedSpan& span : times.spans()) {
    const NodeSite& site = topology.node(topology.port(span.port).peer.node);
    const bool nic = site.role == NodeRole::kHost;
    if (!nic || span.length() < topology.base_rtt * kStormRtts) continue;
    std::optional<Blame>& blame = open[site.index];
    if (blame && span.from > blame->until + topology.base_rtt * kRefusalPauseRtts) {
      close(site.index);
    }
    if (!blame) {
      blame.emplace();
      blame->kind = "host";
      blame->component = site.name;
      blame->symptom = Symptom::kPausesWithoutEnd;
      blame->from = span.from;
      blame->times = 0;
      stood[site.index] = FabricTime::zero();
    }
    if (blame->times == 0 || span.from > blame->until) ++blame->times;  // its ports do so at once
    blame->until = std::max(blame->until, span.until);
    blame->of = ++blame->bad;
    stood[site.index] = std::max(stood[site.index], span.length());
  }
  for (uint32_t host = 0; host < open.size(); ++host) close(host);
}

}  // namespace mrclab::analysis
