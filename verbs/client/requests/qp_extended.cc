// ibv_wr_*: requests that are built by calls, between wr_start and wr_complete, and posted together or not at all. In
// between the queue pair's send_mutex is held, as with the providers of rdma-core.

#include <stdlib.h>
#include <string.h>

#include "verbs/client/operations.h"
#include "verbs/client/requests/places.h"
#include "verbs/client/requests/post.h"

namespace mrclab::verbs {

/// The requests of one batch. Their data is copied when it is set, lists as well: the callers' may be on their stack.
struct Batch {
  struct Entry {
    SendRequest request;
    uint8_t data[kMaxSges * sizeof(WorkSge) > kMaxInline ? kMaxSges * sizeof(WorkSge) : kMaxInline];
    bool has_data;
  };
  Entry* entries;
  uint32_t room, count;
  int error;  ///< the first, told by wr_complete
};

namespace {

Batch& batch_of(ibv_qp_ex* qp) { return *object_of(qp)->batch; }

void refuse(Batch& batch, int error) {
  if (batch.error == 0) {
    batch.error = error;
  }
}

Batch::Entry* open_entry(Batch& batch) {
  if (batch.error != 0 || batch.count == 0) {
    refuse(batch, EINVAL);  // data without a request
    return nullptr;
  }
  Batch::Entry& entry = batch.entries[batch.count - 1];
  if (entry.has_data) {
    refuse(batch, EINVAL);
    return nullptr;
  }
  entry.has_data = true;
  return &entry;
}

/// The next request, or null.
WorkRecord* begin(ibv_qp_ex* qp, ibv_wr_opcode opcode, uint64_t needed) {
  Qp& own = *object_of(qp);
  Batch& batch = *own.batch;
  if (batch.error != 0) {
    return nullptr;
  }
  if ((own.send_ops & needed) == 0) {
    refuse(batch, EINVAL);
    return nullptr;
  }
  if (batch.count == batch.room) {
    refuse(batch, ENOMEM);
    return nullptr;
  }
  Batch::Entry& entry = batch.entries[batch.count++];
  entry.request.head = WorkRecord{};
  entry.request.count = 0;
  entry.has_data = false;
  WorkRecord& head = entry.request.head;
  head.wr_id = qp->wr_id;
  head.opcode = static_cast<uint16_t>(opcode);
  head.flags = qp->wr_flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
  return &head;
}

void to_remote(WorkRecord* head, uint32_t rkey, uint64_t address) {
  if (head != nullptr) {
    head->rkey = rkey;
    head->remote_address = address;
  }
}

void wr_rdma_write(ibv_qp_ex* qp, uint32_t rkey, uint64_t address) {
  to_remote(begin(qp, IBV_WR_RDMA_WRITE, IBV_QP_EX_WITH_RDMA_WRITE), rkey, address);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, uint32_t rkey, uint64_t address, __be32 immediate) {
  WorkRecord* head = begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
  to_remote(head, rkey, address);
  if (head != nullptr) {
    head->immediate = immediate;
  }
}
void wr_rdma_read(ibv_qp_ex* qp, uint32_t rkey, uint64_t address) {
  to_remote(begin(qp, IBV_WR_RDMA_READ, IBV_QP_EX_WITH_RDMA_READ), rkey, address);
}
void wr_send(ibv_qp_ex* qp) { begin(qp, IBV_WR_SEND, IBV_QP_EX_WITH_SEND); }
void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) {
  WorkRecord* head = begin(qp, IBV_WR_SEND_WITH_IMM, IBV_QP_EX_WITH_SEND_WITH_IMM);
  if (head != nullptr) {
    head->immediate = immediate;
  }
}
void wr_atomic_cmp_swp(ibv_qp_ex* qp, uint32_t rkey, uint64_t address, uint64_t compare,
                       uint64_t swap) {
  WorkRecord* head = begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
  to_remote(head, rkey, address);
  if (head != nullptr) {
    head->compare_add = compare;
    head->swap = swap;
  }
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, uint32_t rkey, uint64_t address, uint64_t add) {
  WorkRecord* head = begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
  to_remote(head, rkey, address);
  if (head != nullptr) {
    head->compare_add = add;
  }
}

// What the device has not: no queue pair is made with the flags for it.
void wr_bind_mw(ibv_qp_ex* qp, ibv_mw*, uint32_t, const ibv_mw_bind_info*) {
  refuse(batch_of(qp), EOPNOTSUPP);
}
void wr_local_inv(ibv_qp_ex* qp, uint32_t) { refuse(batch_of(qp), EOPNOTSUPP); }
void wr_send_inv(ibv_qp_ex* qp, uint32_t) { refuse(batch_of(qp), EOPNOTSUPP); }
void wr_send_tso(ibv_qp_ex* qp, void*, uint16_t, uint16_t) { refuse(batch_of(qp), EOPNOTSUPP); }
void wr_atomic_write(ibv_qp_ex* qp, uint32_t, uint64_t, const void*) {
  refuse(batch_of(qp), EOPNOTSUPP);
}
void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah*, uint32_t, uint32_t) { refuse(batch_of(qp), EINVAL); }
void wr_set_xrc_srqn(ibv_qp_ex* qp, uint32_t) { refuse(batch_of(qp), EINVAL); }

void wr_set_sge_list(ibv_qp_ex* qp, size_t count, const ibv_sge* list) {
  Qp& own = *object_of(qp);
  Batch::Entry* entry = open_entry(*own.batch);
  if (entry == nullptr) {
    return;
  }
  if (count > own.max_send_sge) {
    return refuse(*own.batch, EINVAL);
  }
  if (count > 0) {
    memcpy(entry->data, list, count * sizeof(ibv_sge));
  }
  set_list(entry->request, reinterpret_cast<const ibv_sge*>(entry->data),
           static_cast<uint32_t>(count));
}
void wr_set_sge(ibv_qp_ex* qp, uint32_t lkey, uint64_t address, uint32_t length) {
  const ibv_sge sge{address, length, lkey};
  wr_set_sge_list(qp, 1, &sge);
}

void wr_set_inline_data_list(ibv_qp_ex* qp, size_t count, const ibv_data_buf* list) {
  Qp& own = *object_of(qp);
  Batch::Entry* entry = open_entry(*own.batch);
  if (entry == nullptr) {
    return;
  }
  WorkRecord& head = entry->request.head;
  if (head.opcode == IBV_WR_RDMA_READ || completion_opcode(head.opcode) == IBV_WC_COMP_SWAP ||
      completion_opcode(head.opcode) == IBV_WC_FETCH_ADD) {
    return refuse(*own.batch, EINVAL);
  }
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (list[i].length > own.max_inline - bytes) {
      return refuse(*own.batch, EINVAL);
    }
    if (list[i].length > 0) {
      memcpy(entry->data + bytes, list[i].addr, list[i].length);
    }
    bytes += list[i].length;
  }
  head.inline_bytes = static_cast<uint16_t>(bytes);
  head.flags |= IBV_SEND_INLINE;
  entry->request.pieces[0] = Piece{entry->data, static_cast<uint32_t>(bytes)};
  entry->request.count = 1;
}
void wr_set_inline_data(ibv_qp_ex* qp, void* address, size_t length) {
  const ibv_data_buf buffer{address, length};
  wr_set_inline_data_list(qp, 1, &buffer);
}

void wr_start(ibv_qp_ex* qp) {
  Qp& own = *object_of(qp);
  own.send_mutex.lock();
  own.batch->count = 0;
  own.batch->error = 0;
}

void wr_abort(ibv_qp_ex* qp) { object_of(qp)->send_mutex.unlock(); }

int wr_complete(ibv_qp_ex* qp) {
  Qp& own = *object_of(qp);
  Batch& batch = *own.batch;
  int error = batch.error != 0 ? batch.error : check_state(own, false);
  // All or none: only this thread takes places of the queue now.
  if (error == 0 && !has_places(own, own.sends, batch.count)) {
    error = ENOMEM;
  }
  for (uint32_t i = 0; i < batch.count && error == 0; ++i) {
    error = check_opcode(batch.entries[i].request.head.opcode);
  }
  for (uint32_t i = 0; i < batch.count && error == 0; ++i) {
    error = submit_send(own, batch.entries[i].request);
  }
  own.send_mutex.unlock();
  return result(error);
}

}  // namespace

bool fill_builder(Qp& qp) {
  if (!qp.extended) {
    return true;
  }
  Batch* batch = make<Batch>();
  qp.batch = batch;
  if (batch == nullptr) {
    return false;
  }
  batch->room = qp.max_send_wr;
  batch->entries = static_cast<Batch::Entry*>(
      calloc(qp.max_send_wr > 0 ? qp.max_send_wr : 1, sizeof(Batch::Entry)));
  if (batch->entries == nullptr) {
    return false;
  }
  ibv_qp_ex& base = qp.base;
  base.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  base.wr_atomic_fetch_add = wr_atomic_fetch_add;
  base.wr_bind_mw = wr_bind_mw;
  base.wr_local_inv = wr_local_inv;
  base.wr_rdma_read = wr_rdma_read;
  base.wr_rdma_write = wr_rdma_write;
  base.wr_rdma_write_imm = wr_rdma_write_imm;
  base.wr_send = wr_send;
  base.wr_send_imm = wr_send_imm;
  base.wr_send_inv = wr_send_inv;
  base.wr_send_tso = wr_send_tso;
  base.wr_set_ud_addr = wr_set_ud_addr;
  base.wr_set_xrc_srqn = wr_set_xrc_srqn;
  base.wr_set_inline_data = wr_set_inline_data;
  base.wr_set_inline_data_list = wr_set_inline_data_list;
  base.wr_set_sge = wr_set_sge;
  base.wr_set_sge_list = wr_set_sge_list;
  base.wr_start = wr_start;
  base.wr_complete = wr_complete;
  base.wr_abort = wr_abort;
  base.wr_atomic_write = wr_atomic_write;
  return true;
}

void drop_builder(Qp& qp) {
  if (qp.batch != nullptr) {
    free(qp.batch->entries);
    delete qp.batch;
    qp.batch = nullptr;
  }
}

}  // namespace mrclab::verbs
