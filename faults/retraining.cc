#include "faults/retraining.h"

#include <algorithm>

#include "fabric/node/fec_code.h"

namespace mrclab::faults {
namespace {

/// The codewords of one wire.
class LossyWire {
 public:
  LossyWire(const WireCodewords& errors, BitRate rate)
      : errors_(errors), clock_(rate, errors.code), loss_(codeword_loss(errors)) {}

  /// When `limit` lost codewords in a row have come that begin at `from` or later; never() if not before `until`.
  /// `left` is how many may be looked at.
  FabricTime first_row(FabricTime from, FabricTime until, uint32_t limit, uint64_t& left) const {
    if (loss_ == 0) return FabricTime::never();
    uint64_t first = clock_.number_at(from);
    if (clock_.start_of(first) < from) ++first;
    while (left > 0) {
      const FabricTime end = clock_.start_of(first + limit);
      if (end >= until) return FabricTime::never();
      // From the last one backwards: most of the time it is sound, and no row can begin before the one behind it.
      uint32_t bad = 0;
      while (bad < limit && left > 0 && lost(first + limit - 1 - bad)) {
        ++bad;
        --left;
      }
      if (bad == limit) return end;
      if (left > 0) --left;
      first += limit - bad;
    }
    return FabricTime::never();
  }

 private:
  bool lost(uint64_t number) const { return codeword_is_lost(errors_, loss_, number); }

  WireCodewords errors_;
  CodewordClock clock_;
  uint64_t loss_;
};

}  // namespace

std::vector<Retraining> retrainings(const std::vector<WireCodewords>& wires, BitRate rate,
                                    FabricTime from, FabricTime until, RetrainRule rule) {
  std::vector<LossyWire> lossy;
  lossy.reserve(wires.size());
  for (const WireCodewords& errors : wires) lossy.emplace_back(errors, rate);
  std::vector<Retraining> outages;
  while (outages.size() < rule.outages && rule.codewords > 0) {
    FabricTime down = until;
    for (const LossyWire& wire : lossy) {
      down = std::min(down, wire.first_row(from, down, rule.limit, rule.codewords));
    }
    if (down >= until) break;
    from = down + rule.down;
    outages.push_back({down, from});
  }
  return outages;
}

}  // namespace mrclab::faults
