#pragma once
// The search behind find_blame: which components, in which intervals, make the samples likely. Only
// analysis/blame/blame*.cc include this.

#include <functional>
#include <span>
#include <vector>

#include "analysis/blame/blame_component.h"

namespace mrclab::analysis {

/// One component that a search found.
struct Suspicion {
  Component component;
  std::vector<Component> or_else;  ///< explain the same as well
  std::vector<Component>
      both;         ///< or these two at once; none, or what is smaller than the component
  double gain = 0;  ///< nats
  FabricTime from, until;
  FabricTime named;           ///< the instant of the sample that brought the gain to `least_gain`
  std::vector<uint32_t> bad;  ///< indices of samples
  uint64_t of = 0;            ///< samples over it in that time, that count
};

struct SearchOptions {
  Question question = Question::kWhoLoses;
  /// Probability that a sample is bad for no reason.
  double chance = 1e-4;
  /// The least gain of one that is no chance, in nats: some 500 components in 1000 intervals, with a margin as large
  /// again. Three lost packets give 28.
  double least_gain = 24;
  /// The samples are probes of a mapper, which come by once in so long and show no light: what failed at once is found out
  /// within that time. Zero: they are packets.
  FabricTime probed_every = {};
  std::string noun = "packet";                                    ///< what a sample is
  std::vector<double> severities = {0.98, 0.5, 0.2, 0.05, 0.01};  ///< shares of bad ones to try
  /// Would a fault of this component have shown elsewhere, too? Then its parts explain these samples, if they can. A line
  /// card, a power zone and a plane of a listed fabric are then never named. Empty: nothing is refuted.
  std::function<bool(const Component&, const std::vector<uint32_t>& bad, FabricTime from,
                     FabricTime until)>
      refuted = {};
};

/// Best first, until nothing is left that is more than chance. Bounded by kMaxSuspicions.
std::vector<Suspicion> search_blame(const Topology& topology, std::span<const BlameSample> samples,
                                    const SearchOptions& options = {});
inline constexpr size_t kMaxSuspicions = 64;

}  // namespace mrclab::analysis
