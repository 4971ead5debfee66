#pragma once
// Safety: what must hold while faults are on. `safety` in a file stands for all of these.

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// All of safety: opened by without_bundles() before anything is judged.
struct ExpectSafety {
  static constexpr ExpectationWord kWord{"safety", Measure::kCount};
  bool operator==(const ExpectSafety&) const = default;
};
const Rules<ExpectSafety>& rules_of(const ExpectSafety&);

/// No byte is placed twice with different content and none outside its region: every packet that
/// arrives has the same content as the first that was seen of its PSN; the packets of a message lie side
/// by side in it, inside the region; and no host counts more bytes as new than reached it.
struct ExpectPlacedOnce {
  static constexpr ExpectationWord kWord{"placed_once", Measure::kCount};
  bool operator==(const ExpectPlacedOnce&) const = default;
};
const Rules<ExpectPlacedOnce>& rules_of(const ExpectPlacedOnce&);

/// No message is lost without an error: what completed at its sender arrived whole, what a
/// receiver acknowledged had arrived, and what was posted is completed, failed or still under way.
struct ExpectNoSilentLoss {
  static constexpr ExpectationWord kWord{"no_silent_loss", Measure::kCount};
  bool operator==(const ExpectNoSilentLoss&) const = default;
};
const Rules<ExpectNoSilentLoss>& rules_of(const ExpectNoSilentLoss&);

/// No completion out of order: neither at the sender (by the host's report) nor, by the captures, an
/// acknowledgement of everything up to a PSN while something before it was missing.
struct ExpectInOrder {
  static constexpr ExpectationWord kWord{"in_order", Measure::kCount};
  bool operator==(const ExpectInOrder&) const = default;
};
const Rules<ExpectInOrder>& rules_of(const ExpectInOrder&);

/// A QP fails only if, in the last retry span, every path between its hosts was impaired or denied
/// at some time (there or back), or one of the hosts was without power at any time before.
struct ExpectNoQpErrorWhileAPathLives {
  static constexpr ExpectationWord kWord{"no_qp_error_while_a_path_lives", Measure::kCount};
  bool operator==(const ExpectNoQpErrorWhileAPathLives&) const = default;
};
const Rules<ExpectNoQpErrorWhileAPathLives>& rules_of(const ExpectNoQpErrorWhileAPathLives&);

/// Every packet accounted for (conservation.h), and every attempt delivered, trimmed, dropped with a
/// cause, or on its way at the end for no longer than a way takes.
struct ExpectAccounted {
  static constexpr ExpectationWord kWord{"accounted", Measure::kCount};
  bool operator==(const ExpectAccounted&) const = default;
};
const Rules<ExpectAccounted>& rules_of(const ExpectAccounted&);

}  // namespace mrclab::analysis
