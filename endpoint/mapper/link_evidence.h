#pragma once
// What probes have shown of each link of late: in how many of its last periods how many of them came back, and how many
// were lost. A lost one speaks against every link on its way until one of them is found to explain it.
//
//   nats   the sum of Page's test over the periods that are kept, for the share of loss that fits best
//   over   that comes to the threshold; or more of the last probes were lost than the policy allows
//
// A loss that a full queue may have caused is no evidence: a probe over one of its links came back late in the same
// period or in the one before. Bounded: a number of periods for each link, and of lost probes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "fabric/mapper/denylist_policy.h"

namespace mrclab::endpoint {

class LinkEvidence {
 public:
  /// A probe's own port, and at most four links between switches.
  static constexpr size_t kMostLinks = 5;

  LinkEvidence(uint32_t links, const DenylistPolicy& policy, double threshold);

  /// From here on something of this period may come. False: it is too old to be kept.
  bool begin(uint64_t period);
  void back(uint64_t period, std::span<const uint32_t> links);
  void slow(uint64_t period, std::span<const uint32_t> links);
  void lost(uint64_t period, std::span<const uint32_t> links);
  /// A lost probe whose cause is known: it counts for this link alone.
  void lost_by(uint64_t period, uint32_t link);

  struct Tally {
    uint32_t bad = 0, good = 0;
  };
  Tally at(uint32_t link, uint64_t period) const;
  /// Of the periods that are kept; of the last probes, where the policy counts those.
  Tally of_late(uint32_t link) const;
  double nats(uint32_t link) const;
  bool over(uint32_t link) const;

  /// Links that a loss without an explanation spoke against since the last call, each once, in their order.
  std::vector<uint32_t> take_suspects();
  /// Those that share such losses with this one.
  std::vector<uint32_t> rivals(uint32_t link) const;
  /// This link is the cause of what was lost over it: that speaks against no other any more.
  void explain(uint32_t link);
  /// Nothing is known of the link.
  void forget(uint32_t link);

 private:
  struct LostProbe {
    uint64_t period = 0;
    std::array<uint32_t, kMostLinks> links{};
    uint8_t count = 0;
    bool has(uint32_t link) const;
  };
  struct Cell {
    uint8_t bad = 0, good = 0;
  };
  Cell& cell(uint32_t link, uint64_t period) { return cells_[period % periods_ * links_ + link]; }
  const Cell& cell(uint32_t link, uint64_t period) const {
    return cells_[period % periods_ * links_ + link];
  }
  uint64_t oldest() const { return newest_ - std::min<uint64_t>(newest_, periods_ - 1); }

  uint32_t links_;
  DenylistPolicy policy_;
  double threshold_;
  uint64_t periods_;  ///< that are kept
  uint64_t newest_ = 0;
  std::vector<Cell> cells_;     ///< by period, then link
  std::vector<uint64_t> slow_;  ///< by link: the last period with a slow probe, plus one
  std::deque<LostProbe> lost_;  ///< that nothing explains
  std::vector<uint32_t> suspects_;
};

}  // namespace mrclab::endpoint
