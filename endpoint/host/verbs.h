#pragma once
// The verbs of MRC 1.0: memory, queue pairs, posts, completions and asynchronous events of one host,
// for programs that are no state machine of the host's own (application.h). Names follow the OCP MRC
// API (mrc.h) and ibverbs where they have one; what is a C struct with a mask there is one type per
// transition here, so that an attribute cannot be forgotten. Only RDMA Write and Write-with-Immediate; a queue
// pair of the other transport, RC over RoCEv2, has SENDs, READs and atomics as well.
//
//   Device& device = host.device();
//   const CqHandle cq = device.create_completion_queue(256);
//   const MemoryRegion inbox = device.register_memory(memory);       // the peer needs: va, rkey
//   const Qpn qp = device.create_queue_pair({.send_cq = cq, .recv_cq = cq});  // and: qpn, first PSN
//   ...exchange with the peer, out of band...
//   device.modify(qp, InitAttributes{});                             // RESET -> INIT
//   device.modify(qp, ReadyToReceiveAttributes{.remote_address = a, .remote_qpn = q, .rq_psn = p});
//   device.modify(qp, ReadyToSendAttributes{.sq_psn = mine});        // -> RTR -> RTS
//   device.post_receive(qp, {.id = 1});       // one per Write-with-Immediate: there is no RNR
//   device.post(qp, {.id = 7, .immediate = 5, .local = bytes, .remote_va = va, .rkey = key});
//   ...run the host (WallDriver::poll, a simulator)...
//   WorkCompletion done[16];
//   for (const WorkCompletion& c : device.poll_completions(cq, done)) ...
//   while (const auto event = device.next_async_event()) ...
//
// Pure: nothing here blocks, runs a thread or reads a clock. What is posted starts to leave at the next run_until() of
// the host; completions and events are there after it. Call it from the host's one thread, between run_until() calls or
// as a DeviceUser at fabric time.
//
// Errors: set-up calls throw std::invalid_argument with what was asked, in which state, and what would
// be right; posting returns a PostResult. A failed queue pair completes everything that was posted
// (the write to blame with its reason, the rest flushed) and reports kQpFatal.

#include <cstdint>
#include <optional>
#include <span>

#include "endpoint/device/verbs_types.h"

namespace mrclab::endpoint {

/// A program of the host that runs at fabric time: the device calls it within run_until(), at the instant at which
/// something happened. In on_wake() it may call every function of the device; the other calls come in the middle of
/// what the host does, so a user that wants to act there asks for `wake_at(now())`.
class DeviceUser {
 public:
  virtual ~DeviceUser() = default;
  /// A completion was put into the queue.
  virtual void on_completion(CqHandle) {}
  /// next_async_event() has one.
  virtual void on_async_event() {}
  /// next_path_probe() has one.
  virtual void on_path_probe() {}
  /// A packet wrote to memory that is reached by an accessor.
  virtual void on_memory_written() {}
  /// An instant that wake_at() named has come. While the host is paused its software stands still, and this call
  /// waits.
  virtual void on_wake() {}
  /// The host lost its power: all queue pairs are in error without a completion, and no call that was asked for comes.
  virtual void on_power_lost() {}
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceAttributes query_device() const = 0;

  /// Null: nobody is called. It outlives the device, or is taken back.
  virtual void set_user(DeviceUser* user) = 0;
  /// Calls DeviceUser::on_wake() at `at`, or now if that is past; once for all requests of one instant that were made
  /// before it.
  virtual void wake_at(FabricTime at) = 0;
  /// The instant of the event in hand, or how far the host has run.
  virtual FabricTime now() const = 0;

  virtual PortAttributes query_port() const = 0;
  /// After all ports were dark, does the host's address come back at other entries of the table of GIDs, with
  /// kGidChange behind kPortActive? So Linux does where an interface's IPv4 address is there only after its link is
  /// (seen in NCCL's issue 2157). At first as the transport's profile has it.
  virtual void set_gid_moves(bool moves) = 0;

  /// Lets peers that have the rkey access `memory`, which must stay until it is deregistered.
  virtual MemoryRegion register_memory(std::span<uint8_t> memory,
                                       AccessFlags access = AccessFlags::all(),
                                       uint32_t domain = 0) = 0;
  /// The same for `length` bytes from `va` on, which need be no address of this process: offset 0 of `memory` is `va`.
  virtual MemoryRegion register_memory(RegionAccess& memory, uint64_t va, Bytes length,
                                       AccessFlags access, uint32_t domain = 0) = 0;
  /// Refuses accesses to the region from here on: remote access error at the peer.
  virtual void deregister_memory(const MemoryRegion& region) = 0;

  /// Holds `depth` completions (1 to 65,536). One that finds it full is lost, with kCqError.
  virtual CqHandle create_completion_queue(uint32_t depth) = 0;
  /// Takes up to out.size() completions, oldest first; the used front of `out`.
  virtual std::span<WorkCompletion> poll_completions(CqHandle cq,
                                                     std::span<WorkCompletion> out) = 0;
  /// Throws while a queue pair uses it.
  virtual void destroy_completion_queue(CqHandle cq) = 0;

  virtual SrqHandle create_shared_receive_queue(const SrqAttributes& attributes) = 0;
  /// The limit alone can be changed.
  virtual void modify_shared_receive_queue(SrqHandle srq, uint32_t limit) = 0;
  virtual SrqAttributes query_shared_receive_queue(SrqHandle srq) const = 0;
  /// Throws while a queue pair uses it.
  virtual void destroy_shared_receive_queue(SrqHandle srq) = 0;

  /// Creates it in state RESET. The QPN is random in its upper half, so that old packets reach no
  /// queue pair.
  virtual Qpn create_queue_pair(const QpInitAttributes& attributes) = 0;
  /// A first PSN for the queue pair, drawn from the host's seed (the caller may take any other).
  virtual Psn draw_first_psn(Qpn qpn) = 0;
  virtual void modify(Qpn qpn, const InitAttributes& attributes) = 0;
  virtual void modify(Qpn qpn, const ReadyToReceiveAttributes& attributes) = 0;
  virtual void modify(Qpn qpn, const ReadyToSendAttributes& attributes) = 0;
  /// From INIT on: what the peer may do.
  virtual void modify_access(Qpn qpn, AccessFlags access) = 0;
  /// To ERROR: everything outstanding is flushed.
  virtual void modify_to_error(Qpn qpn) = 0;
  /// To RESET, from any state: what is outstanding is gone without a completion.
  virtual void modify_to_reset(Qpn qpn) = 0;
  virtual QpAttributes query_queue_pair(Qpn qpn) const = 0;
  /// Destroys it at once; nothing completes any more. The peer gets no report.
  virtual void destroy_queue_pair(Qpn qpn) = 0;

  /// Completes when the peer's transport ACK covers the whole request, or its answer is in memory; in the order of
  /// posting.
  virtual PostResult post(Qpn qpn, WorkRequest request) = 0;
  /// For one SEND or one message with immediate.
  virtual PostResult post_receive(Qpn qpn, ReceiveRequest request) = 0;
  virtual PostResult post_receive(SrqHandle srq, ReceiveRequest request) = 0;

  virtual std::optional<AsyncEvent> next_async_event() = 0;

  // The controller's (mrc_ctl.h).
  virtual EvProfileAttributes query_ev_profile(uint64_t id) const = 0;
  /// INIT <-> OFFLINE <-> ONLINE; mode and values from INIT or in OFFLINE. Throws while queue pairs use it.
  virtual void modify_ev_profile(uint64_t id, const EvProfileAttributes& attributes) = 0;
  virtual CcProfileAttributes query_cc_profile(uint64_t id) const = 0;
  /// Takes a path out of use towards one host, or all, or allows it again.
  virtual void deny_path(EntropyValue ev, std::optional<Ipv6Address> to, bool denied) = 0;
  /// The oldest event of an entropy value's state that was not polled yet.
  virtual std::optional<EvEvent> poll_ev_event() = 0;
  /// Sends a probe on each path to a host that this one has MRC queue pairs with. next_path_probe() has the answers as
  /// they come, and what has none after `timeout`. Returns the number of the request.
  virtual uint64_t probe_paths(const Ipv6Address& to, std::span<const EntropyValue> evs,
                               FabricTime timeout) = 0;
  virtual std::optional<PathProbe> next_path_probe() = 0;
};

}  // namespace mrclab::endpoint
