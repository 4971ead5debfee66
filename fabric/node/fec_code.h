#pragma once
// Reed-Solomon codes of a wire: from errors per bit before the correction to codewords that cannot be corrected.
//
// Below the code's edge nothing is lost, a little above it everything is. A codeword that cannot be corrected takes
// every frame with it that has a bit in it, whole or in part (IEEE 802.3 marks all its blocks as errors: 91.5.3.3,
// 119.2.5.3). The codewords of a wire follow one another from fabric time zero on, at the link's own rate, with idle
// characters or frames in them. So which of them are lost is a function of seed, wire and number, and neighbouring
// frames are lost together, in the live world as in the simulated one.
//
// Not done: codewords that are interleaved (clause 119, 172), which spread a burst over two or four of them.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/effect.h"

namespace mrclab {

/// Shares with 63 binary places, so that one fits as well.
inline constexpr uint64_t kCertain = uint64_t{1} << 63;
constexpr uint64_t product_of_shares(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 63);
}

/// A code over symbols of ten bits, and the line that carries them.
struct FecShape {
  uint32_t symbols;      ///< in a codeword
  uint32_t correctable;  ///< of them
  uint32_t
      line_bits;  ///< in a symbol of the line: PAM4 has two, with one of them wrong in an error (Gray)
  Bytes carried;  ///< by a codeword of what the MAC sends: 257 bits stand for 256
};
/// Not of kNone.
const FecShape& shape_of(FecCode code);

/// The share of codewords, with 63 binary places, that have more wrong symbols than can be corrected. Without error
/// propagation that is the sum over i > t of C(n, i) s^i (1 - s)^(n - i), with s = 1 - (1 - rate)^10. With it an error
/// of the line is followed by another with that probability, as a decision feedback equalizer of one tap makes them
/// (0.75 at most with PAM4); the rate stays the mean, as counters of a port show it, so there are fewer, longer bursts:
/// at 2.4e-4 and 0.75 65,000 times as many codewords are lost, at 2e-3 a fortieth. Integers only, so that every machine
/// has the same; off by less than 1e-14.
uint64_t codeword_loss(const WireCodewords& errors);

/// Codewords of a wire by their number.
class CodewordClock {
 public:
  CodewordClock(BitRate rate, FecCode code);
  uint64_t number_at(FabricTime t) const;      ///< of the one that is being sent
  FabricTime start_of(uint64_t number) const;  ///< the first picosecond that is in it

 private:
  unsigned __int128 rate_,
      per_codeword_;  ///< bit/s; bits of a codeword times picoseconds of a second
};

/// Is it one of those? `loss` is codeword_loss().
bool codeword_is_lost(const WireCodewords& errors, uint64_t loss, uint64_t number);

}  // namespace mrclab
