#pragma once
// Where on their way packets of other people's fabrics were captured: at their sender, at their
// receiver, at a switch between. Learned from a sample, per host pair, place and switches passed.
//
//   no switch passed (hop limit as hosts send it)          at the sender's link
//   as many passed as any packet of the pair, and the      at the receiver's link
//     other direction leaves at that place, or the
//     carrier has one uSID left
//   fewer passed, or more of the carrier left              at a switch between
//
// Where hop limits say nothing (another program wrote the packets), the capture's own directions do,
// else the order: a sender's packets are in order of PSN, unmarked and whole. What is left unknown
// counts as sent and not as arrived, and is said to be.

#include <optional>
#include <string>
#include <vector>

#include "analysis/carrier_format.h"

namespace mrclab::analysis {

enum class Stage : uint8_t { kHostUp, kSpineUp, kSpineDown, kHostDown, kUnknown };
inline constexpr size_t kStages = 5;

/// What a person says about where captures were taken.
struct GivenPlace {
  enum class Where : uint8_t { kSender, kReceiver, kSwitch, kHost };
  Where where = Where::kSender;
  Ipv6Address host{};  ///< kHost: on its ports
};

/// Why a place was taken for what it is: index into reason_text().
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

/// One direction of one host pair at one place, after so many switches.
struct CapturedWay {
  Ipv6Address source{}, destination{};
  uint32_t tap = 0;
  uint8_t hops = 0;
  uint64_t data = 0, control = 0, leaving = 0, arriving = 0;
  uint64_t changed = 0;   ///< marked or trimmed: a switch has had it
  uint64_t disorder = 0;  ///< first transmissions behind a higher PSN
  size_t most_left = 0;   ///< of a carrier: hextets of the address in use
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
  void add(const Seen& seen);
  void learn(const CarrierFormat& format, std::optional<GivenPlace> given);
  /// Of any packet, also of pairs and places that the sample has not.
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
