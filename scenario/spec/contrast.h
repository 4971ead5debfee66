#pragma once
// What other transports achieve in a scenario. An incident that shows what MRC is for states here how badly the
// others do, so that a test notices if the contrast vanishes:
//
//   contrast:
//     - transport: roce                  # a name of the table (named_transport.h)
//       expect:                          # what must hold under it, as in `expect:`, but for `program`
//         - goodput: {from: 200us, at_most: 60%, of: line_rate}
//     - transport: roce
//       name: pfc-8qp                    # what tables call it; must differ from every other's
//       options: {qps: 8, dcqcn: off}    # more options of the transport, as in `transport:`
//       twin: fat                        # on one plane with the rate of all (fat_twin.h)
//       watchdog: {detect: 50us, restore: 50us}   # as in a fabric's `roce:`; or off
//       expect: [...]

#include <string>
#include <string_view>
#include <vector>

#include "analysis/expect/expectation.h"
#include "fabric/text/yaml.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// Reads the list of a scenario that is whole but for it. Throws InputError with the position.
std::vector<Contrast> parse_contrasts(const YamlValue& list, const Scenario& scenario);
/// The entry as it would stand in a file.
std::string to_yaml(const Contrast& contrast);

/// The transport and contrast (null: none) of a name that `--transport` may have for the scenario.
struct ContrastName {
  const NamedTransport* transport;
  const Contrast* contrast;
  bool on_fat_twin = false;  ///< of the scenario's fabric
};
/// A contrast of the scenario, else a transport of the table, or such a one with "-fat" behind it. Throws NameError
/// suggesting the nearest.
ContrastName find_contrast(const Scenario& scenario, std::string_view name);

/// The scenario under that transport, with what the contrast expects. Without a contrast it keeps those of its
/// expectations that can be asked of the transport. Name and contrasts stay, but for contrasts on a fat twin. Throws InputError for RoCE where
/// the fabric cannot carry it.
Scenario under_transport(const Scenario& scenario, const ContrastName& name);

/// Why an expectation does not apply to such a transport: "RoCE is not trimmed"; empty: it does.
std::string_view inapplicable(const analysis::Expectation& expectation, TransportFamily family);

}  // namespace mrclab::lab
