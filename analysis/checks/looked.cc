#include "analysis/checks/looked.h"

namespace mrclab::analysis {
namespace {

/// " by events"; nothing where the things themselves are the evidence ("delivered packets").
std::string by(const Looked& looked) {
  const std::string_view source = kSourceNames[static_cast<size_t>(looked.source())];
  return looked.what().many.ends_with(source) ? "" : " by " + std::string(source);
}

std::string window(const Looked& looked) {
  const bool ends = looked.until() != FabricTime::never();
  const bool begins = looked.from() > FabricTime::zero();
  return (begins ? to_string(looked.from()) : std::string("0s")) + " to " +
         (ends ? to_string(looked.until()) : std::string("the end"));
}

}  // namespace

std::string to_string(const Looked& looked) {
  return counted_noun(looked.count(), looked.what()) + by(looked) + ", " + window(looked);
}

std::string nothing_in(const Looked& looked) {
  return "nothing was looked at: there were no " + looked.what().many + by(looked) + ", " +
         window(looked);
}

}  // namespace mrclab::analysis
