#pragma once
// Makes the applications of a host, and the memory that their peers write to, from the connection plan.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "endpoint/base/memory_registry.h"
#include "endpoint/host/application_runner.h"
#include "endpoint/host/host_config.h"
#include "endpoint/host/host_shared.h"
#include "endpoint/queue_pair/queue_pair_table.h"
#include "endpoint/workload/stream_contents.h"

namespace mrclab::endpoint {

class JobWork;

/// The memory of a host: regions that peers write to, and buffers that it sends from.
struct HostMemory {
  MemoryRegistry regions;
  std::vector<std::unique_ptr<uint8_t[]>> send_buffers;
  std::vector<std::unique_ptr<StreamInbox>> inboxes;  ///< in place of a region's bytes
};

class WorkloadBuilder {
 public:
  /// What the applications of one workload have in common.
  struct Context;

  WorkloadBuilder(HostShared& host, QueueDirectory& queues, HostMemory& memory,
                  ApplicationRunner& runner)
      : host_(host), queues_(queues), memory_(memory), runner_(runner) {}

  /// All applications of this host, scheduled to start. Its queue pairs are there already.
  void add_applications(const HostConfig& config, const OwnConnections& connections);

 private:
  /// What the streams of a workload have in common.
  struct StreamPlan {
    Bytes message;
    uint32_t qps = 1;
    uint64_t count = 0;  ///< over all queue pairs of a connection; 0: until the end
    uint32_t depth = 0;
    FabricTime interval;  ///< of a connection's messages
    bool poisson = false;
  };
  void add_collective(const Context& context, const CollectiveSpec& spec);
  void add_slotted(const Context& context, const CollectiveSpec& spec);
  void add_streams(const Context& context, const StreamPlan& streams);
  void add_ping_pong(const Context& context, const PingPongSpec& spec);
  void add_job(const Context& context, const JobWorkload& spec);
  /// This host's part in one attempt of a job: its ranks, and what receives for them; the applications live as long as the
  /// host.
  struct JobPart;
  std::vector<JobWork*> add_attempt(const Context& context, const JobWorkload& job,
                                    const JobPart& part);
  void add_agent(const Context& context, const JobWorkload& job,
                 std::vector<std::vector<JobWork*>> attempts);
  QpHandle handle_of(const EndPlan& end) const;
  /// Where contents of this connection's stream are noted instead of written; null: nowhere. RC copies what it sends.
  StreamSource* source_of(const Context& context, const ConnectionPlan& connection,
                          const StreamLayout& layout) const;
  Memory send_buffer(uint64_t size);
  Memory region(const RegionPlan& plan);
  void add_application(std::unique_ptr<Application> application,
                       std::span<const QpHandle> queue_pairs, FabricTime start);

  HostShared& host_;
  QueueDirectory& queues_;
  HostMemory& memory_;
  ApplicationRunner& runner_;
  bool ends_ = true;  ///< by itself, does the workload whose applications are added?
};

}  // namespace mrclab::endpoint
