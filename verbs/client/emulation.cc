#include "verbs/client/emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs/client/places.h"
#include "verbs/client/poll.h"

namespace mrclab::verbs {

namespace {

constexpr uint32_t kSlots = 64;
constexpr uint32_t kPayload = 64 * 1024;

struct SlotHead {
  uint64_t order;  ///< of this message among all with an immediate, from 1
  uint32_t bytes;
  uint32_t immediate;
  uint32_t has_immediate, reserved[3];
};
struct Slot {
  SlotHead head;
  uint8_t data[kPayload];
};
struct Ring {
  alignas(64) volatile uint64_t
      credit;  ///< slots of the peer's ring that it has emptied; the peer writes it
  alignas(64) Slot slots[kSlots];
};
/// Of a queue pair; the ring is what the peer writes, at offset 0 of the region.
struct Memory {
  Ring ring;
  Slot staging[kSlots];
};

/// Number of the library's own requests; drawn once.
constexpr uint64_t kHidden = 0x9A3C'71E5'5EED'B06Bu;

/// How long a SEND waits for the peer's key and for free slots: looks, each of at most 250 us in wall time.
constexpr uint32_t kPatience = 40'000;

}  // namespace

struct Emulation {
  Mutex mutex;  ///< after those of queues, before the work ring's
  Memory* memory;
  uint32_t region, key;
  std::atomic<uint32_t> peer_key;
  uint64_t sent, consumed, told;        ///< slots
  uint64_t order_sent, order_received;  ///< messages with an immediate
  ibv_sge* lists;                       ///< of receives, by their places
  uint32_t* list_lengths;
};

namespace {

int post_hidden(Qp& qp, WorkKind kind, WorkRecord head, const Piece* pieces, uint32_t count) {
  head.kind = static_cast<uint16_t>(kind);
  head.wr_id = kHidden;
  head.handle = qp.entry.handle;
  return write_work(head, pieces, count);
}

void post_key(Qp& qp) {
  WorkRecord head{};
  head.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  head.immediate = qp.emulation->key;
  post_hidden(qp, WorkKind::kSend, head, nullptr, 0);
}

/// With the emulation's mutex held.
void tell_credit(Qp& qp) {
  Emulation& own = *qp.emulation;
  WorkRecord head{};
  head.opcode = IBV_WR_RDMA_WRITE;
  head.flags = IBV_SEND_INLINE;
  head.rkey = own.peer_key.load();
  head.remote_address = offsetof(Ring, credit);
  head.inline_bytes = sizeof(own.consumed);
  const Piece piece{&own.consumed, sizeof(own.consumed)};
  if (post_hidden(qp, WorkKind::kSend, head, &piece, 1) == 0) {
    own.told = own.consumed;
  }
}

/// From a slot to a receive's list; false: the list is too short.
bool scatter(const Slot& slot, uint32_t bytes, const ibv_sge* list, uint32_t count) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < count && at < bytes; ++i) {
    const uint32_t part = list[i].length < bytes - at ? list[i].length : bytes - at;
    memcpy(reinterpret_cast<void*>(list[i].addr), slot.data + at, part);
    at += part;
  }
  return at == bytes;
}

/// A message with an immediate has arrived: what it is by its place in their order.
void receive(Qp& qp, CompletionEntry& entry) {
  Emulation& own = *qp.emulation;
  const Guard guard(own.mutex);
  const uint64_t order = ++own.order_received;
  const Slot& slot = own.memory->ring.slots[own.consumed % kSlots];
  SlotHead head;
  memcpy(&head, &slot.head, sizeof(head));  // the peer may write it again
  if (head.order != order) {
    return;  // the program's own Write with Immediate
  }
  const uint64_t place = qp.receives.freed % (qp.receives.room > 0 ? qp.receives.room : 1);
  const bool fits =
      head.bytes <= kPayload &&
      scatter(slot, head.bytes, own.lists + place * qp.max_recv_sge, own.list_lengths[place]);
  entry.opcode = IBV_WC_RECV;
  entry.bytes = head.bytes;
  entry.immediate = head.immediate;
  entry.flags = head.has_immediate != 0 ? IBV_WC_WITH_IMM : 0;
  if (!fits) {
    entry.status = IBV_WC_LOC_LEN_ERR;
  }
  ++own.consumed;
  if (own.consumed - own.told >= kSlots / 2) {
    tell_credit(qp);
  }
}

bool is_ready(const Emulation& own) {
  return own.peer_key.load() != 0 && own.sent - own.memory->ring.credit < kSlots;
}

/// Until the peer's key and a slot are there. What completes meanwhile is kept for the program.
int wait_until_ready(Qp& qp) {
  Emulation& own = *qp.emulation;
  for (uint32_t tries = 0; !is_ready(own); ++tries) {
    if (server_gone(tries % 64 == 63)) {
      return EIO;
    }
    if (tries == kPatience || qp.state.load() != IBV_QPS_RTS) {
      if (own.peer_key.load() == 0) {
        fprintf(stderr,
                "%s: the peer's queue pair has sent no key for emulated SENDs: it needs "
                "MRCLAB_VERBS_SEND=emulated as well, and has to reach RTS\n",
                link_data().hello->device);
      }
      return ENOMEM;  // as a full queue: what has no peer does not drain
    }
    stash_completions(*qp.recv_cq);
    if (!is_ready(own)) {
      wait_for_peer(*qp.recv_cq, tries);
    }
  }
  return 0;
}

}  // namespace

bool sends_are_emulated() {
  static const bool asked = [] {
    const char* word = getenv("MRCLAB_VERBS_SEND");
    return word != nullptr && strcmp(word, "emulated") == 0;
  }();
  const uint32_t can = link_data().hello->capabilities;
  return asked && (can & kCanSend) == 0 && (can & kCanWrite) != 0;
}

int start_emulation(Qp& qp) {
  Emulation* own = make<Emulation>();
  if (own == nullptr) {
    return ENOMEM;
  }
  qp.emulation = own;
  const size_t places = qp.receives.room > 0 ? qp.receives.room : 1;
  own->lists = static_cast<ibv_sge*>(calloc(places * (qp.max_recv_sge + 1), sizeof(ibv_sge)));
  own->list_lengths = static_cast<uint32_t*>(calloc(places, sizeof(uint32_t)));
  void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own->lists == nullptr || own->list_lengths == nullptr || at == MAP_FAILED) {
    return ENOMEM;
  }
  own->memory = static_cast<Memory*>(at);
  RegionRequest request{};
  request.address = reinterpret_cast<uintptr_t>(at);
  request.length = sizeof(Memory);
  request.access = kLocalWrite | kRemoteWrite;
  request.domain = qp.pd->domain;
  RegionReply reply{};
  const int error = ask(Op::kRegisterMemory, request, &reply);
  own->region = reply.handle;
  own->key = reply.rkey;
  return error == 0 && reply.rkey == 0 ? EPROTO : error;
}

void end_emulation(Qp& qp) {
  Emulation* own = qp.emulation;
  if (own == nullptr) {
    return;
  }
  if (own->key != 0) {
    const HandleRequest request{own->region, 0};
    tell(Op::kDeregisterMemory, request);
  }
  if (own->memory != nullptr) {
    munmap(own->memory, sizeof(Memory));
  }
  free(own->lists);
  free(own->list_lengths);
  delete own;
  qp.emulation = nullptr;
}

void follow_state(Qp& qp, ibv_qp_state next) {
  Emulation& own = *qp.emulation;
  if (next == IBV_QPS_RESET) {
    const Guard guard(own.mutex);
    own.peer_key.store(0);
    own.sent = own.consumed = own.told = own.order_sent = own.order_received = 0;
    own.memory->ring.credit = 0;
    for (Slot& slot : own.memory->ring.slots) {
      slot.head.order = 0;
    }
  } else if (next == IBV_QPS_INIT && own.peer_key.load() == 0) {
    post_hidden(qp, WorkKind::kReceive, WorkRecord{}, nullptr, 0);
  } else if (next == IBV_QPS_RTS) {
    post_key(qp);
  }
}

int send_emulated(Qp& qp, const WorkRecord& head, const Piece* pieces, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += pieces[i].bytes;
  }
  if (bytes > kPayload) {
    fprintf(stderr, "%s: an emulated SEND has at most %u bytes, not %llu\n",
            link_data().hello->device, kPayload, static_cast<unsigned long long>(bytes));
    return EINVAL;
  }
  if (!has_places(qp, qp.sends, 1)) {
    return ENOMEM;
  }
  Emulation& own = *qp.emulation;
  if (qp.state.load() == IBV_QPS_RTS) {
    const int error = wait_until_ready(qp);
    if (error != 0) {
      return error;
    }
  }
  const Guard guard(own.mutex);
  const uint64_t number = own.sent % kSlots;
  Slot& slot = own.memory->staging[number];
  slot.head = SlotHead{own.order_sent + 1,
                       static_cast<uint32_t>(bytes),
                       head.immediate,
                       head.opcode == IBV_WR_SEND_WITH_IMM ? 1u : 0u,
                       {}};
  uint8_t* at = slot.data;
  for (uint32_t i = 0; i < count; ++i) {
    memcpy(at, pieces[i].data, pieces[i].bytes);
    at += pieces[i].bytes;
  }
  const ibv_sge list{offsetof(Memory, staging) + number * sizeof(Slot),
                     static_cast<uint32_t>(sizeof(SlotHead) + bytes), own.key};
  SendRequest request;
  request.head = head;
  request.head.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.head.flags &= ~static_cast<uint32_t>(IBV_SEND_INLINE);
  request.head.inline_bytes = 0;
  request.head.rkey = own.peer_key.load();
  request.head.remote_address = offsetof(Ring, slots) + number * sizeof(Slot);
  set_list(request, &list, 1);
  const int error = write_send_as(qp, request, IBV_WC_SEND);
  if (error == 0) {
    ++own.sent;
    ++own.order_sent;
  }
  return error;
}

void note_immediate(Qp& qp) {
  const Guard guard(qp.emulation->mutex);
  ++qp.emulation->order_sent;
}

void note_receive(Qp& qp, const ibv_recv_wr& wr) {
  const uint64_t place = qp.receives.posted % qp.receives.room;
  const auto count = static_cast<uint32_t>(wr.num_sge);
  qp.emulation->list_lengths[place] = count;
  if (count > 0) {
    memcpy(qp.emulation->lists + place * qp.max_recv_sge, wr.sg_list, count * sizeof(ibv_sge));
  }
}

bool translate(Qp& qp, CompletionEntry& entry) {
  const bool received = (entry.opcode & IBV_WC_RECV) != 0;
  if (entry.wr_id == kHidden) {
    if (received && entry.status == IBV_WC_SUCCESS) {
      qp.emulation->peer_key.store(entry.immediate);
    }
    return false;
  }
  if (received && entry.status == IBV_WC_SUCCESS) {
    receive(qp, entry);
  }
  return true;
}

}  // namespace mrclab::verbs
