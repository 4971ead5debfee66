#pragma once
// What libibverbs.so.1 of ours exports beside the verbs, for libmrc.so of ours alone: one symbol, `mrclab_verbs_client`, of
// the version node MRCLAB_1. libmrc.so names libibverbs.so.1 as a library that it needs; both then use one link, and
// contexts, protection domains, regions, queues and queue pairs are the same objects in both.

#include "verbs/client/abi.h"

#include "verbs/client/program_link.h"

namespace mrclab::verbs {

inline constexpr uint32_t kSharedClientVersion = 1;

struct SharedClient {
  uint32_t version;  ///< kSharedClientVersion
  uint32_t size;     ///< sizeof(SharedClient)

  const ProgramLink* (*link)();

  /// As ibv_modify_qp, with the attributes that MRC adds; which of them hold, `mrc_mask` says (the bits of mrc.h). Of
  /// `mrc` only what is not in ibv_qp_attr is read. No rule of RC about which attributes a transition needs is
  /// applied. 0 or an errno, which is set, too.
  int (*modify_qp)(ibv_qp* qp, const ibv_qp_attr* attributes, int mask, const QpAttributesWire* mrc,
                   uint32_t mrc_mask);

  /// The server's view of the queue pair. 0 or an errno, which is set, too.
  int (*query_qp)(ibv_qp* qp, QpAttributesWire* attributes);

  /// Whether this context, or the context of this queue pair, was opened here: any other pointer is someone else's.
  bool (*owns_context)(const ibv_context* context);
  bool (*owns_qp)(const ibv_qp* qp);
};

using SharedClientFunction = const SharedClient* (*)();

}  // namespace mrclab::verbs

/// Never null; the table is static.
extern "C" __attribute__((visibility("default"))) const mrclab::verbs::SharedClient*
mrclab_verbs_client(void);
