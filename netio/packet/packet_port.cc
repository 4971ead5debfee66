#include "netio/packet/packet_port.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/packet/trailer.h"
#include "netio/packet/frame_message.h"

namespace mrclab::netio {
namespace {

constexpr size_t kSendBatch = 1024;  // UIO_MAXIOV
/// Ethernet header, count, at most 128 bytes of the lost frame, trailer (fabric/packet/trailer.h).
constexpr size_t kVoidSlotPayload = 256;

constexpr size_t kLabRingBytes = 256 << 20;  // all rings of a big lab together
constexpr size_t kPortRingBytesMin = 64 << 10, kPortRingBytesMax = 256 << 10;
constexpr size_t kSmallLabRingBytes = 64 << 20;  // cleared unnoticed, in a lab of any size
/// The IPv6 ring of a node has at least so many slots, even if the fabric lets fewer frames wait there (our choice).
constexpr size_t kSlotsMin = 112;
constexpr size_t kRingBytesBound = 64 << 20;  // bound for any rates and latencies of a fabric
/// What a slot of the IPv6 ring takes beside the frame, its place in a block of 64 KiB included.
constexpr size_t kSlotExtra = 256;
/// Ethernet, both IPv6 headers, UDP, BTH, METH, RETH, ICRC: the shortest write.
constexpr uint64_t kWriteHeaderBytes = 138;

size_t frames_waiting_at(const Topology& topology, const Ports& ports, uint64_t payload) {
  size_t slots = 0;
  for (const Port& port : ports) slots += frames_waiting(topology, port, payload);
  return slots;
}

}  // namespace

size_t frames_waiting(const Topology& topology, const Port& port, uint64_t payload) {
  const Bytes frame = wire_length(Bytes{payload + kWriteHeaderBytes});
  const FabricTime ahead = topology.lookahead(port.in) + topology.lookahead(port.out);
  return bytes_in(topology.wire(port.in).rate, ahead).value / frame.value + 1;
}

PacketSocketOptions rings_for(const Topology& topology, NodeId node, FrameRoom room) {
  const Ports ports = topology.node(node).ports;
  const size_t lab_ports = std::max<size_t>(2 * topology.links.size(), 1);
  const size_t share =
      std::max(std::clamp(kLabRingBytes / lab_ports, kPortRingBytesMin, kPortRingBytesMax),
               kSmallLabRingBytes / lab_ports);
  PacketSocketOptions options;
  options.frame_bytes = room.frame + room.trailer;
  const size_t slot = options.frame_bytes + kSlotExtra;
  const size_t of_shortest =
      std::min(slot * frames_waiting_at(topology, ports, 0), ports.size() * share);
  const size_t of_full = slot * 2 * frames_waiting_at(topology, ports, topology.pmtu);
  options.ring_bytes =
      std::clamp(std::max(of_shortest, of_full), slot * kSlotsMin, kRingBytesBound);
  options.void_ring_bytes = options.ring_bytes / 8;
  options.ipv4 = topology.routing.underlay == Underlay::kIpv4;
  options.pause = topology.lossless.pfc;
  options.lldp = topology.orchestrator.on;
  return options;
}

/// One sendmmsg call's worth of headers. Each is filled once, when a batch is first that long, and reused: a
/// daemon of one node never needs most of them.
struct PacketSocket::SendBatch {
  std::array<mmsghdr, kSendBatch> messages;
  std::array<FrameMessage, kSendBatch> frames;
  std::array<size_t, kSendBatch> index;  ///< place of each message in outgoing_
  size_t filled = 0;

  void fill(size_t count) {
    for (; filled < count; ++filled) {
      messages[filled] = {};
      frames[filled].prepare(messages[filled].msg_hdr);
    }
  }
};

PacketSocket::PacketSocket(const NetworkNamespace& ns, const PacketSocketOptions& options)
    : netlink_(ns),
      longest_frame_(options.frame_bytes),
      ring_(ns.run_in([&options] {
        return PacketRing(kEthertypeIpv6, options.frame_bytes, options.ring_bytes);
      })),
      void_ring_(ns.run_in([&options] {
        return PacketRing(kVoidEthertype, kVoidSlotPayload, options.void_ring_bytes);
      })),
      batch_(std::make_unique_for_overwrite<SendBatch>()) {
  if (options.ipv4) {
    ipv4_ring_.emplace(ns.run_in([&options] {
      return PacketRing(kEthertypeIpv4, options.frame_bytes, options.ring_bytes);
    }));
  }
  if (options.pause) {
    pause_ring_.emplace(ns.run_in([&options] {
      return PacketRing(kPauseEthertype, kVoidSlotPayload, options.void_ring_bytes);
    }));
  }
  if (options.lldp) {
    lldp_ring_.emplace(ns.run_in([&options] {
      return PacketRing(kLldpEthertype, kVoidSlotPayload, options.void_ring_bytes);
    }));
  }
  // Protocol 0: this one only sends, and receives nothing.
  send_socket_ = FileDescriptor(check_system_call("open a packet socket", ns.run_in([] {
    return ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  })));
  const int bytes = static_cast<int>(std::min<size_t>(options.send_buffer_bytes, INT32_MAX / 2));
  check_system_call("enlarge a send buffer", ::setsockopt(send_socket_.get(), SOL_SOCKET,
                                                          SO_SNDBUFFORCE, &bytes, sizeof bytes));
  const int bypass = options.qdisc_bypass;
  check_system_call("set qdisc bypass", ::setsockopt(send_socket_.get(), SOL_PACKET,
                                                     PACKET_QDISC_BYPASS, &bypass, sizeof bypass));
  if (!options.interfaces_later) find_interfaces(ns);
}

void PacketSocket::find_interfaces(const NetworkNamespace& ns, Carriers carriers) {
  watch_.emplace(ns);
  interfaces_.clear();
  dark_.clear();
  down_.clear();
  for (const LinkState& link : netlink_.links()) {
    if (link.name == "lo") {
      loopback_ = link.ifindex;
      continue;
    }
    interfaces_.push_back({link.ifindex, link.name});
    note_carrier(carriers == Carriers::kAskedFor ? link : netlink_.link(link.name));
  }
  forget_received();
}

void PacketSocket::forget_received() {
  for (PacketRing* ring :
       {&ring_, &void_ring_, ipv4_ring_ ? &*ipv4_ring_ : nullptr,
        pause_ring_ ? &*pause_ring_ : nullptr, lldp_ring_ ? &*lldp_ring_ : nullptr}) {
    if (ring == nullptr) continue;
    for (size_t seen = 0; seen < ring->slots() && ring->waiting(); ++seen) ring->release();
    ring->take_drops();
  }
}

PacketSocket::PacketSocket(PacketSocket&&) noexcept = default;
PacketSocket::~PacketSocket() = default;

int64_t PacketSocket::monotonic_minus_realtime_ns() {
  timespec real{}, monotonic{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return (monotonic.tv_sec - real.tv_sec) * int64_t{1'000'000'000} + monotonic.tv_nsec -
         real.tv_nsec;
}

void PacketSocket::queue(uint32_t ifindex, const FramePieces& frame) {
  outgoing_.push_back({ifindex, frame});
}

void PacketSocket::note_carrier(const LinkState& link) {
  std::erase(dark_, link.ifindex);
  std::erase(down_, link.ifindex);
  if (!link.admin_up) {
    down_.push_back(link.ifindex);
  } else if (!link.carrier) {
    dark_.push_back(link.ifindex);
  }
}

void PacketSocket::update_carriers() {
  for (const LinkState& link : watch_->read_or_ask(netlink_)) note_carrier(link);
}

std::span<const SendFailure> PacketSocket::send_queued() {
  failures_.clear();
  for (size_t first = 0; first < outgoing_.size(); first += kSendBatch)
    send_batch(first, std::min(first + kSendBatch, outgoing_.size()));
  return finish_sending();
}

void PacketSocket::put_queued(SendRing& ring, uint64_t first_tag) {
  failures_.clear();
  first_tag_ = first_tag;
  for (size_t i = 0; i < outgoing_.size(); ++i) {
    const Outgoing& frame = outgoing_[i];
    if (is_dark(frame)) {
      fail(i, ENOLINK);
    } else {
      ring.queue_frame(send_socket_.get(), frame.ifindex, frame.frame, first_tag + i);
    }
  }
}

void PacketSocket::refuse(uint64_t tag, int error_number) { fail(tag - first_tag_, error_number); }

std::span<const SendFailure> PacketSocket::finish_sending() {
  std::sort(failures_.begin(), failures_.end(),
            [](const SendFailure& a, const SendFailure& b) { return a.index < b.index; });
  statistics_.sent += outgoing_.size() - failures_.size();
  statistics_.send_failures += failures_.size();
  outgoing_.clear();
  return failures_;
}

void PacketSocket::send_batch(size_t first, size_t last) {
  size_t count = 0;
  batch_->fill(last - first);
  for (size_t i = first; i < last; ++i) {
    const Outgoing& frame = outgoing_[i];
    if (is_dark(frame)) {
      fail(i, ENOLINK);
      continue;
    }
    batch_->index[count] = i;
    batch_->frames[count].set(batch_->messages[count].msg_hdr, frame.ifindex, frame.frame);
    ++count;
  }
  // Every round sends at least one frame, or one fails: at most `count` rounds, and EINTR.
  for (size_t done = 0; done < count;) {
    const int sent = ::sendmmsg(send_socket_.get(), &batch_->messages[done],
                                static_cast<unsigned>(count - done), MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (sent == 0 || errno != EINTR) {
      fail(batch_->index[done], sent == 0 ? EAGAIN : errno);
      ++done;
    }
  }
}

bool PacketSocket::is_dark(const Outgoing& frame) const {
  return std::find(dark_.begin(), dark_.end(), frame.ifindex) != dark_.end();
}

bool PacketSocket::can_carry(uint32_t ifindex) const {
  const auto is_it = [ifindex](uint32_t other) { return other == ifindex; };
  return std::none_of(dark_.begin(), dark_.end(), is_it) &&
         std::none_of(down_.begin(), down_.end(), is_it);
}

void PacketSocket::fail(size_t index, int error_number) {
  failures_.push_back({index, outgoing_[index].ifindex, error_number});
}

uint32_t PacketSocket::ifindex_of(std::string_view name) const {
  for (const PortInterface& port : interfaces_)
    if (port.name == name) return port.ifindex;
  throw std::out_of_range("no interface " + std::string(name) + " in this namespace");
}

std::string_view PacketSocket::name_of(uint32_t ifindex) const {
  for (const PortInterface& port : interfaces_)
    if (port.ifindex == ifindex) return port.name;
  return {};
}

const PacketStatistics& PacketSocket::statistics() {
  statistics_.ring_drops += ring_.take_drops() + void_ring_.take_drops();
  if (ipv4_ring_) statistics_.ring_drops += ipv4_ring_->take_drops();
  if (pause_ring_) statistics_.ring_drops += pause_ring_->take_drops();
  if (lldp_ring_) statistics_.ring_drops += lldp_ring_->take_drops();
  return statistics_;
}

}  // namespace mrclab::netio
