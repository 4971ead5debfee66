// Extended completion queues: one completion at a time, whose fields are read by calls. Between a start_poll that found one
// and end_poll the queue's mutex is held.

#include "verbs/client/operations.h"

namespace mrclab::verbs {
namespace {

constexpr uint64_t kFields = uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                             IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

/// 0, ENOENT: no completion, or another errno; with the mutex held.
int step(Cq& cq) {
  int error = 0;
  if (!take_completion(cq, cq.current, error)) {
    return error != 0 ? error : ENOENT;
  }
  cq.empty_polls = 0;
  cq.base.wr_id = cq.current.wr_id;
  cq.base.status = static_cast<ibv_wc_status>(cq.current.status);
  if (is_held()) {
    program_link().spend(link_data().hello->cost_poll_ps);
  }
  return 0;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attributes) {
  Cq& own = *object_of(cq);
  if (attributes != nullptr && attributes->comp_mask != 0) {
    return failed(EINVAL);
  }
  own.mutex.lock();
  int error = step(own);
  if (error == ENOENT) {
    own.empty_polls += own.empty_polls < UINT32_MAX ? 1 : 0;
    own.mutex.unlock();
    if (!pass_time(own)) {
      return ENOENT;
    }
    own.mutex.lock();
    error = step(own);
  }
  if (error != 0) {
    own.mutex.unlock();
  }
  return error;
}

int next_poll(ibv_cq_ex* cq) { return step(*object_of(cq)); }
void end_poll(ibv_cq_ex* cq) { object_of(cq)->mutex.unlock(); }

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) {
  return static_cast<ibv_wc_opcode>(object_of(cq)->current.opcode);
}
uint32_t read_vendor_error(ibv_cq_ex* cq) { return object_of(cq)->current.vendor_error; }
uint32_t read_bytes(ibv_cq_ex* cq) { return object_of(cq)->current.bytes; }
__be32 read_immediate(ibv_cq_ex* cq) { return object_of(cq)->current.immediate; }
uint32_t read_qp_number(ibv_cq_ex* cq) { return object_of(cq)->current.qpn; }
uint32_t read_source_qp(ibv_cq_ex* cq) { return object_of(cq)->current.source_qpn; }
unsigned int read_flags(ibv_cq_ex* cq) { return object_of(cq)->current.flags; }
uint32_t read_slid(ibv_cq_ex*) { return 0; }
uint8_t read_zero(ibv_cq_ex*) { return 0; }
/// Nanoseconds of fabric time: hca_core_clock is 1 GHz.
uint64_t read_time(ibv_cq_ex* cq) { return object_of(cq)->current.at_ps / 1000; }
uint64_t read_wall_time(ibv_cq_ex* cq) { return link_data().hello->epoch_ns + read_time(cq); }

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* at) {
  constexpr uint32_t kFlags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  const uint32_t flags = (at->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? at->flags : 0;
  if ((at->wc_flags & ~kFields) != 0 ||
      (at->comp_mask & ~uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) != 0 || (flags & ~kFlags) != 0) {
    return failed_with<ibv_cq_ex>(EOPNOTSUPP);
  }
  Cq* cq =
      make_cq(context, at->cqe, at->cq_context, at->channel, static_cast<int>(at->comp_vector));
  if (cq == nullptr) {
    return nullptr;
  }
  ibv_cq_ex& base = cq->base;
  base.start_poll = start_poll;
  base.next_poll = next_poll;
  base.end_poll = end_poll;
  base.read_opcode = read_opcode;
  base.read_vendor_err = read_vendor_error;
  base.read_byte_len = read_bytes;
  base.read_imm_data = read_immediate;
  base.read_qp_num = read_qp_number;
  base.read_src_qp = read_source_qp;
  base.read_wc_flags = read_flags;
  base.read_slid = read_slid;
  base.read_sl = read_zero;
  base.read_dlid_path_bits = read_zero;
  base.read_completion_ts = read_time;
  base.read_completion_wallclock_ns = read_wall_time;
  return &base;
}

int modify_cq(ibv_cq*, ibv_modify_cq_attr*) {
  return failed(EOPNOTSUPP);
}  // no moderation of events

}  // namespace mrclab::verbs
