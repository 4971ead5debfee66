#include "scenario/spec/named_transport.h"

#include <algorithm>
#include <array>

#include "endpoint/options/transport_choice.h"

namespace mrclab::lab {

namespace {

/// Of uet-htsim as its main_uec.cpp has them (commit 40ccb052): marks from 0.2 to 0.8 BDP (lines 701, 702), towards hosts,
/// too, where senders control the rate (line 708), and queues of one BDP everywhere (line 40), beyond which packets are
/// trimmed.
void set_htsim_queues(QueueShape& queues) {
  queues.ecn = queues.trim = queues.ecn_last_hop = true;
  queues.ecn_min = 200;
  queues.ecn_max = 800;
  queues.trim_threshold = queues.trim_threshold_last_hop = 1000;
}

}  // namespace

std::span<const NamedTransport> named_transports() {
  using enum TransportFamily;
  // Without what this lab adds to MRC and NSCC (docs/mrc-rules.md); the sprayers as uet-htsim has them.
  static const std::string kLetter = endpoint::letter_options();
  static const std::string kMrcLetter = "{" + kLetter + "}";
  static const std::string kObliviousHtsim =
      "{path_choice: oblivious, window_rule: fits, " + kLetter + "}";
  static const std::string kRepsHtsim = "{path_choice: reps, window_rule: fits, " + kLetter + "}";
  static const std::array kTransports{
      NamedTransport{"mrc", "as in the scenario", ""},
      NamedTransport{"mrc-letter",
                     "MRC to the letter of its documents: every rule of this lab's own off "
                     "(docs/mrc-rules.md)",
                     kMrcLetter},
      NamedTransport{
          "oblivious",
          "sprays over all paths, whatever happens to packets; congestion control as MRC here",
          "{path_choice: oblivious}"},
      NamedTransport{
          "reps",
          "uses paths again whose packets came back unmarked (REPS), otherwise as oblivious",
          "{path_choice: reps}"},
      NamedTransport{"oblivious-htsim",
                     "oblivious under NSCC to its letter, marks and trims of uet-htsim",
                     kObliviousHtsim,
                     kSprays,
                     {},
                     set_htsim_queues},
      NamedTransport{"reps-htsim",
                     "REPS under NSCC to its letter, marks and trims of uet-htsim",
                     kRepsHtsim,
                     kSprays,
                     {},
                     set_htsim_queues},
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
      NamedTransport{"mrc-fare",
                     "MRC where switches route by BGP and spray by weight (FARE); timers of no "
                     "product: decisions take no time, BFD of 3 x 50us",
                     "", kSprays, "{default: fare, spray: packet, bfd: 50us, nics: off}"},
      NamedTransport{
          "roce-fare", "RC where switches route by BGP, each flow by a hash; those timers",
          "{profile: roce}", kRoce, "{default: fare, spray: flow, bfd: 50us, nics: off}"},
      NamedTransport{
          "mrc-fare-hw",
          "MRC over FARE with our guess of an ASIC's delays and BFD of 3 x 3.3ms (RFC 7419)", "",
          kSprays, "{default: fare, spray: packet, delays: hardware, nics: off}"},
      NamedTransport{"roce-fare-hw", "RC over FARE with those", "{profile: roce}", kRoce,
                     "{default: fare, spray: flow, delays: hardware, nics: off}"},
      NamedTransport{"mrc-reroute",
                     "MRC over that with fast reroute: local protection and remote notification",
                     "", kSprays,
                     "{default: fare, spray: packet, delays: hardware, nics: off, fast_reroute: "
                     "remote}"},
      NamedTransport{"roce-reroute", "RC over that with fast reroute", "{profile: roce}", kRoce,
                     "{default: fare, spray: flow, delays: hardware, nics: off, fast_reroute: "
                     "remote}"},
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
