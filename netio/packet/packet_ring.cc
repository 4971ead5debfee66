#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

#include "netio/packet/packet_port.h"

namespace mrclab::netio {
namespace {

/// A block is one contiguous allocation of the kernel; 64 KiB is easy to get.
constexpr size_t kBlockBytes = 64 << 10;
/// In front of the frame in its slot: header, sockaddr_ll, room that the kernel leaves so that the
/// IP header is aligned (net/packet/af_packet.c, tpacket_rcv: netoff).
constexpr size_t kSlotOverhead = TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + 16;

template <class T>
void set_option(int fd, int option, const T& value, const char* what) {
  check_system_call(what, ::setsockopt(fd, SOL_PACKET, option, &value, sizeof value));
}

}  // namespace

PacketRing::PacketRing(uint16_t ethertype, size_t slot_payload, size_t ring_bytes)
    : fd_(check_system_call("open a packet socket",
                            ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))) {
  const int version = TPACKET_V2;
  set_option(fd_.get(), PACKET_VERSION, version, "choose TPACKET_V2");
  const int on = 1;
  set_option(fd_.get(), PACKET_IGNORE_OUTGOING, on, "ignore outgoing packets");

  block_bytes_ = kBlockBytes;
  slot_bytes_ = TPACKET_ALIGN(kSlotOverhead + slot_payload);
  slots_per_block_ = block_bytes_ / slot_bytes_;
  const size_t blocks = std::max<size_t>(1, (ring_bytes + block_bytes_ - 1) / block_bytes_);
  slots_ = blocks * slots_per_block_;
  tpacket_req request{};
  request.tp_block_size = static_cast<unsigned>(block_bytes_);
  request.tp_block_nr = static_cast<unsigned>(blocks);
  request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
  request.tp_frame_nr = static_cast<unsigned>(slots_);
  set_option(fd_.get(), PACKET_RX_RING, request, "allocate a packet ring");

  mapped_ = blocks * block_bytes_;
  void* memory = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) throw SystemError("map a packet ring", errno);
  memory_ = static_cast<uint8_t*>(memory);

  // Bound last: from here on packets arrive, and nothing has to be waited for.
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ethertype);
  if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::munmap(memory_, mapped_);
    throw SystemError("bind a packet socket", error);
  }
}

PacketRing::PacketRing(PacketRing&& other) noexcept
    : fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)),
      mapped_(other.mapped_),
      block_bytes_(other.block_bytes_),
      slot_bytes_(other.slot_bytes_),
      slots_per_block_(other.slots_per_block_),
      slots_(other.slots_),
      next_(other.next_) {}

PacketRing::~PacketRing() {
  if (memory_ != nullptr) ::munmap(memory_, mapped_);
}

bool PacketRing::peek(Received& out) const {
  static_assert(kForUser == TP_STATUS_USER && offsetof(tpacket2_hdr, tp_status) == 0);
  uint8_t* const base = slot(next_);
  const uint32_t now = status(base);
  if ((now & kForUser) == 0) return false;
  const auto* header = reinterpret_cast<const tpacket2_hdr*>(base);
  const auto* from =
      reinterpret_cast<const sockaddr_ll*>(base + TPACKET_ALIGN(sizeof(tpacket2_hdr)));
  out.ifindex = static_cast<uint32_t>(from->sll_ifindex);
  out.outgoing = from->sll_pkttype == PACKET_OUTGOING;
  out.truncated = header->tp_snaplen < header->tp_len;
  out.checksum_not_ready = (now & TP_STATUS_CSUMNOTREADY) != 0;
  out.realtime_ns = header->tp_sec * uint64_t{1'000'000'000} + header->tp_nsec;
  out.frame = {base + header->tp_mac, header->tp_snaplen};
  return true;
}

void PacketRing::release() {
  auto* header = reinterpret_cast<tpacket2_hdr*>(slot(next_));
  std::atomic_ref(header->tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = next_ + 1 == slots_ ? 0 : next_ + 1;
}

uint64_t PacketRing::take_drops() {
  tpacket_stats counts{};
  socklen_t size = sizeof counts;
  check_system_call("read packet statistics",
                    ::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &counts, &size));
  return counts.tp_drops;
}

}  // namespace mrclab::netio
