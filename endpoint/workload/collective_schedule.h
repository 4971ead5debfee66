#pragma once
// What each host of a collective sends and receives in which step; collective.h executes it. All
// five collectives are here, for host i of n, hosts in a ring.
//
//   all_reduce      n - 1 reducing steps, then n - 1 gathering ones, each from left to right
//   reduce_scatter  the reducing steps alone, one chunk further, so that host i ends with chunk i
//   all_gather      the gathering steps alone, from host i's own chunk
//   sendrecv        the whole vector to the right neighbour (nccl-tests: sendrecv_perf), and at once
//                   a word to the left one: this iteration has begun here
//   all_to_all      n - 1 steps at once, without order: chunk j goes straight to host j
//
//   reducing step s:   send chunk (i - a - s), receive chunk (i - a - s - 1) into scratch slot s
//                      and add it; a = 0, for reduce_scatter a = 1
//   gathering step g:  send chunk (i + b - g), receive chunk (i + b - g - 1) into its place;
//                      b = 1 after reducing steps, else 0
//
// Memory of a host, E and O for even and odd iterations. All have vector E | vector O of their own,
// which no other rank writes to; others write to the inboxes:
//   rings       of the left neighbour:   results of iterations 0, 1 and 2 modulo 3, if the ring
//               gathers | scratch slots E | O, if it reduces
//   sendrecv    of the left neighbour:   vector E | vector O
//               of the right neighbour:  a word, if that is another host
//   all_to_all  of each other host:      chunk E | chunk O
//
// A ring passes on what it gathers, so it sends from its results, too: collective.h has the reason why they
// are three.

#include <optional>

#include "endpoint/workload/collective_layout.h"
#include "endpoint/workload/workload_spec.h"

namespace mrclab::endpoint {

class CollectiveSchedule {
 public:
  CollectiveSchedule(CollectiveKind kind, Bytes size, size_t hosts, uint32_t qps);

  /// One write: `length` bytes from `from` in this host's own memory, or in the inbox of link 0, to
  /// `to` in the inbox of the host at the other end of `link`.
  struct Send {
    size_t link = 0;
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t length = 0;
    uint64_t first_element = 0;  ///< index in the vector
    bool passed_on = false;      ///< from the inbox: the previous step brought it
    bool scratch = false;        ///< goes to a scratch slot
    bool word = false;           ///< sendrecv only: announces that the iteration has begun
  };
  /// One arrival: `length` bytes at `at` in the inbox of `link`.
  struct Receive {
    size_t link = 0;
    uint64_t at = 0;
    uint64_t length = 0;
    /// Place in this host's own memory where the bytes are to be added.
    std::optional<uint64_t> add_to;
    bool final = false;  ///< the bytes there are then a result
    /// Index in the vector, for the ramp that the bytes must match.
    uint64_t first_element = 0;
    /// Host whose input the bytes must be; none: the sum over all hosts.
    std::optional<size_t> source;
  };

  CollectiveKind kind() const { return kind_; }
  const CollectiveLayout& layout() const { return layout_; }
  size_t hosts() const { return hosts_; }
  uint32_t steps() const { return steps_; }
  uint32_t reducing_steps() const { return reducing_; }
  /// Step s + 1 may be sent when step s was received; else all are sent at once, one per link.
  bool chained() const {
    return kind_ != CollectiveKind::kAllToAll && kind_ != CollectiveKind::kSendRecv;
  }
  bool reduces() const { return reducing_ > 0; }
  bool gathers() const { return chained() && steps_ > reducing_; }

  /// Number of hosts that each host sends to. A link leads to host i + d and comes from host i - d;
  /// d is its distance().
  size_t links() const;
  size_t to_rank(size_t rank, size_t link) const { return (rank + distance(link)) % hosts_; }
  size_t from_rank(size_t rank, size_t link) const {
    return (rank + hosts_ - distance(link)) % hosts_;
  }
  /// The link that leads from one host to another. There must be one.
  size_t link_between(size_t from, size_t to) const;

  /// Size of the inbox at `rank` that another host writes to over `link`.
  Bytes inbox_size(size_t rank, size_t link) const;
  /// Size of the memory that only the host itself writes to.
  Bytes own_size() const { return {2 * layout_.size().value}; }

  Send send(size_t rank, uint32_t lane, uint32_t iteration, uint32_t step) const;
  Receive receive(size_t rank, uint32_t lane, uint32_t iteration, uint32_t step) const;
  /// Does this host's input contain chunk `chunk`?
  bool fills(size_t rank, size_t chunk) const {
    return kind_ != CollectiveKind::kAllGather || chunk == rank;
  }
  /// Where own data of `iteration` begins.
  uint64_t vector_offset(uint32_t iteration) const {
    return (iteration & 1) * layout_.size().value;
  }

 private:
  static constexpr uint32_t kResults = 3;

  size_t back(size_t rank, size_t by) const { return (rank + 2 * hosts_ - by) % hosts_; }
  size_t distance(size_t link) const;
  uint64_t result_offset(uint32_t iteration) const {
    return iteration % kResults * layout_.size().value;
  }
  uint64_t scratch_offset(uint32_t iteration, uint32_t step) const;

  CollectiveKind kind_;
  size_t hosts_;
  CollectiveLayout layout_;
  uint32_t reducing_ = 0;
  uint32_t steps_ = 1;
};

}  // namespace mrclab::endpoint
