#include "lab/persistent/stepper.h"

#include <algorithm>

namespace mrclab::lab {

void Stepper::advance_view(const View& view) {
  if (result_ != Result::kUnderWay || view.slowest < limit_) return;
  // Everybody stands at the limit, so all that matched up to there is counted.
  if (view.records > records_) {
    records_ = view.records;
    if (++instants_ == goal_.instants) result_ = Result::kFound;
  }
  if (result_ == Result::kUnderWay && limit_ >= goal_.at_most) result_ = Result::kAtMost;
  if (result_ == Result::kUnderWay && strides_ == kMaxStrides) result_ = Result::kTooManyStrides;
  if (result_ == Result::kUnderWay && view.quiet) stride(*view.quiet);
}

void Stepper::stride(const netio::GatePage::Quiet& quiet) {
  if (quiet.next == FabricTime::never()) {
    result_ = Result::kNothingPending;
    return;
  }
  const FabricTime reach = std::max(quiet.next, FabricTime::zero()) + goal_.lookahead - kPicosecond;
  const FabricTime next = std::min(quiet.watched, reach);
  // What came from outside the lab may be due at once.
  limit_ = std::min(std::max(next, limit_ + kPicosecond), goal_.at_most);
  ++strides_;
}

}  // namespace mrclab::lab
