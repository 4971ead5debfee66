#include "live/world/outside_faults.h"

#include <algorithm>

#include "fabric/text/counted_noun.h"

namespace mrclab::lab {

void OutsideFaults::report_fault(OutsideFault fault) {
  if (fault.kind == OutsideFault::Kind::kOther) ++unmodelled_;
  kept_.push_back(std::move(fault));
  if (kept_.size() <= kMaxKept) return;
  kept_.pop_front();
  ++forgotten_;
}

std::vector<OutsideFault> OutsideFaults::since(uint64_t& seen) const {
  const uint64_t skipped = std::max(seen, forgotten_) - forgotten_;
  seen = total();
  return {kept_.begin() + static_cast<std::ptrdiff_t>(skipped), kept_.end()};
}

std::vector<std::string> OutsideFaults::newest_lines() const {
  std::vector<std::string> lines;
  const size_t shown = std::min(kept_.size(), kMaxTold);
  if (total() > shown) lines.push_back(counted_noun(total() - shown, "earlier outside fault"));
  for (size_t i = kept_.size() - shown; i < kept_.size(); ++i) lines.push_back(kept_[i].what);
  return lines;
}

}  // namespace mrclab::lab
