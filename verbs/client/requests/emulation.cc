#include "verbs/client/requests/emulation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs/client/requests/places.h"
#include "verbs/client/requests/work_writer.h"

namespace mrclab::verbs {
namespace {

/// Number of the library's own requests; drawn once.
constexpr uint64_t kHidden = 0x9A3C'71E5'5EED'B06Bu;

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
