#pragma once
// A program of verbs as a test writes one: it speaks the protocol over anything that answers messages, maps the rings,
// and posts records. Its memory is this process's own.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "netio/system/file_descriptor.h"
#include "verbs/protocol/messages.h"
#include "verbs/protocol/ring.h"

namespace mrclab::test {

/// A mapping of shared memory that a server sent.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const netio::FileDescriptor& fd, size_t bytes)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0)) {
    if (data_ == MAP_FAILED) throw std::runtime_error("mmap");
  }
  Mapping(Mapping&& other) noexcept
      : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  template <class T>
  T& as() const {
    return *static_cast<T*>(data_);
  }

 private:
  size_t bytes_ = 0;
  void* data_ = nullptr;
};

/// ibv_wr_opcode and so on, as far as tests need them.
enum TestOpcode : uint16_t { kWrWrite, kWrWriteImm, kWrSend, kWrSendImm, kWrRead, kWrSwap, kWrAdd };
inline constexpr uint32_t kWrSignaled = 2, kWrSolicited = 4, kWrInline = 8;

class TestProgram {
 public:
  struct Reply {
    int status = -1;  ///< -1: the connection was ended
    std::vector<uint8_t> body;
    std::vector<netio::FileDescriptor> descriptors;
    uint64_t now_ps = 0;

    template <class T>
    T as() const {
      if (status != 0 || body.size() != sizeof(T)) {
        throw std::runtime_error("status " + std::to_string(status) + ", " +
                                 std::to_string(body.size()) + " bytes");
      }
      T value;
      std::memcpy(&value, body.data(), sizeof value);
      return value;
    }
  };
  /// Bytes and descriptors in; the whole answer.
  using Link = std::function<Reply(std::vector<uint8_t>, std::vector<netio::FileDescriptor>)>;

  explicit TestProgram(Link link) : link_(std::move(link)) {}

  template <class Body>
  Reply call(verbs::Op op, const Body& body, std::vector<netio::FileDescriptor> descriptors = {}) {
    return call_bytes(op, {reinterpret_cast<const uint8_t*>(&body), sizeof body},
                      std::move(descriptors));
  }
  Reply call(verbs::Op op) { return call_bytes(op, {}, {}); }
  Reply call_bytes(verbs::Op op, std::span<const uint8_t> body,
                   std::vector<netio::FileDescriptor> descriptors) {
    verbs::RequestHeader header{};
    header.op = op;
    header.size = static_cast<uint32_t>(sizeof header + body.size());
    std::vector<uint8_t> message(header.size);
    std::memcpy(message.data(), &header, sizeof header);
    if (!body.empty()) std::memcpy(&message[sizeof header], body.data(), body.size());
    return link_(std::move(message), std::move(descriptors));
  }

  verbs::HelloReply greet() {
    verbs::HelloRequest request{};
    request.version = verbs::kProtocolVersion;
    request.process = static_cast<uint32_t>(::getpid());
    std::strcpy(request.program, "test");
    std::vector<netio::FileDescriptor> memory;
    memory.push_back(netio::FileDescriptor::open("/proc/self/mem", O_RDWR));
    Reply reply = call(verbs::Op::kHello, request, std::move(memory));
    hello = reply.as<verbs::HelloReply>();
    work_ = Mapping(reply.descriptors.at(0), sizeof(verbs::WorkRing));
    events = std::move(reply.descriptors.at(1));
    return hello;
  }

  /// Registers memory of this process with all rights, at its own address.
  verbs::RegionReply region(std::span<const uint8_t> memory, uint32_t access = 15,
                            uint32_t domain = 1) {
    const auto address = reinterpret_cast<uint64_t>(memory.data());
    return call(verbs::Op::kRegisterMemory,
                verbs::RegionRequest{address, memory.size(), address, access, domain})
        .as<verbs::RegionReply>();
  }
  uint32_t channel(netio::FileDescriptor& descriptor) {
    Reply reply = call(verbs::Op::kCreateChannel);
    const auto made = reply.as<verbs::HandleReply>();
    descriptor = std::move(reply.descriptors.at(0));
    return made.handle;
  }
  uint32_t cq(uint32_t depth, uint32_t channel = 0) {
    Reply reply = call(verbs::Op::kCreateCq, verbs::CqRequest{depth, channel});
    const auto made = reply.as<verbs::HandleReply>();
    cqs_.resize(std::max<size_t>(cqs_.size(), made.handle + 1));
    cqs_[made.handle] = {
        Mapping(reply.descriptors.at(0), offsetof(verbs::CompletionRing, entries) +
                                             made.limit * sizeof(verbs::CompletionEntry)),
        made.limit};
    return made.handle;
  }
  verbs::QpReply qp(uint32_t send_cq, uint32_t recv_cq, uint32_t send_wr = 64,
                    uint32_t recv_wr = 64, uint32_t srq = 0, uint32_t domain = 1) {
    verbs::QpRequest request{};
    request.send_cq = send_cq;
    request.recv_cq = recv_cq;
    request.srq = srq;
    request.domain = domain;
    request.max_send_wr = send_wr;
    request.max_recv_wr = recv_wr;
    request.max_send_sge = request.max_recv_sge = 4;
    request.max_inline = 64;
    request.transport = hello.transport;
    return call(verbs::Op::kCreateQp, request).as<verbs::QpReply>();
  }

  /// RESET -> INIT -> RTR -> RTS, with the masks of perftest. Returns the first status that is not 0.
  int connect(const verbs::QpReply& mine, const uint8_t (&gid)[16], uint32_t remote_qpn,
              uint32_t my_psn = 100, uint32_t peer_psn = 100, uint32_t access = 15) {
    verbs::ModifyRequest request{};
    request.handle = mine.handle;
    request.attributes.state = 1;
    request.attributes.access = access;
    request.mask = 0x39;
    if (const int status = call(verbs::Op::kModifyQp, request).status; status != 0) return status;
    request.attributes.state = 2;
    request.mask = 0x129181;
    std::memcpy(request.attributes.remote_gid, gid, sizeof gid);
    request.attributes.remote_qpn = remote_qpn;
    request.attributes.rq_psn = peer_psn;
    request.attributes.path_mtu = 5;
    request.attributes.max_dest_rd_atomic = 4;
    request.attributes.min_rnr_timer = 12;
    if (const int status = call(verbs::Op::kModifyQp, request).status; status != 0) return status;
    request.attributes.state = 3;
    request.mask = 0x12e01;
    request.attributes.sq_psn = my_psn;
    request.attributes.timeout = 14;
    request.attributes.retry_cnt = request.attributes.rnr_retry = 7;
    request.attributes.max_rd_atomic = 4;
    return call(verbs::Op::kModifyQp, request).status;
  }

  verbs::WorkRing& work() const { return work_.as<verbs::WorkRing>(); }

  /// Puts a record into the ring; false: it is full.
  bool post(verbs::WorkRecord record, std::span<const verbs::WorkSge> sges,
            std::span<const uint8_t> data = {}) {
    record.sges = static_cast<uint16_t>(sges.size());
    record.inline_bytes = static_cast<uint16_t>(data.size());
    const size_t tail = data.empty() ? sges.size_bytes() : data.size();
    record.bytes = static_cast<uint32_t>((sizeof record + tail + 7) / 8 * 8);
    verbs::WorkRing& ring = work();
    uint64_t written = ring.written.load();
    const uint64_t left = verbs::kWorkRingBytes - written % verbs::kWorkRingBytes;
    const uint64_t needed = record.bytes + (left < record.bytes ? left : 0);
    if (written + needed - ring.taken.load() > verbs::kWorkRingBytes) return false;
    if (left < record.bytes) {
      verbs::WorkRecord padding{};
      padding.bytes = static_cast<uint32_t>(left);
      padding.kind = verbs::kWorkPadding;
      std::memcpy(&ring.records[written % verbs::kWorkRingBytes], &padding, 8);
      written += left;
    }
    uint8_t* const place = &ring.records[written % verbs::kWorkRingBytes];
    std::memcpy(place, &record, sizeof record);
    if (data.empty()) {
      if (!sges.empty()) std::memcpy(place + sizeof record, sges.data(), sges.size_bytes());
    } else {
      std::memcpy(place + sizeof record, data.data(), data.size());
    }
    ring.written.store(written + record.bytes);
    return true;
  }
  bool write(uint32_t qp, uint64_t id, std::span<const uint8_t> from, uint32_t lkey,
             uint64_t remote, uint32_t rkey, uint32_t flags = kWrSignaled,
             uint16_t opcode = kWrWrite, uint32_t immediate = 0) {
    verbs::WorkRecord record{};
    record.handle = qp;
    record.wr_id = id;
    record.opcode = opcode;
    record.flags = flags;
    record.remote_address = remote;
    record.rkey = rkey;
    record.immediate = immediate;
    const verbs::WorkSge sge{reinterpret_cast<uint64_t>(from.data()),
                             static_cast<uint32_t>(from.size()), lkey};
    return post(record, {&sge, from.empty() ? 0u : 1u});
  }
  bool receive(uint32_t qp, uint64_t id, std::span<const uint8_t> into = {}, uint32_t lkey = 0,
               bool shared = false) {
    verbs::WorkRecord record{};
    record.kind =
        static_cast<uint16_t>(shared ? verbs::WorkKind::kSharedReceive : verbs::WorkKind::kReceive);
    record.handle = qp;
    record.wr_id = id;
    const verbs::WorkSge sge{reinterpret_cast<uint64_t>(into.data()),
                             static_cast<uint32_t>(into.size()), lkey};
    return post(record, {&sge, into.empty() ? 0u : 1u});
  }

  std::optional<verbs::CompletionEntry> poll(uint32_t cq) {
    verbs::CompletionRing& ring = cqs_.at(cq).ring.as<verbs::CompletionRing>();
    const uint64_t taken = ring.taken.load();
    if (ring.written.load() == taken) return std::nullopt;
    const verbs::CompletionEntry entry = ring.entries[taken % cqs_[cq].depth];
    ring.taken.store(taken + 1);
    return entry;
  }
  verbs::CompletionRing& ring(uint32_t cq) { return cqs_.at(cq).ring.as<verbs::CompletionRing>(); }

  verbs::HelloReply hello{};
  netio::FileDescriptor events;

 private:
  struct Cq {
    Mapping ring;
    uint32_t depth = 0;
  };
  Link link_;
  Mapping work_;
  std::vector<Cq> cqs_;
};

/// Is there something to read? Takes it.
template <class Event>
std::optional<Event> read_event(const netio::FileDescriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK);
  Event event;
  if (::read(descriptor.get(), &event, sizeof event) != sizeof event) return std::nullopt;
  return event;
}

}  // namespace mrclab::test
