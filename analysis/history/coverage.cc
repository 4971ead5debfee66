#include "analysis/history/coverage.h"

namespace mrclab::analysis {

void Coverage::shorten(Witness witness, FabricTime until, const std::string& why) {
  End& end = ends_[static_cast<size_t>(witness)];
  if (until < end.until) end = {until, why};
}

void Coverage::ends(Witness witness, FabricTime until, const std::string& why) {
  shorten(witness, until, why);
  if (gaps_.size() >= kMaxGaps) return;
  gaps_.push_back(until == FabricTime::zero() ? why
                                              : why + " (complete until " + to_string(until) + ")");
}

void Coverage::absent(Witness witness, const std::string& why) {
  shorten(witness, FabricTime::zero(), why);
}

}  // namespace mrclab::analysis
