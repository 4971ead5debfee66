#include "scenario/spec/named_transport.h"

#include <algorithm>
#include <array>

namespace mrclab::lab {

std::span<const NamedTransport> named_transports() {
  using enum TransportFamily;
  static constexpr std::array kTransports{
      NamedTransport{"mrc", "as in the scenario", ""},
      NamedTransport{"oblivious", "sprays over all paths, whatever happens to packets",
                     "{path_choice: oblivious}"},
      NamedTransport{"reps", "uses paths again whose packets came back unmarked (REPS)",
                     "{path_choice: reps}"},
      NamedTransport{"roce", "RC over RoCEv2: one path per queue pair, DCQCN, PFC",
                     "{profile: roce}", kRoce},
      NamedTransport{"roce16", "likewise, with sixteen queue pairs for each connection",
                     "{profile: roce, qps: 16}", kRoce},
      NamedTransport{"roce-nopfc", "RoCE on Ethernet that drops: go-back-N at each loss",
                     "{profile: roce, pfc: off}", kRoce},
      NamedTransport{"roce-ar", "RoCE with adaptive routing, NICs that place packets in any order",
                     "{profile: roce, adaptive_routing: on, recovery: placing, reorder: 64}",
                     kRoce},
      NamedTransport{"mrc-ecmp", "MRC where switches choose by a hash that nothing changes (ECMP)",
                     "", kSprays, "ecmp"},
      NamedTransport{"mrc-fare", "MRC where switches route by BGP and spray by weight (FARE)", "",
                     kSprays, "{default: fare, spray: packet, bfd: 50us, nics: off}"},
      NamedTransport{"roce-fare", "RC where switches route by BGP, each flow by a hash (FARE)",
                     "{profile: roce}", kRoce,
                     "{default: fare, spray: flow, bfd: 50us, nics: off}"},
      NamedTransport{"one-path", "one path for each queue pair, drawn from the seed",
                     "{spray: off}", kOnePath},
  };
  return kTransports;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const NamedTransport& transport : named_transports()) names.emplace_back(transport.name);
  return names;
}

const NamedTransport* transport_called(std::string_view name) {
  const auto all = named_transports();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const NamedTransport& t) { return t.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace mrclab::lab
