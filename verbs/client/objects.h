#pragma once
// The objects behind the pointers that a program gets. Each begins with the public struct of verbs.h (a context: ends
// with it), which the program may write to: what the library relies on is kept beside it, and a handle or context
// that was changed is refused with ENOENT.

#include <atomic>

#include "verbs/client/abi.h"
#include "verbs/client/guard.h"
#include "verbs/client/link.h"

namespace mrclab::verbs {

inline constexpr uint32_t kMaxPds = 1024;
inline constexpr uint32_t kMaxAhs = 1024;
inline constexpr uint32_t kGidTable = 8;  ///< the address is at 0 to 3, or has moved to 4 to 7
inline constexpr uint32_t kMessageMax = 1u << 30;  ///< IBTA allows 2^31

struct Context {
  verbs_context verbs;  ///< ends with the ibv_context
  std::atomic<uint32_t>
      holders;  ///< itself until it is closed, and each object that was made in it
};
Context* context_of(ibv_context* context);
/// A kernel destroys what a program leaves behind when it closes a context; here it stays usable, and the context lives as
/// long as the last of its objects.
void hold(ibv_context* context);
void drop(ibv_context* context);

struct Pd {
  ibv_pd base;
  ibv_context* context;
  uint32_t domain;  ///< = base.handle
  std::atomic<uint32_t> users;
};

struct Mr {
  ibv_mr base;
  ibv_context* context;
  Pd* pd;
  uint32_t handle;
};

struct Ah {
  ibv_ah base;
  Pd* pd;
  uint32_t handle;
  ibv_ah_attr attributes;
};

/// A channel, a completion queue, a shared receive queue or a queue pair is found again by its handle when an event names
/// it (registry.h).
enum class Kind : uint8_t { kCq, kQp, kSrq };
struct Registered {
  Kind kind;
  uint32_t handle;
  void* object;  ///< a Cq, Qp or Srq
  Registered* next;
  uint32_t async_events;  ///< given to the program, under the lock of the registry
};

struct Channel {
  ibv_comp_channel base;
  ibv_context* context;
  uint32_t handle;
  int fd;
  std::atomic<uint32_t> users;
};

struct Qp;
struct Cq {
  ibv_cq_ex base;  ///< an ibv_cq as far as that goes
  Registered entry;
  ibv_context* context;
  Channel* channel;
  std::atomic<uint32_t> users;
  Mutex mutex;  ///< of the reader's side of the ring, and of `queue_pairs`
  CompletionRing* ring;
  size_t mapped;
  uint32_t depth;
  uint64_t taken;           ///< ring->taken, which anyone could write
  bool broken;              ///< the ring is not one any more
  uint32_t empty_polls;     ///< in a row
  uint32_t channel_events;  ///< given to the program, under base.mutex
  /// Those whose completions come here, by number.
  static constexpr uint32_t kBuckets = 64;
  Qp* queue_pairs[kBuckets];
  /// Taken from the ring for what the library itself waits for (emulation.h), and not yet seen by the program.
  CompletionEntry* stash;
  uint64_t stashed, unstashed;
  // Extended polling: between start_poll and end_poll the mutex is held.
  CompletionEntry current;
};

/// The requests of one queue that hold a place: which they were, in order.
struct Places {
  struct Place {
    uint64_t wr_id;
    uint32_t opcode;  ///< ibv_wc_opcode of its completion
    bool signaled;
  };
  Place* places;
  uint32_t room;
  uint64_t posted, freed;
};

struct Srq {
  ibv_srq base;
  Registered entry;
  ibv_context* context;
  Pd* pd;
  std::atomic<uint32_t> users;
  Mutex mutex;
  uint32_t max_wr, max_sge;
  std::atomic<uint32_t> outstanding;
};

struct Emulation;
struct Qp {
  ibv_qp_ex base;
  Registered entry;
  ibv_context* context;
  Pd* pd;
  Cq* send_cq;
  Cq* recv_cq;
  Srq* srq;
  Qp* next_at_send_cq;
  Qp* next_at_recv_cq;
  uint32_t qpn;
  bool extended;
  bool signal_all;
  uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
  uint64_t send_ops;  ///< of IBV_QP_EX_WITH_*: what the program asked for

  Mutex send_mutex;  ///< of what is posted to the send queue
  Mutex recv_mutex;
  Mutex places_mutex;  ///< taken last: `sends` and `receives`, by who posts and by who polls
  Places sends, receives;
  std::atomic<uint32_t> state;  ///< as the program set it, or a completion with an error showed it
  ibv_qp_attr attributes;       ///< what was set, for ibv_query_qp

  // ibv_wr_*: between wr_start and wr_complete the send_mutex is held.
  struct Batch* batch;
  Emulation* emulation;
};

/// Whether the public part still says what this library put there.
inline bool intact(const Pd& pd) {
  return pd.base.handle == pd.domain && pd.base.context == pd.context;
}
inline bool intact(const Mr& mr) {
  return mr.base.handle == mr.handle && mr.base.context == mr.context;
}
inline bool intact(const Cq& cq) {
  return cq.base.handle == cq.entry.handle && cq.base.context == cq.context;
}
inline bool intact(const Srq& srq) {
  return srq.base.handle == srq.entry.handle && srq.base.context == srq.context;
}
inline bool intact(const Qp& qp) {
  return qp.base.qp_base.handle == qp.entry.handle && qp.base.qp_base.context == qp.context;
}

inline Pd* object_of(ibv_pd* pd) { return reinterpret_cast<Pd*>(pd); }
inline Mr* object_of(ibv_mr* mr) { return reinterpret_cast<Mr*>(mr); }
inline Cq* object_of(ibv_cq* cq) { return reinterpret_cast<Cq*>(cq); }
inline Cq* object_of(ibv_cq_ex* cq) { return reinterpret_cast<Cq*>(cq); }
inline Qp* object_of(ibv_qp* qp) { return reinterpret_cast<Qp*>(qp); }
inline Qp* object_of(ibv_qp_ex* qp) { return reinterpret_cast<Qp*>(qp); }
inline Srq* object_of(ibv_srq* srq) { return reinterpret_cast<Srq*>(srq); }
inline Channel* object_of(ibv_comp_channel* channel) { return reinterpret_cast<Channel*>(channel); }

}  // namespace mrclab::verbs
