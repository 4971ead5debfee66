#include "netio/runtime/wall_driver.h"

#include <poll.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fabric/packet/whole_frame.h"

namespace mrclab::netio {
namespace {

constexpr uint32_t kNoPort = 0xFFFF'FFFF;
/// Rounds between two looks for a carrier change: each look is two system calls, and a node notices a
/// dead path by itself.
constexpr uint32_t kRoundsPerCarrierLook = 64;

}  // namespace

/// Puts what the node starts to send in line for the next sendmmsg.
class WallDriver::Egress : public FrameSink {
 public:
  explicit Egress(WallDriver& driver) : driver_(driver) {}
  void transmit(Transmission&& transmission) override {
    driver_.moved_ = true;
    if (transmission.lost != DropCause::kNone) return;  // the model's wire took it
    driver_.unsent_.push_back(
        {driver_.ports_[transmission.port.value].ifindex, std::move(transmission.frame)});
  }

 private:
  WallDriver& driver_;
};

WallDriver::WallDriver(const NetworkNamespace& ns, const Config& config, FramePool& frames)
    : self_(config.self),
      frames_(frames),
      netlink_(ns),
      watch_(ns),
      socket_(ns, config.socket),
      ps_per_ns_(1000.0 / config.dilation.k),
      start_ns_(LabTime::now().ns) {
  if (!(config.dilation.k > 0))
    throw std::invalid_argument("a wall clock needs a dilation above 0");
  for (const std::string& name : config.interfaces) {
    const LinkState link = netlink_.link(name);
    if (port_of_ifindex_.size() <= link.ifindex) {
      port_of_ifindex_.resize(link.ifindex + 1, kNoPort);
    }
    if (port_of_ifindex_[link.ifindex] != kNoPort) {
      throw std::invalid_argument("interface " + name + " is named twice");
    }
    port_of_ifindex_[link.ifindex] = static_cast<uint32_t>(ports_.size());
    ports_.push_back({link.ifindex, link.mac, link.mtu, true});
  }
}

void WallDriver::run(Node& node) {
  node_ = &node;
  for (const LinkState& link : netlink_.links()) note_carrier(link);
}

FabricTime WallDriver::fabric_at(int64_t monotonic_ns) const {
  return FabricTime::from_ps(
      static_cast<int64_t>(static_cast<double>(monotonic_ns - start_ns_) * ps_per_ns_));
}

FabricTime WallDriver::now() const { return fabric_at(LabTime::now().ns); }

bool WallDriver::poll() {
  moved_ = false;
  if (++rounds_ % kRoundsPerCarrierLook == 0) watch_carriers();
  socket_.drain([this](uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns) {
    take(ifindex, bytes, rx_ns);
  });
  committed_ = std::max(committed_, now());
  Egress egress(*this);
  node_->run_until(committed_, egress);
  if (!unsent_.empty()) {
    for (Unsent& unsent : unsent_) socket_.queue(unsent.ifindex, pieces_of(unsent.frame));
    report_.frames_sent += unsent_.size();
    const size_t failures = socket_.send_queued().size();
    report_.send_failures += failures;
    report_.frames_sent -= failures;
    unsent_.clear();
  }
  return moved_;
}

void WallDriver::take(uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns) {
  const uint32_t port = ifindex < port_of_ifindex_.size() ? port_of_ifindex_[ifindex] : kNoPort;
  if (port == kNoPort) return;  // an interface that is not ours
  moved_ = true;
  ++report_.frames_received;
  Arrival arrival;
  arrival.frame = frames_.copy(bytes);
  if (!arrival.frame) {
    ++report_.no_buffer;
    return;
  }
  // The timestamp is the instant at which the frame came, not when this process woke up to read it.
  arrival.arrival = arrival.start = std::max(committed_, fabric_at(static_cast<int64_t>(rx_ns)));
  arrival.sequence = sequence_++;
  node_->receive(PortId{port}, std::move(arrival));
}

void WallDriver::watch_carriers() {
  socket_.update_carriers();
  for (const LinkState& link : watch_.read_or_ask(netlink_)) note_carrier(link);
}

void WallDriver::note_carrier(const LinkState& link) {
  const uint32_t port =
      link.ifindex < port_of_ifindex_.size() ? port_of_ifindex_[link.ifindex] : kNoPort;
  if (port == kNoPort) return;
  const bool up = link.admin_up && link.carrier;
  if (std::exchange(ports_[port].carrier, up) == up) return;
  node_->apply({committed_, PortCarrier{{self_, PortId{port}}, up}, sequence_++, 0, false});
}

void WallDriver::wait(std::chrono::nanoseconds limit) {
  const FabricTime next = node_->next_event();
  int64_t ns = limit.count();
  if (next != FabricTime::never()) {
    const auto until = static_cast<double>((next - now()).ps()) / ps_per_ns_;
    ns = std::min(ns, static_cast<int64_t>(std::max(until, 0.0)));
  }
  if (ns <= 0) return;
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  pollfd watched[] = {{socket_.fd(), POLLIN, 0}, {watch_.fd(), POLLIN, 0}};
  if (::ppoll(watched, 2, &timeout, nullptr) > 0 && (watched[1].revents & POLLIN) != 0) {
    watch_carriers();
  }
}

WallDriver::Report WallDriver::report() {
  report_.ring_drops = socket_.statistics().ring_drops;
  return report_;
}

}  // namespace mrclab::netio
