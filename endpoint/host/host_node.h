#pragma once
// A host: one NIC with a port per plane, its MRC queue pairs and the applications on them. Pure: no
// clock, no sockets; the live world and the simulator drive the same object. One thread at a time.
//
//   arrival --(+ host_latency)--> NIC checks -> queue pair (responder or requester) -> application
//   application -> send queue -> [port free] -> next packet on a GOOD EV of that port -> wire
//
// Data is pulled: a packet is made when a port becomes free, so that it uses the newest feedback
// (MRC specification §9.3: GetSendParams). Control packets wait in a short queue per port and go
// first.
//
// Records (PacketRecord) follow the switches: kPassed/kIngress when the last bit arrived;
// kDropped/kIngress at that time if the wire cut or lost it, or one ingress latency later if the
// NIC refused it; kPassed/kEgress at the start of transmission with the time of the last bit.
//
// Events: fabric/node/event_kind.h has those of hosts. Windows are reported beside events, as WindowRecord.
//
// Limits: arrivals in hand are bounded by their frame pool, control queues by kControlQueueLimit,
// sends by the MPR window and the send queue. Nothing is allocated per packet once warm.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/host/host_account.h"
#include "endpoint/host/host_config.h"
#include "endpoint/host/verbs.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/ev_events.h"
#include "fabric/node/node.h"
#include "fabric/node/pause_account.h"

namespace mrclab::endpoint {

class HostImpl;
class HostRoutes;

class HostNode : public Node {
 public:
  /// `environment.self` must be a host of the topology. Throws std::invalid_argument if a workload
  /// does not fit the topology.
  HostNode(const NodeEnvironment& environment, const HostConfig& config);
  ~HostNode() override;

  void receive(PortId port, Arrival&& arrival) override;
  ArrivalQueue* arrivals() override;
  void apply(const ScheduledEffect& effect) override;
  FabricTime next_event() const override;
  void fetch() const override;
  void run_until(FabricTime committed, FrameSink& out) override;

  /// Counters as of the committed time.
  HostStats stats() const;
  /// Its account of pauses; empty where the fabric pauses nothing.
  std::optional<NodePauses> pauses() const;
  /// The counts of every queue pair, in the order in which they were made.
  std::vector<QueueCounts> queues() const;
  /// The oldest event about an entropy value that the controller has not polled yet.
  std::optional<EvEvent> poll_ev_event();
  /// Has every application of this host done all its work? True if there is none.
  bool finished() const;
  /// The same of those that end by themselves, not at the run's end.
  bool work_ended() const;
  /// The measurements of its applications; streams and pings are measured at the sender.
  std::vector<WorkReport> work() const;
  /// The ranks of jobs that it runs, as far as they came.
  std::vector<JobReport> jobs() const;
  /// Null where NICs do not speak (fabric/topology/fare.h).
  const HostRoutes* routes() const;
  /// The host's report to the lab at the end of a run.
  HostAccount account() const { return {stats(), queues(), work(), jobs()}; }

  /// Memory, queue pairs and posts for programs outside the host (verbs.h).
  Device& device();

 private:
  std::unique_ptr<HostImpl> impl_;
};

}  // namespace mrclab::endpoint
