#pragma once
// When a link that loses too many codewords goes down and is trained anew. Which codewords are lost is a function of
// seed, wire and number (fabric/node/fec_code.h), so these outages follow from the fault, as those of a flap do.

#include <cstdint>
#include <vector>

#include "fabric/node/effect.h"

namespace mrclab::faults {

/// Receivers lose their lock at the third codeword in a row that cannot be corrected (IEEE 802.3 clauses 91 and 119,
/// the synchronization state diagrams: cwA_bad_count).
inline constexpr int64_t kBadCodewordsInARow = 3;
/// Our choice: a fault looks through so many codewords, of all its links together; 0.43 s of one at 100 Gb/s. Behind them
/// no link is trained anew.
inline constexpr uint64_t kMostCodewords = 1 << 23;
/// Our choice: outages by one fault, of all its links together, as many as a flap of one link can have.
inline constexpr size_t kMostRetrainings = 1'000;

struct RetrainRule {
  uint32_t limit = 0;  ///< codewords lost in a row
  FabricTime down;     ///< how long training takes
  uint64_t codewords;  ///< how many are looked through
  size_t outages;      ///< how many there are at most
};

struct Retraining {
  FabricTime from, until;
};

/// The outages of a link of this rate whose wires, one or both, have these errors in [from, until). The link goes down at
/// the end of the last codeword of the row; its errors go on when it comes up.
std::vector<Retraining> retrainings(const std::vector<WireCodewords>& wires, BitRate rate,
                                    FabricTime from, FabricTime until, RetrainRule rule);

}  // namespace mrclab::faults
