#pragma once
// The same scenario under other transports, on other numbers of planes, with other sharings of transceivers, and where
// switches choose, and with fewer ranks: what `twin --over` holds against each other. Faults stay the same parts.

#include <string>
#include <vector>

#include "scenario/spec/scenario.h"

namespace mrclab::lab {

struct TwinVariant {
  std::string axis, value;  ///< as in TwinReport; both empty: the scenario as it is
  Scenario scenario;
};

/// At most so many variants at once: our choice, each takes all runs of a twin.
inline constexpr size_t kMaxTwinVariants = 64;

/// `over`: axes, each with values or without: "planes", "planes=1:4", "transport=roce16-fat:one-path", "optics=1:2",
/// "routing", "ranks". Without values:
///
///   transport  one-path, roce16-fat, roce-ar-fat
///   routing    mrc-ecmp, mrc-fare, mrc-reroute
///   planes     1, 2, 4, 8, as far as they divide the fabric's
///   optics     transceivers of 1, 2, 4, 8 links, as far as a switch has so many
///   ranks      2, 4, 8 and so on, as far as the job's groups can have so many
///
/// The first is the scenario as it is; values that it has itself are left out. Throws InputError, before anything is run.
std::vector<TwinVariant> variants_of(const Scenario& scenario,
                                     const std::vector<std::string>& over);

/// The scenario on so many planes, which divide its own, each with so much more rate: plane k is plane k * planes / own, so
/// that a half of the planes stays a half. A transceiver carries as much less links, and at least one. Expectations and
/// contrasts are left out. Throws InputError.
Scenario on_planes(const Scenario& scenario, uint32_t planes);

/// The scenario with transceivers of so many links each, of the kinds that share some as it is; the downlinks of T0s if none
/// does. A fault of a transceiver is one of that with the first of its links. Throws InputError.
Scenario with_links_per_optic(const Scenario& scenario, uint32_t links);

/// The scenario's jobs with the first so many of their ranks: the outermost dimension of their groups gets smaller. Throws
/// InputError where groups are lists, or their other dimensions do not divide the number.
Scenario with_ranks(const Scenario& scenario, uint32_t ranks);

/// Every job at another scale, and instants and times of faults, and the end, as much longer or shorter as its steps are.
/// Throws InputError for a scenario without a job.
Scenario at_scale(const Scenario& scenario, uint32_t scale);

}  // namespace mrclab::lab
