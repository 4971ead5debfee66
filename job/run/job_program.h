#pragma once
// A job as its ranks run it: its messages, and who waits for whom, looked up once for all of them.

#include <cstdint>
#include <span>
#include <vector>

#include "job/graph/message_graph.h"
#include "job/graph/rank_sites.h"

namespace mrclab::job {

class JobProgram {
 public:
  /// `job` has passed check_graph(). Throws InputError where its messages are too many.
  explicit JobProgram(const OpGraph& job, RankSites sites = {});

  const OpGraph& graph() const { return messages_.graph; }
  const MessageGraph& messages() const { return messages_; }
  const RankSites& sites() const { return sites_; }
  /// Of a send: is its message for a rank of the same host?
  bool is_local(uint32_t send) const {
    return sites_.is_shared(graph().op(send).rank, graph().op(send).peer);
  }
  /// Of a send its receive, of a receive its send.
  uint32_t partner(uint32_t op) const { return partner_[op]; }
  /// Who waits for an operation, all in its rank: Dependency::op is the one that waits.
  std::span<const Dependency> dependents(uint32_t op) const {
    return std::span(dependents_).subspan(first_[op], first_[op + 1] - first_[op]);
  }
  std::span<const uint32_t> ops_of(uint32_t rank) const {
    return std::span(ops_).subspan(first_op_[rank], first_op_[rank + 1] - first_op_[rank]);
  }
  /// Its place in ops_of() of its rank.
  uint32_t place(uint32_t op) const { return place_[op]; }

 private:
  MessageGraph messages_;
  RankSites sites_;
  std::vector<uint32_t> partner_;
  std::vector<uint32_t> first_;
  std::vector<Dependency> dependents_;
  std::vector<uint32_t> first_op_, ops_, place_;
};

}  // namespace mrclab::job
