// Queue pairs of a program: making, changing, looking at and destroying them.

#include "verbs/server/host_programs.h"
#include "verbs/server/queue_pair_rules.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {

int VerbsSession::create_qp(const QpRequest& request, Reply& reply) {
  CqObject* const send_cq = cqs_.find(request.send_cq);
  CqObject* const recv_cq = cqs_.find(request.recv_cq);
  SrqObject* const srq = srqs_.find(request.srq);
  if (send_cq == nullptr || recv_cq == nullptr || (request.srq != 0 && srq == nullptr)) {
    return ENOENT;
  }
  if (request.max_send_wr > endpoint::kMaxWorkRequests ||
      request.max_recv_wr > endpoint::kMaxWorkRequests || request.max_send_sge > kMaxSges ||
      request.max_recv_sge > kMaxSges || request.max_inline > kMaxInline ||
      request.transport != static_cast<uint32_t>(programs_.facts().transport)) {
    return EINVAL;
  }
  const uint32_t handle = qps_.free_handle();
  const uint32_t domain = domain_of(request.domain);
  const uint32_t places = request.max_send_wr + request.max_recv_wr;
  if (handle == 0 || domain == 0 || work_places_ + places > kMaxWork) return ENOMEM;

  endpoint::QpInitAttributes attributes;
  attributes.send_cq = send_cq->device;
  attributes.recv_cq = recv_cq->device;
  // A program may ask for a queue of no places, and the device has at least one.
  attributes.max_send_wr = std::max(request.max_send_wr, 1u);
  attributes.max_recv_wr = request.max_recv_wr;
  attributes.transport = programs_.facts().transport;
  attributes.domain = domain;
  if (srq != nullptr) attributes.srq = srq->device;
  auto qp = std::make_unique<QpObject>();
  try {
    qp->qpn = device_.create_queue_pair(attributes);
  } catch (const std::invalid_argument&) {
    return ENOMEM;  // other programs of the host have the rest
  }
  qp->handle = handle;
  qp->request = request;
  qp->domain = domain;
  qp->send_cq = send_cq;
  qp->recv_cq = recv_cq;
  qp->srq = srq;
  ++send_cq->users;
  ++recv_cq->users;
  if (srq != nullptr) ++srq->users;
  work_places_ += places;
  qp_of_number_[qp->qpn.value] = handle;
  programs_.own(qp->qpn, this);
  reply.put(QpReply{handle, qp->qpn.value, request.max_send_wr, request.max_recv_wr,
                    request.max_send_sge, request.max_recv_sge, request.max_inline, 0});
  qps_.put(handle, std::move(qp));
  return 0;
}

int VerbsSession::modify_qp(const ModifyRequest& request) {
  QpObject* const qp = qps_.find(request.handle);
  if (qp == nullptr) return ENOENT;
  const IbvState from = state_of(device_.query_queue_pair(qp->qpn).state);
  const auto transport = static_cast<endpoint::TransportKind>(qp->request.transport);
  if (const int wrong = check_transition(transport, from, request); wrong != 0) return wrong;
  const IbvState to =
      (request.mask & kMaskState) != 0 ? static_cast<IbvState>(request.attributes.state) : from;
  // Only what the device has taken counts afterwards.
  QpAttributesWire wanted = qp->attributes;
  merge(wanted, request);
  const uint32_t masks = qp->masks | request.mask, mrc_masks = qp->mrc_masks | request.mrc_mask;
  if (to == IbvState::kReset) {
    // What was complete before is the program's to poll, and no place of it may be given away before it is handed over.
    deliver();
    device_.modify_to_reset(qp->qpn);
    release_work_of(*qp);
    qp->attributes = {};
    qp->masks = qp->mrc_masks = 0;
    return 0;
  }
  if (to == IbvState::kError) {
    if (from != IbvState::kReset) device_.modify_to_error(qp->qpn);
    pump_waiting();
    return 0;
  }
  if (from == to) {
    if ((request.mask & kMaskAccess) != 0) device_.modify_access(qp->qpn, access_of(wanted.access));
  } else if (to == IbvState::kInit) {
    endpoint::InitAttributes init = init_of(wanted);
    // A profile of congestion control that is ONLINE has the host's own parameters: to the device it is none.
    if (programs_.controller().profiles().is_cc_online(init.cc_profile_id)) init.cc_profile_id = 0;
    device_.modify(qp->qpn, init);
  } else if (to == IbvState::kReadyToReceive) {
    if (!has_address(wanted.sgid_index)) return ENODATA;
    if ((request.mask & kMaskAccess) != 0) device_.modify_access(qp->qpn, access_of(wanted.access));
    device_.modify(qp->qpn, receive_of(wanted, mrc_masks));
  } else {
    if ((request.mask & kMaskAccess) != 0) device_.modify_access(qp->qpn, access_of(wanted.access));
    device_.modify(qp->qpn, send_of(transport, wanted, masks, mrc_masks));
  }
  qp->attributes = wanted;
  qp->masks = masks;
  qp->mrc_masks = mrc_masks;
  return 0;
}

/// Linux looks the entry up on the way to RTR alone and keeps it for the queue pair (rdma_get_gid_attr): one that is
/// connected outlives a table that moves, and whoever connects with an index that it has remembered gets ENODATA.
bool VerbsSession::has_address(uint8_t gid_index) const {
  return gid_index < 32 && (device_.query_port().gids >> gid_index & 1) != 0;
}

int VerbsSession::query_qp(uint32_t handle, Reply& reply) {
  const QpObject* const qp = qps_.find(handle);
  if (qp == nullptr) return ENOENT;
  const endpoint::QpAttributes now = device_.query_queue_pair(qp->qpn);
  QpAttributesWire told = qp->attributes;
  told.state = static_cast<uint32_t>(state_of(now.state));
  reply.put(QueryReply{told});
  return 0;
}

int VerbsSession::destroy_qp(uint32_t handle) {
  QpObject* const qp = qps_.find(handle);
  if (qp == nullptr) return ENOENT;
  deliver();  // as above
  programs_.own(qp->qpn, nullptr);
  device_.destroy_queue_pair(qp->qpn);
  release_work_of(*qp);
  qp_of_number_.erase(qp->qpn.value);
  --qp->send_cq->users;
  --qp->recv_cq->users;
  if (qp->srq != nullptr) --qp->srq->users;
  work_places_ -= qp->request.max_send_wr + qp->request.max_recv_wr;
  qps_.remove(handle);
  return 0;
}

void VerbsSession::release_work_of(QpObject& qp) {
  slots_.release_if([&](const WorkSlot& slot) {
    if (slot.shared || slot.owner != qp.handle) return false;
    copied_bytes_ -= slot.bytes;
    return true;
  });
  qp.bytes_under_way = 0;
  qp.waiting.clear();
  waiting_qps_.erase(qp.handle);
  pump_waiting();
}

QpObject* VerbsSession::qp_of(Qpn qpn) {
  const auto handle = qp_of_number_.find(qpn.value);
  return handle != qp_of_number_.end() ? qps_.find(handle->second) : nullptr;
}

}  // namespace mrclab::verbs
