// Regions, channels, completion queues and shared receive queues of a program.

#include <bit>

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {
namespace {

/// ibv_srq_attr_mask.
constexpr uint32_t kSrqMaxWr = 1, kSrqLimit = 2;

endpoint::AccessFlags flags_of(uint32_t access) {
  return {(access & kLocalWrite) != 0, (access & kRemoteWrite) != 0, (access & kRemoteRead) != 0,
          (access & kRemoteAtomic) != 0};
}

}  // namespace

int VerbsSession::register_memory(const RegionRequest& request, Reply& reply) {
  // As ibv_reg_mr(3): remote writes and atomics need the right to write here.
  const bool remote = (request.access & (kRemoteWrite | kRemoteAtomic)) != 0;
  if (remote && (request.access & kLocalWrite) == 0) return EINVAL;
  if (request.length == 0 || request.address + request.length < request.address ||
      request.iova + request.length < request.iova) {
    return EINVAL;
  }
  if (!memory_.has(request.address, request.length)) return EFAULT;
  const uint32_t handle = regions_.free_handle();
  const uint32_t domain = domain_of(request.domain);
  if (handle == 0 || domain == 0) return ENOMEM;
  auto object = std::make_shared<RegionObject>(memory_, request, domain);
  try {
    object->region = device_.register_memory(*object, request.iova, Bytes{request.length},
                                             flags_of(request.access), domain);
  } catch (const std::invalid_argument&) {
    return ENOMEM;  // other programs of the host have the rest
  }
  region_of_key_[object->region.rkey] = handle;
  reply.put(RegionReply{handle, object->region.rkey, object->region.rkey, 0});
  regions_.put(handle, std::make_unique<RegionPlace>(RegionPlace{std::move(object)}));
  return 0;
}

int VerbsSession::deregister_memory(uint32_t handle) {
  const RegionPlace* const place = regions_.find(handle);
  if (place == nullptr) return ENOENT;
  device_.deregister_memory(place->object->region);
  place->object->end();
  region_of_key_.erase(place->object->region.rkey);
  regions_.remove(handle);
  return 0;
}

std::shared_ptr<RegionObject> VerbsSession::region_of(uint32_t lkey) {
  const auto handle = region_of_key_.find(lkey);
  return handle != region_of_key_.end() ? regions_.find(handle->second)->object : nullptr;
}

int VerbsSession::create_channel(Reply& reply) {
  const uint32_t handle = channels_.free_handle();
  if (handle == 0) return ENOMEM;
  auto ends = netio::MessageSocket::pair();
  channels_.put(handle, std::make_unique<ChannelObject>(ChannelObject{std::move(ends.first)}));
  reply.put(HandleReply{handle, 0});
  reply.descriptors.push_back(ends.second.take_fd());
  return 0;
}

int VerbsSession::destroy_channel(uint32_t handle) {
  const ChannelObject* const channel = channels_.find(handle);
  if (channel == nullptr) return ENOENT;
  if (channel->users != 0) return EBUSY;
  channels_.remove(handle);
  return 0;
}

int VerbsSession::create_cq(const CqRequest& request, Reply& reply) {
  if (request.depth == 0 || request.depth > kMaxCqEntries) return EINVAL;
  ChannelObject* const channel = channels_.find(request.channel);
  if (request.channel != 0 && channel == nullptr) return ENOENT;
  const uint32_t handle = cqs_.free_handle();
  const uint32_t depth = std::bit_ceil(request.depth);
  const uint64_t bytes =
      offsetof(CompletionRing, entries) + uint64_t{depth} * sizeof(CompletionEntry);
  if (handle == 0 || ring_bytes_ + bytes > kRingBytes) return ENOMEM;
  netio::SharedPage memory = netio::SharedPage::create("mrclab-completions", bytes);
  reply.descriptors.push_back(memory.take_fd());
  // What the program does not poll in time is lost in its ring; the device's own queue has room for all that becomes
  // complete between two deliveries, of unsignaled work as well.
  const endpoint::CqHandle device = device_.create_completion_queue(kMaxCqEntries);
  CqObject& cq = cqs_.put(handle, std::make_unique<CqObject>(std::move(memory)));
  cq.handle = handle;
  cq.device = device;
  cq.depth = depth;
  cq.bytes = bytes;
  cq.channel = request.channel;
  if (channel != nullptr) ++channel->users;
  ring_bytes_ += bytes;
  cq_of_device_[device.value] = handle;
  programs_.own(device, this);
  reply.put(HandleReply{handle, depth});
  return 0;
}

int VerbsSession::destroy_cq(uint32_t handle) {
  const CqObject* const cq = cqs_.find(handle);
  if (cq == nullptr) return ENOENT;
  if (cq->users != 0) return EBUSY;
  programs_.own(cq->device, nullptr);
  device_.destroy_completion_queue(cq->device);
  cq_of_device_.erase(cq->device.value);
  ring_bytes_ -= cq->bytes;
  if (ChannelObject* const channel = channels_.find(cq->channel)) --channel->users;
  cqs_.remove(handle);
  return 0;
}

int VerbsSession::arm_cq(const ArmRequest& request) {
  CqObject* const cq = cqs_.find(request.cq);
  if (cq == nullptr) return ENOENT;
  if (cq->channel == 0) return EINVAL;
  // Armed for any completion, it stays so (ibv_req_notify_cq).
  if (request.solicited_only == 0) {
    cq->armed = CqObject::Armed::kAny;
  } else if (cq->armed == CqObject::Armed::kNo) {
    cq->armed = CqObject::Armed::kSolicited;
  }
  return 0;
}

int VerbsSession::create_srq(const SrqRequest& request, Reply& reply) {
  if (request.max_wr == 0 || request.max_wr > endpoint::kMaxWorkRequests ||
      request.max_sge > kMaxSges) {
    return EINVAL;
  }
  const uint32_t handle = srqs_.free_handle();
  const uint32_t domain = domain_of(request.domain);
  if (handle == 0 || domain == 0 || work_places_ + request.max_wr > kMaxWork) return ENOMEM;
  const endpoint::SrqHandle device =
      device_.create_shared_receive_queue({.max_wr = request.max_wr, .limit = 0});
  work_places_ += request.max_wr;
  srqs_.put(handle, std::make_unique<SrqObject>(SrqObject{handle, device, request, domain}));
  programs_.own(device, this);
  reply.put(HandleReply{handle, request.max_wr});
  return 0;
}

int VerbsSession::modify_srq(const SrqRequest& request) {
  SrqObject* const srq = srqs_.find(request.handle);
  if (srq == nullptr) return ENOENT;
  if ((request.mask & ~(kSrqMaxWr | kSrqLimit)) != 0) return EINVAL;
  // Not every device can change its size (ibv_modify_srq(3)); this one cannot.
  if ((request.mask & kSrqMaxWr) != 0) return EOPNOTSUPP;
  if ((request.mask & kSrqLimit) != 0) {
    if (request.limit > srq->attributes.max_wr) return EINVAL;
    device_.modify_shared_receive_queue(srq->device, request.limit);
  }
  return 0;
}

int VerbsSession::query_srq(uint32_t handle, Reply& reply) {
  const SrqObject* const srq = srqs_.find(handle);
  if (srq == nullptr) return ENOENT;
  const endpoint::SrqAttributes now = device_.query_shared_receive_queue(srq->device);
  reply.put(SrqReply{now.max_wr, srq->attributes.max_sge, now.limit, 0});
  return 0;
}

int VerbsSession::destroy_srq(uint32_t handle) {
  const SrqObject* const srq = srqs_.find(handle);
  if (srq == nullptr) return ENOENT;
  if (srq->users != 0) return EBUSY;
  programs_.own(srq->device, nullptr);
  device_.destroy_shared_receive_queue(srq->device);
  slots_.release_if([&](const WorkSlot& slot) { return slot.shared && slot.owner == handle; });
  work_places_ -= srq->attributes.max_wr;
  srqs_.remove(handle);
  return 0;
}

}  // namespace mrclab::verbs
