#include "analysis/checks/wording.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "analysis/expect/expect_liveness.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

constexpr int kMostDigits = 4;

/// "66.12us (6 RTT)", "600us". `base_rtt`: zero if unknown.
std::string shortened(FabricTime t, FabricTime base_rtt) {
  const std::string text = exact(t);
  const auto digits =
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits <= kMostDigits) return text;
  const std::string readable = to_string(t);
  const size_t unit = readable.find_first_not_of("0123456789.");
  char rounded[48];
  std::snprintf(rounded, sizeof rounded, "%.*g%s", kMostDigits,
                std::strtod(readable.c_str(), nullptr), readable.c_str() + unit);
  // A file's "2.3rtt" was rounded down to whole picoseconds, so the quotient may be a tenth too low.
  const int64_t tenths =
      base_rtt > FabricTime::zero() ? (t + FabricTime::from_ps(1)) * 10 / base_rtt : 0;
  if (tenths == 0 || base_rtt * tenths / 10 != t) return rounded;
  const std::string fraction = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
  return std::string(rounded) + " (" + std::to_string(tenths / 10) + fraction + " RTT)";
}

}  // namespace

std::string Wording::share(Probability p) { return multiple(Ratio{p.ppb}); }

std::string Wording::multiple(const Ratio& ratio) {
  std::string text = exact(ratio);
  return text.insert(text.find('%'), " ");
}

std::string Wording::of(const GoodputReference& reference) {
  if (reference.kind == GoodputReference::kRate) return " of " + exact(reference.rate);
  return reference.kind == GoodputReference::kBaseline ? " of baseline" : " of line rate";
}

std::string Wording::who(const FlowSelection& flows) {
  std::string text;
  if (!flows.host.empty()) text += " of " + flows.host;
  if (!flows.source.empty()) text += " from " + flows.source;
  if (!flows.destination.empty()) text += " to " + flows.destination;
  if (flows.plane) text += " in plane " + std::to_string(*flows.plane);
  return text;
}

std::string Wording::count_bounds(uint64_t low, uint64_t high) {
  return bounds(low, high, PacketBounds::kNoBound,
                [](uint64_t count) { return std::to_string(count); });
}

std::string Wording::time(FabricTime t) const { return shortened(t, times_.base_rtt); }

std::string Wording::interval(FabricTime from, FabricTime until) const {
  const bool to_the_end = until == FabricTime::never();
  if (times_.healed && *times_.healed > FabricTime::zero() && from >= *times_.healed &&
      to_the_end) {
    return " after the heal (from " + time(from) + ")";
  }
  std::string text;
  if (from != FabricTime::zero()) text += " from " + time(from);
  if (!to_the_end) text += " until " + time(until);
  return text;
}

std::string Wording::packets(const char* what, const PacketBounds& e) const {
  return std::string("packets ") + what + who(e.flows) + when(e) +
         count_bounds(e.at_least, e.at_most);
}

std::string Wording::within(FabricTime bound) const {
  return at_most(bound == FabricTime::zero() ? std::to_string(kLivenessRtts) + " RTT"
                                             : time(bound));
}

}  // namespace mrclab::analysis
