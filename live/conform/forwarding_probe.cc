#include "live/conform/forwarding_probe.h"

#include <algorithm>
#include <map>
#include <optional>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"
#include "live/bringup/node_plan.h"
#include "live/world/live_lab.h"
#include "netio/packet/frame_socket.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/parallel.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kPace = 1'000;  // a switch of ours takes 0.7 ms of the lab's time for a frame
constexpr size_t kAtOnce = 16;   // Open vSwitch loses frames when many flows begin together
constexpr std::chrono::milliseconds kStep{1};
/// Sockets are opened and closed by so many threads: one after the other those of octet took 15 s to close.
constexpr size_t kProbeThreads = 64;

/// The label of an IPv6 frame of ours; 0 for anything else.
uint32_t label_of(std::span<const uint8_t> frame) {
  if (frame.size() < kInnerOffset || load_be<uint16_t>(&frame[12]) != kEthertypeIpv6) return 0;
  return load_be<uint32_t>(&frame[kOuterOffset]) & kMaxProbes;
}

/// The bytes behind the outer header, without what follows the packet (a time trailer, padding).
std::span<const uint8_t> behind(std::span<const uint8_t> frame) {
  const size_t length = load_be<uint16_t>(&frame[kOuterOffset + 4]);
  return frame.subspan(kInnerOffset, std::min(length, frame.size() - kInnerOffset));
}

bool same_behind(std::span<const uint8_t> sent, std::span<const uint8_t> arrived) {
  std::span<const uint8_t> expected = behind(sent);
  const bool decapsulated = sent[kOuterOffset + 6] == kNextHeaderIpv6 &&
                            arrived[kOuterOffset + 6] != kNextHeaderIpv6 &&
                            arrived[kOuterOffset + 6] != 43;
  if (decapsulated) expected = expected.subspan(kIpv6Bytes);
  const auto actual = behind(arrived);
  return std::equal(expected.begin(), expected.end(), actual.begin(), actual.end());
}

}  // namespace

class ForwardingProbe::Impl {
 public:
  Impl(const Topology& topology, const LiveLabOptions& options,
       const std::function<void()>& waiting)
      : topology_(topology),
        waiting_(waiting),
        lab_(topology, options, [this](const BringUpStep&) { waiting_(); }) {
    for (const NodeSite& site : topology.nodes) {
      for (uint32_t i = 0; i < site.ports.size(); ++i) ports_.push_back({{site.id, PortId{i}}, {}});
    }
    netio::in_parallel(ports_.size(), kProbeThreads, [this](size_t i) {
      const PortRef port = ports_[i].port;
      ports_[i].socket.emplace(lab_.fabric().network_namespace(port.node),
                               device_of(topology_, port));
    });
    waiting_();
    lab_.start();
  }
  ~Impl() {
    netio::in_parallel(ports_.size(), kProbeThreads,
                       [this](size_t i) { ports_[i].socket.reset(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Sends some and waits until those that `awaited` names have arrived at a host.
  void send(const std::vector<const ProbeFrame*>& frames, size_t awaited_from,
            std::chrono::seconds patience) {
    for (const ProbeFrame* frame : frames) {
      sent_[label_of(frame->bytes)] = {frame, {}, false};
      socket_of({topology_.host(frame->source), PortId{frame->port}}).send(frame->bytes);
    }
    auto deadline = SteadyClock::now() + patience;
    netio::keep_looking([&]() -> netio::Heartbeat::Next {
      if (SteadyClock::now() >= deadline) return std::nullopt;
      waiting_();
      lab_.step();
      if (listen()) deadline = SteadyClock::now() + patience;
      const bool all =
          std::all_of(frames.begin() + static_cast<std::ptrdiff_t>(awaited_from), frames.end(),
                      [this](const ProbeFrame* f) { return sent_.at(label_of(f->bytes)).arrived; });
      if (all) return std::nullopt;
      return kStep;
    });
  }

  /// Returns the sightings of the frame and forgets it.
  ProbeOutcome take(const ProbeFrame& frame) {
    auto node = sent_.extract(label_of(frame.bytes));
    return in_order(frame, std::move(node.mapped().seen));
  }

 private:
  struct Listener {
    PortRef port;
    std::optional<netio::FrameSocket> socket;
  };
  struct Sent {
    const ProbeFrame* frame = nullptr;
    std::vector<ProbeSighting> seen;
    bool arrived = false;  ///< at a host
  };

  const netio::FrameSocket& socket_of(PortRef port) const {
    return *std::find_if(ports_.begin(), ports_.end(), [port](const Listener& l) {
              return l.port == port;
            })->socket;
  }

  bool listen() {
    bool any = false;
    for (const Listener& listener : ports_) {
      while (const auto received = listener.socket->receive()) {
        const std::span<const uint8_t> frame = *received;
        const auto found = sent_.find(label_of(frame));
        if (found == sent_.end() || found->second.seen.size() >= kMaxSightings) continue;
        any = true;
        ProbeSighting seen{listener.port,
                           {},
                           frame[kOuterOffset + 7],
                           same_behind(found->second.frame->bytes, frame)};
        std::copy_n(&frame[kOuterOffset + 24], seen.destination.size(), seen.destination.begin());
        found->second.seen.push_back(seen);
        if (topology_.node(listener.port.node).role == NodeRole::kHost)
          found->second.arrived = true;
      }
    }
    return any;
  }

  /// Each sighting is at the far end of a wire that begins at the node of the one before.
  ProbeOutcome in_order(const ProbeFrame& frame, std::vector<ProbeSighting> seen) const {
    ProbeOutcome outcome;
    const PortRef nic{topology_.host(frame.source), PortId{frame.port}};
    const auto take_if = [&](auto matches) {
      const auto found = std::find_if(seen.begin(), seen.end(), matches);
      if (found == seen.end()) return false;
      outcome.seen.push_back(*found);
      seen.erase(found);
      return true;
    };
    bool on = take_if([&](const ProbeSighting& s) { return s.at == topology_.port(nic).peer; });
    while (on) {
      const NodeId node = outcome.seen.back().at.node;
      on = take_if([&](const ProbeSighting& s) { return topology_.port(s.at).peer.node == node; });
    }
    outcome.strayed = !seen.empty();
    outcome.seen.insert(outcome.seen.end(), seen.begin(), seen.end());
    return outcome;
  }

  static constexpr size_t kMaxSightings = 64;

  const Topology& topology_;
  std::function<void()> waiting_;
  LiveLab lab_;
  std::vector<Listener> ports_;
  std::map<uint32_t, Sent> sent_;
};

ForwardingProbe::ForwardingProbe(const Topology& topology, const FabricShape& shape,
                                 const std::string& lab, const std::filesystem::path& programs,
                                 const std::function<void()>& waiting) {
  LiveLabOptions options;
  options.name = lab;
  options.shape = shape;
  options.dilation = kPace;
  options.programs = programs;
  impl_ = std::make_unique<Impl>(topology, options, waiting);
}
ForwardingProbe::~ForwardingProbe() = default;

std::vector<ProbeOutcome> ForwardingProbe::send(const std::vector<const ProbeFrame*>& frames,
                                                std::chrono::seconds patience) {
  std::vector<ProbeOutcome> outcomes;
  for (size_t first = 0; first < frames.size(); first += kAtOnce) {
    const std::vector<const ProbeFrame*> some(
        frames.begin() + static_cast<std::ptrdiff_t>(first),
        frames.begin() + static_cast<std::ptrdiff_t>(std::min(first + kAtOnce, frames.size())));
    impl_->send(some, 0, patience);
    for (const ProbeFrame* frame : some) outcomes.push_back(impl_->take(*frame));
  }
  return outcomes;
}

std::vector<ProbeOutcome> ForwardingProbe::send_wrong(const std::vector<const ProbeFrame*>& frames,
                                                      const std::vector<PathProbe>& good,
                                                      std::chrono::seconds patience) {
  constexpr int kRounds = 2;  // a frame that is sent back meets the good ones on their way
  std::vector<ProbeOutcome> outcomes;
  for (const ProbeFrame* frame : frames) {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<const ProbeFrame*> some;
      if (round == 0) some.push_back(frame);
      for (const PathProbe& probe : good) {
        if (probe.frame.source == frame->source) some.push_back(&probe.frame);
      }
      impl_->send(some, round == 0 ? 1 : 0, patience);
      for (const PathProbe& probe : good) {
        if (probe.frame.source == frame->source) impl_->take(probe.frame);
      }
    }
    outcomes.push_back(impl_->take(*frame));
  }
  return outcomes;
}

}  // namespace mrclab::lab
