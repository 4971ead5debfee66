#pragma once
// Workloads as values: the entries of a scenario file's `workload:` list. Read by workload_entry.h, run by the hosts.
//
//   workload:
//     - all_reduce: {hosts: all, size: 8MiB, until: end}       # or iterations: 3
//     - permutation: {hosts: all, load: 90%, message: 256KiB, shift: 4}
//     - write: {from: h0, to: h1, size: 1MiB, count: 10, depth: 4}
//     - write: {from: "h[0-3]", to: "h[4-7]", size: 64KiB, rate: 20Gb/s, arrivals: poisson, until: end}
//     - incast: {from: "h[1-7]", to: h0, load: 100%, message: 64KiB, victim: {from: h8, to: h1}}
//     - ping_pong: {from: h0, to: h4, size: 2B, count: 1000}
//     - job: {hosts: "h[0-3]", steps: 3, phases: [...]}        # job/plan/job_spec.h has its keys
//     - serve: {prefill: {...}, decode: {...}, requests: {...}}  # job/serve/serve_spec.h has its keys
//
// all_gather, reduce_scatter, all_to_all and sendrecv are written as all_reduce is. With `slots: nccl`, or
// `slots: {buffer: 4MiB, steps: 8, channels: 2}`, their data goes through slots, for which the receiver gives credits
// (slotted_collective.h). Every entry may
// have `qps: N` (queue pairs per connection, which share the window of their destination; data is
// striped over them; not for ping_pong), `at:` (when it starts; by default at 0, by FARE when
// the fabric is ready: fabric/topology/fare.h), `routing: srv6`, `ecmp` or `fare` (where that is not the
// fabric's) and `transport: mrc` or `roce` (where that is not the scenario's).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "endpoint/workload/job_plan.h"
#include "endpoint/workload/job_recovery.h"
#include "fabric/base/units.h"
#include "fabric/text/enum_words.h"
#include "fabric/topology/routing.h"
#include "job/plan/job_spec.h"
#include "job/serve/serve_spec.h"

namespace mrclab::endpoint {

inline constexpr uint64_t kReduceElementBytes = 4;
inline constexpr size_t kMaxWorkloads = 64;
/// Per connection; our choice, which bounds a host's queue pairs.
inline constexpr uint32_t kMaxQps = 64;

/// Named as in the file, in `perf` and, but for the underscores, in nccl-tests.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
};
constexpr std::string_view name_of(CollectiveKind kind) {
  constexpr auto kNames =
      words_by_value<CollectiveKind>({{CollectiveKind::kAllReduce, "all_reduce"},
                                      {CollectiveKind::kAllGather, "all_gather"},
                                      {CollectiveKind::kReduceScatter, "reduce_scatter"},
                                      {CollectiveKind::kAllToAll, "all_to_all"},
                                      {CollectiveKind::kSendRecv, "sendrecv"}});
  return kNames[static_cast<size_t>(kind)];
}

/// The slots of a collective that runs as NCCL does (slot_program.h), by NCCL's defaults.
struct SlotSpec {
  Bytes buffer{4 << 20};  ///< of a channel at the receiver (NCCL_BUFFSIZE)
  uint32_t steps = 8;     ///< that it is cut into (NCCL_STEPS)
  uint32_t channels = 1;  ///< of each link, each with a buffer of its own
  bool operator==(const SlotSpec&) const = default;
};

/// A collective over 32-bit elements: rank i is hosts[i]; rings send to hosts[i + 1]. `size` is
/// what nccl-tests means by it: the vector that is reduced, all that is gathered, all that a host
/// has for the others, what goes to the neighbour. A multiple of 4.
struct CollectiveSpec {
  std::vector<uint32_t> hosts;  ///< host numbers, ascending, at least 2
  Bytes size;
  uint32_t iterations = 0;  ///< 0: again and again until the run's end
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t qps = 1;
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  std::optional<SlotSpec> slots = std::nullopt;  ///< empty: whole chunks, as memory bounds them
  bool operator==(const CollectiveSpec&) const = default;
};

/// hosts[i] writes messages of `message` bytes to hosts[(i + shift) mod n], offered at `load` of
/// the sum of its port rates, until the run's end.
struct PermutationSpec {
  std::vector<uint32_t> hosts;  ///< host numbers, ascending, at least 2
  Probability load;             ///< share of the host's total line rate, above 0
  Bytes message;                ///< at least 1
  uint32_t shift = 1;           ///< 1 .. n-1
  uint32_t qps = 1;
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  bool operator==(const PermutationSpec&) const = default;
};

/// When writes at a rate become due: each `interval` after the one before, or as a Poisson process has it.
enum class Arrivals : uint8_t { kEven, kPoisson };

/// `count` writes of `size` bytes, at most `depth` of them outstanding per queue pair, as fast as
/// they go or at a rate.
struct WriteSpec {
  uint32_t from = 0;  ///< host numbers, different
  uint32_t to = 0;
  Bytes size;          ///< at least 1
  uint32_t count = 1;  ///< over all queue pairs, at least one for each; 0: until the run's end
  uint32_t qps = 1;
  uint32_t depth = 0;  ///< 0: as many as the receiver's memory holds (StreamLayout)
  BitRate rate = {};   ///< of their bytes, over all queue pairs; 0: as fast as they go
  Arrivals arrivals = Arrivals::kEven;
  /// Of an entry with several hosts, until it has been read: it becomes a write for each pair.
  std::vector<uint32_t> senders = {}, receivers = {};
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  bool operator==(const WriteSpec&) const = default;
};

/// Every host of `from` writes to `to`, offered at `load` of its total line rate, until the run's
/// end; beside them a victim that has nothing to do with `to`.
struct IncastSpec {
  struct Flow {
    uint32_t from = 0;
    uint32_t to = 0;
    bool operator==(const Flow&) const = default;
  };
  std::vector<uint32_t> from;  ///< host numbers, ascending, without `to`
  uint32_t to = 0;
  std::optional<Flow> victim;
  Probability load;
  Bytes message;
  uint32_t qps = 1;
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  bool operator==(const IncastSpec&) const = default;
};

/// `count` messages there and back, one at a time.
struct PingPongSpec {
  uint32_t from = 0;  ///< host numbers, different
  uint32_t to = 0;
  Bytes size;
  uint32_t count = 1;  ///< 0: until the run's end
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  bool operator==(const PingPongSpec&) const = default;
};

/// A job: rank i of it is spec.hosts[i]. It ends when all its operations have. Of a service `spec` is what
/// plan_serve.h makes of it.
struct JobWorkload {
  job::JobSpec spec;
  std::optional<job::ServeSpec> serve = std::nullopt;
  uint32_t qps = 1;
  FabricTime at{};
  std::optional<Routing> routing = std::nullopt;
  std::optional<TransportKind> transport = std::nullopt;
  /// What `spec` and the scenario's seed make of it. Shared by all copies of this value, as it may have millions of
  /// operations and never changes; empty in an entry that is not read whole.
  std::shared_ptr<const JobPlan> plan = nullptr;
  /// Likewise; null where an error ends one rank alone.
  std::shared_ptr<const JobRecovery> recovery = nullptr;
  bool operator==(const JobWorkload& other) const {
    return spec == other.spec && serve == other.serve && qps == other.qps && at == other.at &&
           routing == other.routing && transport == other.transport;
  }
};

using WorkloadSpec =
    std::variant<CollectiveSpec, PermutationSpec, WriteSpec, IncastSpec, PingPongSpec, JobWorkload>;

/// "all_reduce", "permutation", "write": the key in the file.
std::string_view name_of(const WorkloadSpec& spec);
/// One line: "all_reduce of 8MiB over 8 hosts until the end".
std::string describe(const WorkloadSpec& spec);
/// When its applications start.
FabricTime start_of(const WorkloadSpec& spec);

/// Does it end by itself? Otherwise the run's end cuts it short.
bool ends(const WorkloadSpec& spec);

/// The routing that the workload asks for; empty: the fabric's.
std::optional<Routing> routing_of(const WorkloadSpec& spec);

/// The transport that the workload asks for; empty: the scenario's.
std::optional<TransportKind> transport_of(const WorkloadSpec& spec);
/// Gives every workload that has one queue pair for each connection so many (not ping_pong), but writes no more than
/// one for each.
void set_default_qps(std::vector<WorkloadSpec>& workloads, uint32_t qps);

/// The entry as it would stand in a file, names resolved: "all_reduce: {hosts: ...}".
std::string to_yaml(const WorkloadSpec& spec);

}  // namespace mrclab::endpoint
