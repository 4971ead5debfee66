#pragma once
// The operations of a context: the inline functions of verbs.h call them without a symbol.

#include <stdio.h>

#include "verbs/client/objects.h"

namespace mrclab::verbs {

/// All that this device has; what is left null is EOPNOTSUPP in the inline functions.
void fill_operations(verbs_context& verbs);
bool is_own_device(const ibv_device* device);

// device_query.cc
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, size_t bytes);
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attributes, size_t bytes);
int query_rt_values(ibv_context* context, ibv_values_ex* values);

// poll.cc
int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions);
int request_notification(ibv_cq* cq, int solicited_only);
/// The next completion, or false: there is none; with the queue's mutex held. A ring that cannot be right: `error`.
bool take_completion(Cq& cq, CompletionEntry& entry, int& error);
/// After a poll that found nothing, without the mutex: lets time pass. Whether to look again at once.
bool pass_time(Cq& cq);

// cq_extended.cc
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes);
// cq.cc
Cq* make_cq(ibv_context* context, uint32_t depth, void* user, ibv_comp_channel* channel,
            int vector);

// qp.cc
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
// qp_extended.cc
/// False: no memory; drop_builder is then still to be called.
bool fill_builder(Qp& qp);
void drop_builder(Qp& qp);

// post.cc
int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad);
int post_shared_receive(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad);

// srq.cc
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes);
int get_srq_number(ibv_srq* srq, uint32_t* number);

}  // namespace mrclab::verbs
