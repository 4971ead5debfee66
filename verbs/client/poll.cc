// Taking completions from a queue's ring, and what an empty poll does: in wall time a program that spins has to leave the
// processors to the daemons, in held time an empty poll is what lets time pass.

#include "verbs/client/poll.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs/client/operations.h"
#include "verbs/client/requests/emulation.h"
#include "verbs/client/requests/places.h"

namespace mrclab::verbs {
namespace {

/// kWall: so many empty polls in a row are answered at once, each after them may sleep until there is a completion of
/// any queue, and at most so long.
constexpr uint32_t kSpins = 1000;
constexpr long kSleepNs = 250'000;

/// No queue pair has it: numbers have 24 bits.
constexpr uint32_t kNoNumber = UINT32_MAX;

Qp** next_of(Qp& qp, const Cq& cq) {
  return qp.send_cq == &cq ? &qp.next_at_send_cq : &qp.next_at_recv_cq;
}

Qp* find_queue_pair(const Cq& cq, uint32_t qpn) {
  Qp* qp = cq.queue_pairs[qpn % Cq::kBuckets];
  while (qp != nullptr && qp->qpn != qpn) {
    qp = *next_of(*qp, cq);
  }
  return qp;
}

/// Without a server what was posted will not complete by itself.
bool flush_without_server(Cq& cq, CompletionEntry& entry) {
  for (Qp* qp : cq.queue_pairs) {
    for (; qp != nullptr; qp = *next_of(*qp, cq)) {
      if ((qp->send_cq == &cq && flush_oldest(*qp, false, entry)) ||
          (qp->recv_cq == &cq && flush_oldest(*qp, true, entry))) {
        qp->state.store(IBV_QPS_ERR);
        return true;
      }
    }
  }
  return false;
}

void sleep_until_completion(const Cq& cq) {
  WorkRing& work = *link_data().work;
  work.sleeping.store(1);
  if (cq.ring->written.load() == cq.taken) {
    const timespec limit{0, kSleepNs};
    syscall(SYS_futex, &work.sleeping, FUTEX_WAIT, 1, &limit, nullptr, 0);
  }
}

}  // namespace

void join(Cq& cq, Qp& qp) {
  const Guard guard(cq.mutex);
  Qp*& first = cq.queue_pairs[qp.qpn % Cq::kBuckets];
  *next_of(qp, cq) = first;
  first = &qp;
}

void part(Cq& cq, Qp& qp) {
  const Guard guard(cq.mutex);
  for (Qp** at = &cq.queue_pairs[qp.qpn % Cq::kBuckets]; *at != nullptr; at = next_of(**at, cq)) {
    if (*at == &qp) {
      *at = *next_of(qp, cq);
      return;
    }
  }
}

void forget_completions(Cq& cq, uint32_t qpn) {
  const Guard guard(cq.mutex);
  for (uint64_t at = cq.unstashed; at != cq.stashed; ++at) {
    CompletionEntry& entry = cq.stash[at % cq.depth];
    entry.qpn = entry.qpn == qpn ? kNoNumber : entry.qpn;
  }
  const uint64_t written = cq.ring->written.load(std::memory_order_acquire);
  if (written - cq.taken > cq.depth) {
    return;
  }
  for (uint64_t at = cq.taken; at != written; ++at) {
    CompletionEntry& entry = cq.ring->entries[at & (cq.depth - 1)];
    if (entry.qpn == qpn) {
      entry.qpn = kNoNumber;
    }
  }
}

/// From the ring, as the program will see it.
bool take_from_ring(Cq& cq, CompletionEntry& entry, int& error) {
  error = 0;
  for (;;) {
    const uint64_t written = cq.ring->written.load(std::memory_order_acquire);
    if (cq.broken || written - cq.taken > cq.depth) {
      cq.broken = true;
      error = EIO;
      return false;
    }
    if (written == cq.taken) {
      return server_gone(false) && flush_without_server(cq, entry);
    }
    memcpy(&entry, &cq.ring->entries[cq.taken & (cq.depth - 1)], sizeof(entry));
    cq.ring->taken.store(++cq.taken, std::memory_order_release);
    Qp* qp = find_queue_pair(cq, entry.qpn);
    if (qp == nullptr) {
      continue;  // of one that was destroyed or reset
    }
    if (entry.status > IBV_WC_TM_RNDV_INCOMPLETE || entry.opcode > IBV_WC_RECV_RDMA_WITH_IMM) {
      entry.status = IBV_WC_GENERAL_ERR;
      entry.opcode &= IBV_WC_RECV;
    }
    if (entry.status != IBV_WC_SUCCESS) {
      qp->state.store(IBV_QPS_ERR);
    }
    if (qp->emulation != nullptr && !translate(*qp, entry)) {
      continue;
    }
    free_by_completion(*qp, entry);
    return true;
  }
}

bool take_completion(Cq& cq, CompletionEntry& entry, int& error) {
  while (cq.unstashed != cq.stashed) {
    entry = cq.stash[cq.unstashed++ % cq.depth];
    if (entry.qpn != kNoNumber) {
      error = 0;
      return true;
    }
  }
  return take_from_ring(cq, entry, error);
}

void stash_completions(Cq& cq) {
  if (!cq.mutex.try_lock()) {
    return;
  }
  if (cq.stash == nullptr) {
    cq.stash = static_cast<CompletionEntry*>(calloc(cq.depth, sizeof(CompletionEntry)));
  }
  int error = 0;
  CompletionEntry entry;
  while (cq.stash != nullptr && cq.stashed - cq.unstashed < cq.depth &&
         take_from_ring(cq, entry, error)) {
    cq.stash[cq.stashed++ % cq.depth] = entry;
  }
  cq.mutex.unlock();
}

void wait_for_peer(Cq& cq, uint32_t tries) {
  if (is_held()) {
    const PollRequest request{cq.entry.handle, tries};
    tell(Op::kPollEmpty, request);
  } else if (!server_gone(false)) {
    sleep_until_completion(cq);
  }
}

bool pass_time(Cq& cq) {
  if (is_held()) {
    const PollRequest request{cq.entry.handle, cq.empty_polls};
    return tell(Op::kPollEmpty, request) == 0 || server_gone(true);
  }
  if (cq.empty_polls < kSpins) {
    return false;
  }
  if (!server_gone(true)) {
    sleep_until_completion(cq);
  }
  return true;
}

namespace {

/// At most `entries`, or a negative number with errno. `first`: of a poll of the program.
int take_some(Cq& cq, int entries, ibv_wc* completions, bool first) {
  const Guard guard(cq.mutex);
  CompletionEntry entry;
  int count = 0;
  int error = 0;
  while (count < entries && take_completion(cq, entry, error)) {
    to_work_completion(entry, completions[count++]);
  }
  if (count > 0) {
    cq.empty_polls = 0;
  } else if (error != 0) {
    errno = error;
    return -1;
  } else if (first && cq.empty_polls < UINT32_MAX) {
    ++cq.empty_polls;
  }
  return count;
}

}  // namespace

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  Cq& own = *object_of(cq);
  int count = take_some(own, entries, completions, true);
  if (count == 0 && entries > 0 && pass_time(own)) {
    count = take_some(own, entries, completions, false);
  }
  if (count > 0 && is_held()) {
    program_link().spend(link_data().hello->cost_poll_ps);
  }
  return count;
}

void to_work_completion(const CompletionEntry& entry, ibv_wc& wc) {
  wc.wr_id = entry.wr_id;
  wc.status = static_cast<ibv_wc_status>(entry.status);
  wc.opcode = static_cast<ibv_wc_opcode>(entry.opcode);
  wc.vendor_err = entry.vendor_error;
  wc.byte_len = entry.bytes;
  wc.imm_data = entry.immediate;
  wc.qp_num = entry.qpn;
  wc.src_qp = entry.source_qpn;
  wc.wc_flags = entry.flags;
  wc.pkey_index = 0;
  wc.slid = 0;
  wc.sl = 0;
  wc.dlid_path_bits = 0;
}

}  // namespace mrclab::verbs
