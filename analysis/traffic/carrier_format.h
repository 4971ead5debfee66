#pragma once
// How a carrier of any fabric is cut into block and uSIDs (RFC 9800 §4.1), learned from packets:
//
//   fc00:42 : 2001 : 1002 : 2005 : e003 : 0 : 0       block of 32 bits, uSIDs of 16, four left
//   fc00:42 : 2005 : e003 : 0 ...                     the same packet behind two switches
//
// One packet at two places shows both lengths: the later carrier is the earlier one less its first
// uSIDs, at most one for each switch between. Where no packet was seen twice, a zero between two
// numbers is in the high half of a 32-bit uSID, as a uSID of zero ends the carrier. Otherwise F3216
// is assumed, which RFC 9800 §4.1 names first, and reported as assumed.

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/capture/flat_index.h"
#include "analysis/capture/packet_facts.h"

namespace mrclab::analysis {

/// How something is known that packets do not carry.
enum class Known : uint8_t { kGiven, kSeen, kAssumed };

struct CarrierFormat {
  uint8_t block_bits = 32, usid_bits = 16;
  Known known = Known::kAssumed;

  /// How many uSIDs the carrier still has, counted up to the last that is not zero.
  size_t usids_left(const Ipv6Address& carrier) const;
  /// Is `later` what is left of `earlier` behind one or more switches, or the same?
  bool may_become(const Ipv6Address& earlier, const Ipv6Address& later) const;
};

/// The number of hextets (16 bits each) up to the last that is not zero.
size_t hextets_used(const Ipv6Address& address);
/// The hextet at `place`, counted from the front.
uint16_t hextet_of(const Ipv6Address& address, size_t place);

class CarrierLearner {
 public:
  /// `identity`: the same for all sightings of one packet.
  void sample_carrier(const Ipv6Address& carrier, uint64_t identity, uint8_t hops);
  /// The format that explains most packets. A format that a person has `given` stays as it is.
  CarrierFormat learned(CarrierFormat given) const;
  /// The blocks in use, as addresses with zeros behind the block; sorted, at most kMaxBlocks.
  std::vector<Ipv6Address> blocks(const CarrierFormat& format) const;
  bool any() const { return any_; }

 private:
  static constexpr size_t kMaxIdentities = 1u << 16, kMaxBlocks = 256;
  struct Lengths {
    uint8_t block_bits, usid_bits;
  };
  /// The lengths that are tried. The first of those with the most votes wins.
  static constexpr std::array<Lengths, 6> kTried{
      {{32, 16}, {32, 32}, {48, 16}, {16, 16}, {64, 16}, {64, 32}}};

  struct First {
    Ipv6Address carrier;
    uint8_t hops;
  };
  FlatIndex identities_{kMaxIdentities};
  std::vector<First> first_;
  std::array<uint32_t, kTried.size()> votes_{};
  bool any_ = false, inner_zero_ = false;
  bool odd_ = false;   ///< an odd number of hextets behind 32 bits: no 32-bit uSIDs
  bool long_ = false;  ///< more hextets were taken than switches were passed: 32-bit uSIDs
};

}  // namespace mrclab::analysis
