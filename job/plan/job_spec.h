#pragma once
// The `job:` entry of a scenario's workload as a value. Read and written by job_keys.h, made into a graph by plan_job.h.
//
//   - job:
//       name: llama
//       hosts: "h[0-7]"                  # rank i is the i-th; a list keeps the order in which it is written
//       ranks: {file: hosts.txt, format: hostfile}   # in place of hosts: several ranks may be on one
//       groups: {tp: 2, pp: 2, dp: 2}    # inner to outer; their product is the number of ranks
//       steps: 20
//       microbatches: 4
//       phases:
//         - forward:  {compute: 400us, each: microbatch}
//         - acts:     {send: {group: pp, to: next, size: 4MiB}, each: microbatch}
//         - backward: {compute: 800us, each: microbatch, pass: backward}
//         - grads:    {reduce_scatter: {group: dp, size: 64MiB, parts: 4}, beside: backward}
//         - params:   {all_gather: {group: dp, size: 32MiB}, after: grads}
//
// A phase begins in a rank when the phase before it in the file has ended there; `after` names others in its place. A step
// begins in a rank when all of the step before has ended there. Ranks wait for each other by what they exchange alone.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fabric/base/units.h"
#include "job/graph/op_graph.h"
#include "job/import/trace.h"

namespace mrclab::job {

// Bounds of an entry; those of the graph are in op_graph.h.
inline constexpr uint32_t kMaxSteps = 10'000;
inline constexpr uint32_t kMaxMicrobatches = 1024;
inline constexpr uint32_t kMaxParts = 256;
inline constexpr size_t kMaxPhases = 64;
inline constexpr uint32_t kMaxVirtualStages = 16;  ///< our choice
inline constexpr uint32_t kMaxScale = 1'000'000;

/// Where a message goes within a group: the neighbour in a chain, whose ends have one only, or in a ring.
enum class Direction : uint8_t { kNext, kPrevious, kRight, kLeft };
/// Which way a micro-batch passes through the stages of a pipeline.
enum class Pass : uint8_t { kForward, kBackward };

struct ComputeWork {
  FabricTime time;
  bool operator==(const ComputeWork&) const = default;
};

/// Sizes are those of nccl-tests (op_graph.h).
struct ExchangeWork {
  Collective collective = Collective::kAllReduce;
  std::string group = "all";
  Bytes size;
  uint32_t parts = 1;  ///< buckets, one after the other
  /// Of an all_to_all: the k-th most popular receiver gets a share of 1/k^(zipf/1000); 0: all alike.
  uint32_t zipf_thousandths = 0;
  bool operator==(const ExchangeWork&) const = default;
};

struct SendWork {
  std::string group = "pp";
  Direction to = Direction::kNext;
  Bytes size;
  uint32_t parts = 1;  ///< messages, which follow each other
  bool operator==(const SendWork&) const = default;
};

struct Phase {
  std::string name;
  std::variant<ComputeWork, ExchangeWork, SendWork> work;
  /// Names of phases; none: the one before it in the file.
  std::optional<std::vector<std::string>> after;
  /// A computing phase: part k goes when k of its as many parts are computed.
  std::string beside;
  std::string with;  ///< A phase: this one begins when that one may
  bool each_microbatch = false;
  Pass pass = Pass::kForward;
  bool operator==(const Phase&) const = default;
};

/// Ranks in groups: as a dimension of so many ranks, or as lists of ranks.
struct GroupKind {
  std::string name;
  uint32_t size = 0;  ///< of a dimension; 0: of lists
  std::vector<std::vector<uint32_t>> lists = {};
  bool operator==(const GroupKind&) const = default;
};

/// Collectives of ranks that are all in one node take time, and no packets.
struct NodeSpec {
  uint32_t size = 1;   ///< ranks in a node: 0 to size - 1, and so on
  BitRate rate;        ///< of a rank to the others in its node
  FabricTime latency;  ///< of each of the rounds that wait for each other
  bool operator==(const NodeSpec&) const = default;
};

/// Messages between ranks of one host are copied there, and take no way through the fabric.
struct LocalCopy {
  BitRate rate;        ///< of a rank, out
  FabricTime latency;  ///< of each message
  bool operator==(const LocalCopy&) const = default;
};

/// How collectives are done.
struct CollectiveChoice {
  Algorithm all_reduce = Algorithm::kRing;
  uint32_t channels = 1;  ///< a vector goes in so many pieces at once
  bool operator==(const CollectiveChoice&) const = default;
};

/// A rank that computes longer than the others.
struct SlowRank {
  uint32_t rank = 0;
  Probability by;  ///< of its time
  uint32_t from_step = 0;
  uint32_t steps = 0;  ///< 0: to the end
  bool operator==(const SlowRank&) const = default;
};

/// A file of another's job in place of phases (job/import).
struct TraceSpec {
  std::string file;  ///< absolute, or as the process finds it
  std::optional<TraceFormat> format;
  std::optional<TimeUnit> time_unit;
  bool operator==(const TraceSpec&) const = default;
};

/// What is cut into parts, of which a rank holds one: nothing (DDP), optimizer states and gradients (ZeRO's stages 1 and 2;
/// Rajbhandari et al., 2020), or parameters as well (stage 3, FSDP).
enum class Zero : uint8_t { kOff, kOptimizer, kParameters };

/// A model that phases are made from (model_phases.h).
struct ModelSpec {
  std::string preset;
  uint32_t sequence = 0;         ///< tokens; 0: as the model was trained
  uint32_t batch = 1;            ///< sequences in a micro-batch
  uint32_t blocks = 2;           ///< layers of a stage that are run; the rest is left out
  Probability mfu{400'000'000};  ///< of the peak, while a rank computes
  uint64_t peak_flops =
      989'000'000'000'000;  ///< of a rank; dense BF16 of H100 SXM (NVIDIA's data sheet)
  Zero zero = Zero::kOptimizer;
  uint32_t prefetch =
      1;  ///< with kParameters: blocks that are gathered ahead of the one that computes
  bool fp8_dispatch = false;      ///< tokens go to experts in 8 bits
  uint32_t zipf_thousandths = 0;  ///< of the experts
  bool operator==(const ModelSpec&) const = default;
};

// What ends a job, and what then: its keys are in on_error_keys.cc. All times are those of the field: a job's `scale`
// divides them as it divides computing.

inline constexpr uint32_t kMaxAttempts = 4;  ///< in which a job goes on; our choice
inline constexpr size_t kMaxSpares = 16;  ///< our choice: each has queue pairs to all ranks' peers

/// What a job saves, and how often. All ranks save at the end of a step and wait for each other.
struct Checkpoints {
  uint32_t every = 1;  ///< steps
  FabricTime save;     ///< in which a rank does nothing else
  bool operator==(const Checkpoints&) const = default;
};

struct OnError {
  /// Of PyTorch also with the monitor of its watchdog.
  enum class Profile : uint8_t { kNccl, kPytorch, kMonitored };
  enum class Action : uint8_t {
    kAbort,    ///< all ranks end
    kShrink,   ///< the lost ranks' replicas (their places in dp) leave, the others go on
    kRestart,  ///< all begin again behind the last checkpoint
    kHang,     ///< a rank with an error ends, the others wait for it
  };
  Profile profile = Profile::kPytorch;
  uint32_t ack_timeout = 20;  ///< 4.096 us * 2^this (IB, NCCL_IB_TIMEOUT)
  uint32_t retries = 7;       ///< NCCL_IB_RETRY_CNT
  Action action = Action::kAbort;
  std::optional<FabricTime> watchdog;  ///< of a collective; none: it waits for ever
  FabricTime detect;                   ///< from an error until the launcher is told
  FabricTime answer;  ///< in which a host has to answer; zero: no bound but its queue pair's
  std::optional<FabricTime> heartbeat;  ///< the launcher asks each host so often; none: never
  std::optional<FabricTime> restart;  ///< from the end of all until they begin again; none: at once
  FabricTime load;                    ///< of a checkpoint
  uint32_t attempts = 1;              ///< beside the first
  std::vector<uint32_t> spares;       ///< host numbers
  std::optional<uint32_t> launcher;   ///< host number; none: that of rank 0
  bool operator==(const OnError&) const = default;

  /// From a loss that is never mended to the queue pair's error, of a NIC of the field: 30 s by default, 7.5 s with a
  /// timeout of 18. In a run the transport's own timers decide.
  FabricTime time_to_error() const {
    return FabricTime::from_ns(4096) * (int64_t{1} << ack_timeout) * retries;
  }
  /// Is there a launcher, which ends all ranks with the first?
  bool ends_all() const { return action != Action::kHang; }
  bool goes_on() const { return action == Action::kShrink || action == Action::kRestart; }
};

struct JobSpec {
  std::string name = "job";
  std::vector<uint32_t> hosts;  ///< host numbers, by rank; one may have several ranks
  std::vector<GroupKind> groups;
  uint32_t steps = 1;
  uint32_t warmup = 0;  ///< the first steps, which averages leave out
  uint32_t microbatches = 1;
  uint32_t virtual_stages = 1;  ///< of a rank in a pipeline, which a micro-batch passes in turn
  uint32_t scale = 1;           ///< bytes and computing are divided by it
  std::optional<NodeSpec> nodes;
  std::optional<LocalCopy> local;  ///< none: such copies take no time
  CollectiveChoice collective;
  Probability jitter;  ///< of each computation: longer or shorter by up to this
  Probability skew;    ///< of each rank in all steps, likewise
  std::vector<SlowRank> slow;
  std::vector<Phase> phases;  ///< of the file; or one of these two
  std::optional<ModelSpec> model;
  std::optional<TraceSpec> trace;
  std::optional<Checkpoints> checkpoint;
  std::optional<OnError> on_error;
  bool large = false;  ///< more packets than kMaxPlanPackets are meant
  bool operator==(const JobSpec&) const = default;

  uint32_t ranks() const { return static_cast<uint32_t>(hosts.size()); }
  /// Has a host several ranks?
  bool shares_hosts() const { return std::set(hosts.begin(), hosts.end()).size() < hosts.size(); }
};

}  // namespace mrclab::job
