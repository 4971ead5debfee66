// What a host notes of a stream's payload where observers read headers alone ends as the bytes do that it stores elsewhere.

#include <doctest/doctest.h>

#include "fabric/node/no_observer.h"
#include "fabric/text/yaml.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

/// One in fifty packets to one port is lost, and comes again, of RoCE from the lost one on.
Scenario lossy_story(const std::string& transport, const std::string& recovery) {
  const std::string text =
      "name: noted\nfabric: octet\nend: 400us\ncaptures: none\n"
      "transport: {recovery: " +
      recovery +
      "}\n"
      "workload:\n"
      "  - permutation: {hosts: all, load: 50%, message: 9999B, transport: " +
      transport +
      ", qps: 8}\n"
      "faults:\n  - {at: 50us, wire_loss: {link: 'h4:p0', direction: down, loss: 2%}}\n"
      "expect: [no_qp_error]\n";
  return parse_scenario(read_yaml_text(text, "f.yaml"), {}, {});
}

struct Ended {
  uint64_t verified = 0, mismatched = 0, repeated = 0;
  bool operator==(const Ended&) const = default;
};

Ended end_of(const Scenario& scenario, Simulation::Observed observed) {
  NoObserver nobody;
  Simulation simulation(
      scenario, 1, [&](NodeId) -> NodeObserver& { return nobody; }, nullptr, observed);
  simulation.run();
  Ended ended;
  for (uint32_t host = 0; host < scenario.topology.host_count(); ++host) {
    const endpoint::HostStats stats = simulation.account(host).stats;
    ended.verified += stats.bytes_verified;
    ended.mismatched += stats.bytes_mismatched;
    ended.repeated += stats.retransmissions;
  }
  return ended;
}

TEST_CASE("noted payload of a stream is verified as stored bytes are, with losses") {
  const std::pair<std::string, std::string> kinds[] = {
      {"mrc", "go_back_n"}, {"roce", "go_back_n"}, {"roce", "selective"}, {"roce", "placing"}};
  for (const auto& [transport, recovery] : kinds) {
    CAPTURE(transport);
    CAPTURE(recovery);
    const Scenario scenario = lossy_story(transport, recovery);
    const Ended noted = end_of(scenario, Simulation::Observed::kHeaders);
    CHECK(noted.verified > 1'000'000);
    CHECK(noted.mismatched == 0);
    CHECK(noted.repeated > 0);
    CHECK(noted == end_of(scenario, Simulation::Observed::kWholeFrames));
  }
}

}  // namespace
}  // namespace mrclab::lab
