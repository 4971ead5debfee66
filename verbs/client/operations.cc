#include "verbs/client/operations.h"

#include <string.h>

namespace mrclab::verbs {
namespace {

ibv_mw* no_memory_window(ibv_pd*, ibv_mw_type) { return failed_with<ibv_mw>(EOPNOTSUPP); }
int no_bind(ibv_qp*, ibv_mw*, ibv_mw_bind*) { return failed(EOPNOTSUPP); }
int no_dealloc(ibv_mw*) { return failed(EOPNOTSUPP); }

}  // namespace

void fill_operations(verbs_context& verbs) {
  verbs.sz = sizeof(verbs_context);
  verbs.query_port = query_port;
  verbs.query_device_ex = query_device_ex;
  verbs.query_rt_values = query_rt_values;
  verbs.create_cq_ex = create_cq_ex;
  verbs.modify_cq = modify_cq;
  verbs.create_qp_ex = create_qp_ex;
  verbs.create_srq_ex = create_srq_ex;
  verbs.get_srq_num = get_srq_number;
  ibv_context& context = verbs.context;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context.ops.poll_cq = poll_cq;
  context.ops.req_notify_cq = request_notification;
  context.ops.post_send = post_send;
  context.ops.post_recv = post_receive;
  context.ops.post_srq_recv = post_shared_receive;
  context.ops.alloc_mw = no_memory_window;
  context.ops.bind_mw = no_bind;
  context.ops.dealloc_mw = no_dealloc;
}

}  // namespace mrclab::verbs
