#pragma once
// Several processes that simulate one world together, on one machine or on many. They are called
// ranks, as in MPI. Every rank makes the same calls in the same order, and each call returns when all
// ranks have made it. `lab/ranks` has those of `mpirun`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::lab {

/// What each rank sends before each window, and the sum over all of them.
struct WindowVote {
  /// When the earliest event of the rank's nodes on each side (bipartition.h) is due. In the sum,
  /// the earliest event of any rank.
  std::array<FabricTime, 2> earliest{FabricTime::never(), FabricTime::never()};
  uint64_t frames = 0;  ///< that its nodes started to send in the last window; in the sum: of all
  bool stop = false;    ///< it is to end here; in the sum: one of them is to
  bool failed = false;  ///< it cannot go on; in the sum: one of them cannot

  /// Adds another rank's vote.
  void join(const WindowVote& other) {
    for (size_t side = 0; side < earliest.size(); ++side) {
      earliest[side] = std::min(earliest[side], other.earliest[side]);
    }
    frames += other.frames;
    stop |= other.stop;
    failed |= other.failed;
  }
};

/// Thrown by the ranks that could have gone on when another one could not.
struct OtherRankFailed : std::runtime_error {
  OtherRankFailed() : std::runtime_error("another rank of the simulation failed") {}
};

class RankLink {
 public:
  using Bytes = std::vector<uint8_t>;

  virtual ~RankLink() = default;
  virtual uint32_t rank() const = 0;
  virtual uint32_t count() const = 0;
  /// The name of the machine that this rank runs on, for messages.
  virtual std::string machine() const = 0;
  virtual WindowVote agree(const WindowVote& own) = 0;
  /// `to`: one message for each rank, of any length up to 1 GiB. Returns the messages to this rank by
  /// sender, valid until the next call. The message to itself is not looked at.
  virtual const std::vector<Bytes>& exchange(const std::vector<Bytes>& to) = 0;
  /// Returns the texts of all ranks, in their order.
  virtual std::vector<std::string> gather(const std::string& own) = 0;
};

/// Runs the step on every rank, and returns when all have. Where one threw, its exception comes out on
/// that rank, and a std::runtime_error with the rank and the reason on the others. `ranks` may be null.
void run_on_all_ranks(RankLink* ranks, const std::function<void()>& step);

/// The latest of the instants that the ranks name.
FabricTime latest_of_ranks(RankLink* ranks, FabricTime own);
/// Throws std::logic_error on every rank if they do not name the same instant.
void require_same_instant(RankLink* ranks, FabricTime own);

}  // namespace mrclab::lab
