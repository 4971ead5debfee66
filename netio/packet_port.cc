#include "netio/packet_port.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "fabric/headers.h"
#include "fabric/trailer.h"

namespace mrclab::netio {
namespace {

constexpr size_t kSendBatch = 1024;  // UIO_MAXIOV
/// Ethernet header, count, at most 128 bytes of the lost frame, trailer (fabric/trailer.h).
constexpr size_t kVoidSlotPayload = 256;

}  // namespace

/// One sendmmsg call's worth of headers, filled once and reused.
struct PacketSocket::SendBatch {
  std::array<mmsghdr, kSendBatch> messages{};
  std::array<iovec, kSendBatch> vectors{};
  std::array<sockaddr_ll, kSendBatch> addresses{};

  SendBatch() {
    for (size_t i = 0; i < kSendBatch; ++i) {
      addresses[i].sll_family = AF_PACKET;
      messages[i].msg_hdr.msg_name = &addresses[i];
      messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
      messages[i].msg_hdr.msg_iov = &vectors[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
  }
};

PacketSocket::PacketSocket(const NetworkNamespace& ns, const PacketSocketOptions& options)
    : ring_(ns.run_in([&options] {
        return PacketRing(kEthertypeIpv6, kFrameCapacity + kTrailerReserve, options.ring_bytes);
      })),
      void_ring_(ns.run_in([&options] {
        return PacketRing(kVoidEthertype, kVoidSlotPayload, options.void_ring_bytes);
      })),
      batch_(std::make_unique<SendBatch>()) {
  ns.run_in([this] {
    // Protocol 0: this one only sends, and receives nothing.
    send_socket_ = FileDescriptor(
        check_system_call("open a packet socket", ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)));
    struct if_nameindex* list = ::if_nameindex();
    if (list == nullptr) throw SystemError("list interfaces", errno);
    for (const struct if_nameindex* entry = list; entry->if_index != 0; ++entry) {
      if (std::strcmp(entry->if_name, "lo") == 0)
        loopback_ = entry->if_index;
      else
        interfaces_.push_back({entry->if_index, entry->if_name});
    }
    ::if_freenameindex(list);
  });
  const int bytes = static_cast<int>(std::min<size_t>(options.send_buffer_bytes, INT32_MAX / 2));
  check_system_call("enlarge a send buffer", ::setsockopt(send_socket_.get(), SOL_SOCKET,
                                                          SO_SNDBUFFORCE, &bytes, sizeof bytes));
  const int bypass = options.qdisc_bypass;
  check_system_call("set qdisc bypass", ::setsockopt(send_socket_.get(), SOL_PACKET,
                                                     PACKET_QDISC_BYPASS, &bypass, sizeof bypass));
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

void PacketSocket::queue(uint32_t ifindex, std::span<const uint8_t> frame) {
  outgoing_.push_back({ifindex, frame});
}

std::span<const SendFailure> PacketSocket::flush() {
  failures_.clear();
  for (size_t first = 0; first < outgoing_.size(); first += kSendBatch)
    send_batch(first, std::min(kSendBatch, outgoing_.size() - first));
  statistics_.sent += outgoing_.size() - failures_.size();
  statistics_.send_failures += failures_.size();
  outgoing_.clear();
  return failures_;
}

void PacketSocket::send_batch(size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Outgoing& frame = outgoing_[first + i];
    batch_->addresses[i].sll_ifindex = static_cast<int>(frame.ifindex);
    // sendmsg never writes through iov_base.
    batch_->vectors[i] = {const_cast<uint8_t*>(frame.frame.data()), frame.frame.size()};
  }
  // Every round sends at least one frame, or one fails: at most `count` rounds, and EINTR.
  for (size_t done = 0; done < count;) {
    const int sent = ::sendmmsg(send_socket_.get(), &batch_->messages[done],
                                static_cast<unsigned>(count - done), MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (sent == 0 || errno != EINTR) {
      fail(first + done, sent == 0 ? EAGAIN : errno);
      ++done;
    }
  }
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
  return statistics_;
}

}  // namespace mrclab::netio
