#pragma once
// What libmrc takes from our libibverbs.so.1: its private table, and the verbs of its own. libmrc links no libibverbs and
// calls no ibv_ symbol by its name: a program may have put a library in front that overrides those and calls libmrc in
// turn (Microsoft's shim does), and would then call itself for ever. The library is found by where the function pointers
// of an ibv_context point to, so that it is found behind dlopen(RTLD_LOCAL), too, and a context that is somebody else's
// is noticed.

#include <infiniband/verbs.h>

#include "verbs/client/shared_client.h"

namespace mrclab::mrc {

/// The verbs that libmrc calls, as those of our libibverbs.
struct Verbs {
  ibv_comp_channel* (*create_comp_channel)(ibv_context*);
  int (*destroy_comp_channel)(ibv_comp_channel*);
  ibv_cq* (*create_cq)(ibv_context*, int, void*, ibv_comp_channel*, int);
  int (*destroy_cq)(ibv_cq*);
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**);
  void (*ack_cq_events)(ibv_cq*, unsigned);
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*);
  int (*destroy_qp)(ibv_qp*);
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*);
  int (*get_async_event)(ibv_context*, ibv_async_event*);
  void (*ack_async_event)(ibv_async_event*);
};

struct Support {
  const verbs::SharedClient* client = nullptr;
  const verbs::HelloReply* hello = nullptr;
  Verbs verbs{};
};

/// Fills in `support` for a context of our libibverbs; false where `context` is null or somebody else's.
bool find_support(ibv_context* context, Support& support);

/// One request to the host. `request` begins with a RequestHeader, `reply` with a ReplyHeader; both are complete but for
/// the request's header. 0 or an errno.
template <typename Request, typename Reply>
int call(const Support& support, verbs::Op op, Request& request, Reply& reply) {
  request.header = {};
  request.header.op = op;
  request.header.size = sizeof(Request);
  return support.client->link()->call(&request, &reply, sizeof(Reply), nullptr);
}

}  // namespace mrclab::mrc
