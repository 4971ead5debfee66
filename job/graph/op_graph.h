#pragma once
// A job as one graph of operations. An operation belongs to a rank; it begins when those that it depends on have ended
// (or, where a file says so, have begun). All sources of jobs become this one value: phases in a scenario, and files of
// others (job/import/).
//
//   compute      takes `duration` of its rank's lane, one after the other in the order of the file
//   send         `bytes` to `peer`, matched with the peer's receive of the same tag, in order
//   receive      ends when the message is there
//   collective   one operation in each rank of `group`; the n-th of a group in one rank meets the n-th in the others
//
// Sizes are those of nccl-tests, whatever the file meant by its own: all_reduce, reduce_scatter, broadcast and
// all_to_all count the bytes of a rank's whole input vector, all_gather those of the whole result.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

enum class OpKind : uint8_t { kCompute, kSend, kReceive, kCollective };
enum class Collective : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kBarrier
};
/// How an all_reduce goes: around a ring, or up and down two trees (message_graph.h).
enum class Algorithm : uint8_t { kRing, kTree };
std::string_view name_of(OpKind kind);
std::string_view name_of(Collective collective);

// Bounds of every graph, whatever it is made from.
inline constexpr uint32_t kMaxRanks = 1024;
inline constexpr uint32_t kMaxOps = 1'000'000;
inline constexpr uint32_t kMaxGroups = 4096;
inline constexpr uint32_t kMaxDependencies = 4096;  ///< of one operation
inline constexpr uint64_t kMaxMessage = uint64_t{2} << 30;
inline constexpr size_t kMaxLabel = 128;
/// Of an element of a vector.
inline constexpr uint64_t kElementBytes = 4;
/// The lane of what takes no time, and keeps nothing else from running.
inline constexpr uint16_t kNoLane = 0xFFFF;

/// Of a receive, and of the rank whose message a file leaves open.
inline constexpr uint32_t kAnyPeer = 0xFFFF'FFFF;
inline constexpr uint32_t kAnyTag = 0xFFFF'FFFF;
inline constexpr uint32_t kEqualShares = 0xFFFF'FFFF;

struct Dependency {
  uint32_t op = 0;
  bool on_start = false;  ///< it is enough that the other has begun
  auto operator<=>(const Dependency&) const = default;
};

struct Op {
  OpKind kind = OpKind::kCompute;
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;  ///< of an all_reduce
  uint16_t lane =
      0;  ///< of a rank: what a file calls cpu or stream; operations of one lane do not overlap
  uint32_t rank = 0;
  uint32_t peer = 0;               ///< send: to; receive: from, or kAnyPeer; broadcast: the root
  uint32_t tag = 0;                ///< or kAnyTag, of a receive
  uint32_t group = 0;              ///< of a collective
  uint32_t shares = kEqualShares;  ///< of an all_to_all, in OpGraph::shares()
  uint32_t line = 0;               ///< of the file that it comes from, for messages; 0: of none
  uint64_t bytes = 0;
  FabricTime duration;    ///< of a compute operation
  FabricTime not_before;  ///< it begins no earlier, counted from the job's start
  uint32_t first_dependency = 0, dependencies = 0;  ///< a piece of OpGraph::dependencies()
};

/// Which ranks take part in a collective, in the order of the ring.
struct Group {
  std::string name;
  std::vector<uint32_t> ranks;
};

/// Operations in the order of their file; each is named by its index.
class OpGraph {
 public:
  /// What it may hold, where that is not what a file may.
  struct Limits {
    size_t ops = kMaxOps;
    uint64_t message = kMaxMessage;
  };
  /// Throws InputError, as add() does, where a bound is passed.
  explicit OpGraph(uint32_t ranks) : OpGraph(ranks, Limits{}) {}
  OpGraph(uint32_t ranks, const Limits& limits);

  uint32_t ranks() const { return ranks_; }
  std::span<const Op> ops() const { return ops_; }
  const Op& op(uint32_t index) const { return ops_[index]; }
  std::span<const Dependency> dependencies(const Op& op) const {
    return std::span(dependencies_).subspan(op.first_dependency, op.dependencies);
  }
  std::span<const Group> groups() const { return groups_; }

  /// Its index. `op.first_dependency` and `op.dependencies` are set here; a dependency may name an operation that comes
  /// later, and graph_check.h finds one that never comes.
  uint32_t add(Op op, std::span<const Dependency> dependencies = {});
  /// Its index: an earlier one with the same ranks in the same order is used again.
  uint32_t add_group(std::string name, std::vector<uint32_t> ranks);
  /// Its index. `shares[i]` is what the i-th rank of a group receives of an all_to_all, relative to the others; their sum
  /// is above 0.
  uint32_t add_shares(std::vector<uint32_t> shares);
  const std::vector<uint32_t>& shares(uint32_t index) const { return shares_[index]; }
  size_t share_lists() const { return shares_.size(); }
  /// What messages call an operation: "op 17 (send 64 KiB from rank 3 to rank 6, line 12)".
  std::string text_of(uint32_t op) const;

 private:
  uint32_t ranks_;
  Limits limits_;
  std::vector<Op> ops_;
  std::vector<Dependency> dependencies_;
  std::vector<Group> groups_;
  std::map<std::vector<uint32_t>, uint32_t> group_of_ranks_;
  std::vector<std::vector<uint32_t>> shares_;
  std::map<std::vector<uint32_t>, uint32_t> known_shares_;
};

}  // namespace mrclab::job
