// A session's beginning and end, and which request goes where.

#include "verbs/server/verbs_session.h"

#include <cstring>
#include <set>
#include <stdexcept>

#include "verbs/server/host_programs.h"
#include "verbs/server/session_reply.h"

namespace mrclab::verbs {
namespace {

/// The body of a request, if the message has it. Copied: a message lies anywhere.
template <class T>
std::optional<T> body_of(std::span<const uint8_t> request) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (request.size() < sizeof(RequestHeader) + sizeof(T)) return std::nullopt;
  T body;
  std::memcpy(&body, request.data() + sizeof(RequestHeader), sizeof body);
  return body;
}

}  // namespace

VerbsSession::VerbsSession(HostPrograms& programs, SessionUser* user)
    : programs_(programs),
      device_(programs.device()),
      user_(user),
      regions_(device_.query_device().max_memory_regions),
      qps_(device_.query_device().max_queue_pairs),
      controller_number_(programs.controller().admit()) {
  programs_.add(*this);
}

VerbsSession::~VerbsSession() {
  // Queue pairs first: what they have under way refers to everything else.
  qps_.for_each([&](uint32_t, QpObject& qp) {
    programs_.own(qp.qpn, nullptr);
    device_.destroy_queue_pair(qp.qpn);
  });
  srqs_.for_each([&](uint32_t, SrqObject& srq) {
    programs_.own(srq.device, nullptr);
    device_.destroy_shared_receive_queue(srq.device);
  });
  cqs_.for_each([&](uint32_t, CqObject& cq) {
    programs_.own(cq.device, nullptr);
    device_.destroy_completion_queue(cq.device);
  });
  regions_.for_each(
      [&](uint32_t, RegionPlace& place) { device_.deregister_memory(place.object->region); });
  programs_.controller().forget(controller_number_);
  programs_.remove(*this);
}

VerbsSession::Answer VerbsSession::answer(const RequestHeader& request, int status,
                                          std::span<const uint8_t> body) const {
  ReplyHeader header{};
  header.op = request.op;
  header.status = status;
  header.thread = request.thread;
  header.now_ps = static_cast<uint64_t>(std::max(device_.now(), FabricTime::zero()).ps());
  header.rate = rate_;
  header.size = static_cast<uint32_t>(sizeof header + body.size());
  Answer answer;
  answer.message.resize(header.size);
  std::memcpy(answer.message.data(), &header, sizeof header);
  if (!body.empty()) std::memcpy(answer.message.data() + sizeof header, body.data(), body.size());
  return answer;
}

VerbsSession::Answer VerbsSession::handle(std::span<const uint8_t> request,
                                          std::vector<netio::FileDescriptor> descriptors) {
  RequestHeader header;
  Answer broken;
  broken.broken = true;
  if (request.size() < sizeof header) return broken;
  std::memcpy(&header, request.data(), sizeof header);
  if (header.size != request.size() || (header.op != Op::kHello && !greeted_)) return broken;
  // Work that was posted before a request is done before it: a program that destroys a queue pair has posted to it.
  // A full ring is taken in four calls; a program that goes on writing meanwhile waits for its next turn.
  for (int i = 0; greeted_ && mode_ == Mode::kWall && i < 4; ++i) {
    if (!take_work(FabricTime::never())) break;
  }
  if (broken_) return broken;
  Reply reply;
  int status = 0;
  try {
    status = dispatch(header, request, descriptors, reply);
  } catch (const std::invalid_argument&) {
    status = EINVAL;  // the device's word for what it cannot do
  } catch (const netio::SystemError& error) {
    status = error.error_number();
  } catch (const std::bad_alloc&) {
    status = ENOMEM;
  }
  if (status != 0) return answer(header, status);
  Answer good = answer(header, 0, reply.body);
  good.descriptors = std::move(reply.descriptors);
  return good;
}

int VerbsSession::dispatch(const RequestHeader& header, std::span<const uint8_t> request,
                           std::vector<netio::FileDescriptor>& in, Reply& reply) {
  const auto with = [&](auto call, auto example) -> int {
    const auto body = body_of<decltype(example)>(request);
    return body ? call(*body) : EPROTO;
  };
  const auto by_handle = [&](auto member) -> int {
    return with([&](const HandleRequest& r) { return (this->*member)(r.handle); }, HandleRequest{});
  };
  switch (header.op) {
    case Op::kHello:
      return with([&](const HelloRequest& r) { return hello(r, in, reply); }, HelloRequest{});
    case Op::kQueryPort: return query_port(reply);
    case Op::kRegisterMemory:
      return with([&](const RegionRequest& r) { return register_memory(r, reply); },
                  RegionRequest{});
    case Op::kDeregisterMemory: return by_handle(&VerbsSession::deregister_memory);
    case Op::kCreateChannel: return create_channel(reply);
    case Op::kDestroyChannel: return by_handle(&VerbsSession::destroy_channel);
    case Op::kCreateCq:
      return with([&](const CqRequest& r) { return create_cq(r, reply); }, CqRequest{});
    case Op::kDestroyCq: return by_handle(&VerbsSession::destroy_cq);
    case Op::kArmCq: return with([&](const ArmRequest& r) { return arm_cq(r); }, ArmRequest{});
    case Op::kCreateSrq:
      return with([&](const SrqRequest& r) { return create_srq(r, reply); }, SrqRequest{});
    case Op::kModifySrq:
      return with([&](const SrqRequest& r) { return modify_srq(r); }, SrqRequest{});
    case Op::kQuerySrq:
      return with([&](const HandleRequest& r) { return query_srq(r.handle, reply); },
                  HandleRequest{});
    case Op::kDestroySrq: return by_handle(&VerbsSession::destroy_srq);
    case Op::kCreateQp:
      return with([&](const QpRequest& r) { return create_qp(r, reply); }, QpRequest{});
    case Op::kModifyQp:
      return with([&](const ModifyRequest& r) { return modify_qp(r); }, ModifyRequest{});
    case Op::kQueryQp:
      return with([&](const HandleRequest& r) { return query_qp(r.handle, reply); },
                  HandleRequest{});
    case Op::kDestroyQp: return by_handle(&VerbsSession::destroy_qp);
    case Op::kFlushWork: return 0;
    case Op::kQueryProfile:
    case Op::kModifyProfile:
    case Op::kQueryControl:
    case Op::kCreatePathEvents:
    case Op::kDestroyPathEvents:
    case Op::kPollPathEvent:
    case Op::kProbePaths:
    case Op::kPollProbes: return dispatch_controller(header.op, request, reply);
    default: return ENOTSUP;
  }
}

int VerbsSession::hello(const HelloRequest& request, std::vector<netio::FileDescriptor>& in,
                        Reply& reply) {
  if (greeted_) return EALREADY;
  if (request.version != kProtocolVersion) return EPROTO;
  if (in.size() != 1) return EPROTO;
  memory_ = ProgramMemory(std::move(in.front()));
  work_.emplace(netio::SharedPage::create("mrclab-work", sizeof(WorkRing)));
  auto events = netio::MessageSocket::pair();
  events_ = std::move(events.first);

  program_.assign(request.program, ::strnlen(request.program, sizeof request.program));
  process_ = request.process;
  const HostFacts& facts = programs_.facts();
  const endpoint::DeviceAttributes device = device_.query_device();
  HelloReply& told = hello_;
  told.version = kProtocolVersion;
  told.mode = mode_;
  std::strncpy(told.host, facts.name.c_str(), sizeof told.host - 1);
  std::strncpy(told.device, facts.device.c_str(), sizeof told.device - 1);
  std::memcpy(told.gid, facts.gid.data(), sizeof told.gid);
  told.node_guid = facts.node_guid;
  told.host_number = facts.number;
  told.transport = static_cast<uint32_t>(facts.transport);
  told.ports = facts.ports;
  told.max_qp = device.max_queue_pairs;
  told.max_mr = device.max_memory_regions;
  told.max_cq = kMaxCqs;
  told.max_srq = kMaxSrqs;
  told.max_cqe = kMaxCqEntries;
  told.max_wr = endpoint::kMaxWorkRequests;
  told.max_sge = kMaxSges;
  told.max_inline = kMaxInline;
  told.capabilities = kCanWrite | kCanSrq;
  if (facts.transport == endpoint::TransportKind::kRoce) {
    told.capabilities |= kCanSend | kCanRead | kCanAtomic;
  }
  told.rate_bps = facts.rate_bps;
  told.mtu = 4096;
  told.max_wimm = device.max_wimm;
  told.max_mpr = device.max_mpr;
  reply.put(told);
  reply.descriptors.push_back(work_->take_fd());
  reply.descriptors.push_back(events.second.take_fd());
  greeted_ = true;
  return 0;
}

int VerbsSession::query_port(Reply& reply) {
  const endpoint::PortAttributes port = device_.query_port();
  reply.put(PortReply{port.active ? 1u : 0u, port.live_ports, port.gids, 0});
  return 0;
}

uint32_t VerbsSession::domain_of(uint32_t program_domain) {
  const auto known = domains_.find(program_domain);
  if (known != domains_.end()) return known->second;
  if (domains_.size() >= kMaxDomains) forget_empty_domains();
  if (domains_.size() >= kMaxDomains) return 0;
  return domains_[program_domain] = programs_.next_domain();
}

void VerbsSession::forget_empty_domains() {
  std::set<uint32_t> in_use;
  regions_.for_each(
      [&](uint32_t, const RegionPlace& place) { in_use.insert(place.object->domain()); });
  srqs_.for_each([&](uint32_t, const SrqObject& srq) { in_use.insert(srq.domain); });
  qps_.for_each([&](uint32_t, const QpObject& qp) { in_use.insert(qp.domain); });
  std::erase_if(domains_, [&](const auto& domain) { return !in_use.contains(domain.second); });
}

}  // namespace mrclab::verbs
