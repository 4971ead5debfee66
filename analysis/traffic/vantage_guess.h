#pragma once
// Where on their way foreign packets were captured: at their sender, at their receiver, or at a
// switch between. Learned from a sample for each host pair, tap and number of switches passed.
//
//   no switch passed (hop limit as hosts send it)          at the sender's link
//   as many passed as any packet of the pair, and the      at the receiver's link
//     other direction leaves at that place, or the
//     carrier has one uSID left
//   fewer passed, or more of the carrier left              at a switch between
//
// Where hop limits do not show it (a program wrote the packets), the directions that the capture notes
// decide, and without them the order: a sender's packets are in order of PSN, unmarked and whole.
// Packets whose place stays unknown count as sent and not as arrived, and the tables note it.

#include <optional>
#include <string>
#include <vector>

#include "analysis/traffic/carrier_format.h"

namespace mrclab::analysis {

enum class Stage : uint8_t { kHostUp, kSpineUp, kSpineDown, kHostDown, kUnknown };
inline constexpr size_t kStages = 5;
/// How many wires lie between the sender and a frame on this one; as if behind all of them where that is not known.
constexpr uint8_t wires_behind(Stage stage) {
  switch (stage) {
    case Stage::kHostUp: return 0;
    case Stage::kSpineUp: return 1;
    case Stage::kSpineDown: return 2;
    case Stage::kHostDown: return 3;
    case Stage::kUnknown: return 4;
  }
  return 4;
}

/// Where captures were taken, as the user states.
struct GivenPlace {
  enum class Where : uint8_t { kSender, kReceiver, kSwitch, kHost };
  Where where = Where::kSender;
  Ipv6Address host{};  ///< kHost: the host on whose ports they were taken
};

/// Why a place was taken for what it is; reason_text() has the words.
enum class PlaceReason : uint8_t {
  kGiven,
  kNoSwitchPassed,
  kAnswersLeaveHere,
  kCarrierUsedUp,
  kCarrierNotUsedUp,
  kFewerSwitches,
  kDirection,
  kShorterCarrier,
  kOrder,
  kThreeSwitches,
  kNothing,
};
const char* reason_text(PlaceReason reason);

struct GuessedPlace {
  Stage stage = Stage::kHostUp;
  PlaceReason reason = PlaceReason::kNothing;
  Known known() const;
};

/// The packets of one direction of a host pair that one tap saw behind the same number of switches.
struct CapturedWay {
  Ipv6Address source{}, destination{};
  uint32_t tap = 0;
  uint8_t hops = 0;
  uint64_t data = 0, control = 0, leaving = 0, arriving = 0;
  uint64_t changed = 0;   ///< packets that a switch has marked or trimmed
  uint64_t disorder = 0;  ///< first transmissions that came behind a higher PSN
  size_t most_left = 0;   ///< hextets in use of its longest carrier
  bool carried = false;
  GuessedPlace place;
};

class VantageGuess {
 public:
  /// One packet of the sample. `first`: data that is no retransmission.
  struct Seen {
    PacketFacts facts;
    Qpn qp;
    Psn psn;
    bool data = false, first = false, changed = false;
  };
  void add_sample(const Seen& seen);
  void learn(const CarrierFormat& format, std::optional<GivenPlace> given);
  /// The place of any packet, also of host pairs and taps that are not in the sample.
  GuessedPlace place_of(const PacketFacts& facts) const;
  const std::vector<CapturedWay>& ways() const { return ways_; }

 private:
  static constexpr size_t kMaxWays = 1u << 16;
  const CapturedWay* way(const Ipv6Address& source, const Ipv6Address& destination, uint32_t tap,
                         uint8_t hops) const;
  GuessedPlace judged(const CapturedWay& way, const CarrierFormat& format) const;
  GuessedPlace without_hops(const CapturedWay& way, const CarrierFormat& format) const;
  GuessedPlace as_given(const Ipv6Address& source, const Ipv6Address& destination,
                        uint8_t hops) const;

  struct Pair {
    uint8_t most_hops = 0;
    size_t most_left = 0;
    bool carried = false;
  };
  std::vector<CapturedWay> ways_;
  std::vector<Pair> pairs_;
  std::vector<uint32_t> highest_;  ///< PSN, by place and queue pair
  FlatIndex way_index_{kMaxWays}, pair_index_{kMaxWays}, order_index_{kMaxWays},
      host_links_{kMaxWays};
  FlatIndex forwarding_taps_{kMaxWays};
  std::optional<GivenPlace> given_;
};

}  // namespace mrclab::analysis
