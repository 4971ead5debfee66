// Options that change nothing in a scenario are reported, and those that do are not.

#include "scenario/spec/idle_options.h"

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"
#include "scenario/simulation/simulation.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario with_transport(const std::string& transport, const std::string& more = "",
                        const std::string& propagation = "500ns") {
  return parse_scenario(
      read_yaml_text("name: x\nfabric: {name: f, planes: 8, t0: 2, t1: 1, hosts_per_t0: 1, "
                     "propagation: " +
                         propagation + "}\ntransport: {" + transport +
                         "}\nworkload:\n  - write: {from: h0, to: h1, size: 256KiB, until: end}\n" +
                         more + "end: 100us\n",
                     "x.yaml"));
}

std::string said(const Scenario& scenario) {
  std::string text;
  for (const std::string& line : idle_options(scenario)) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("an option that has no effect is said in one line, with the reason") {
  CHECK(said(with_transport("max_psn_range: 1024")) == "");
  CHECK(
      said(with_transport("max_psn_range: 8192")) ==
      "max_psn_range: 8192 has no effect: no queue pair here has more than 1024 packets under way, "
      "which is what the largest window and the memory of its receiver hold\n");
  CHECK(said(with_transport("max_psn_range: 8192", "", "50us")) == "");
  CHECK(said(with_transport("congestion_control: fixed, nscc_gamma: 50%"))
            .starts_with("nscc_gamma: 50% has no effect: the window is fixed"));
  CHECK(
      said(with_transport("window_percent: 100")).starts_with("window_percent: 100 has no effect"));
  CHECK(said(with_transport("congestion_control: fixed, window_percent: 100")) == "");
  CHECK(said(with_transport("receive_buffer: 65536"))
            .starts_with("receive_buffer: 65536 has no effect"));
  CHECK(said(with_transport("receive_buffer: 65536, receive_rate: 10Gb/s")) == "");
  CHECK(said(with_transport("receive_buffer: 65536",
                            "faults:\n  - {at: 10us, pcie_stall: {host: h1, for: 5us}}\n")) == "");
}

TEST_CASE("with long links one queue pair fills the line if its range allows it, and only then") {
  const auto share = [](const std::string& range) {
    Scenario scenario = with_transport("max_psn_range: " + range, "", "25us");
    scenario.end = FabricTime::from_ms(3);
    scenario.payload_elided = true;
    return scenario;
  };
  const auto goodput = [&](const std::string& range) {
    const Scenario scenario = share(range);
    struct Deaf : NodeObserver {
      void packet(const PacketRecord&) override {}
      void event(const EventRecord&) override {}
    } deaf;
    Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return deaf; });
    simulation.run();
    return static_cast<double>(simulation.account(1).stats.goodput_bytes()) /
           static_cast<double>(bytes_in({800'000'000'000}, scenario.end).value);
  };
  const double narrow = goodput("1024");
  const double wide = goodput("16384");
  MESSAGE("1024: " << narrow << ", 16384: " << wide);
  CHECK(narrow < 0.3);
  CHECK(wide > 0.85);
}
