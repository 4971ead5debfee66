#pragma once
// The `job:` entry of a scenario's workload as a value. Read and written by job_keys.h, made into a graph by plan_job.h.
//
//   - job:
//       name: llama
//       hosts: "h[0-7]"                  # rank i is the i-th; a list keeps the order in which it is written
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
#include <string>
#include <variant>
#include <vector>

#include "fabric/base/units.h"
#include "job/graph/op_graph.h"

namespace mrclab::job {

// Bounds of an entry; those of the graph are in op_graph.h.
inline constexpr uint32_t kMaxSteps = 10'000;
inline constexpr uint32_t kMaxMicrobatches = 1024;
inline constexpr uint32_t kMaxParts = 256;
inline constexpr size_t kMaxPhases = 64;
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

struct JobSpec {
  std::string name = "job";
  std::vector<uint32_t> hosts;  ///< host numbers, by rank
  std::vector<GroupKind> groups;
  uint32_t steps = 1;
  uint32_t warmup = 0;  ///< the first steps, which averages leave out
  uint32_t microbatches = 1;
  uint32_t scale = 1;  ///< bytes and computing are divided by it
  std::vector<Phase> phases;
  bool operator==(const JobSpec&) const = default;

  uint32_t ranks() const { return static_cast<uint32_t>(hosts.size()); }
};

}  // namespace mrclab::job
