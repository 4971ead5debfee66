// What a run shows of its faults beside lost packets, and that nothing is shown of a fault that met no frame of the job.

#include "lab/twin/fault_signs.h"

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"
#include "lab/twin/twin_run.h"
#include "lab/twin/twin_set.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Two ranks that send each other a message in each step, and the faults, each by itself.
std::vector<FaultSigns> signs_with(const std::string& faults,
                                   FabricTime until = FabricTime::never()) {
  const Scenario scenario = parse_scenario(read_yaml_text(
      "name: signs\nfabric: octet\nseed: 1\nend: 200us\nworkload:\n"
      "  - job: {hosts: [h0, h5], groups: {dp: 2}, steps: 3, phases: [{forward: {compute: 5us}}, "
      "{grads: {all_reduce: {group: dp, size: 256KiB}}}]}\nfaults:\n" +
          faults,
      "signs"));
  FrameWatch frames(scenario.topology, delaying_wires(scenario));
  std::vector<FaultSigns> signs;
  const TwinWatch watch{[&](NodeId node) -> NodeObserver& { return frames.observer(node); },
                        [&](const analysis::Evidence& evidence, const TwinMeasure&) {
                          signs = fault_signs(scenario, evidence, frames, until);
                        }};
  const TwinCase twins(scenario);
  run_twin(twins, twins.all(), {}, watch);
  return signs;
}

uint64_t count_of(const FaultSigns& signs, Sign sign) { return signs[static_cast<size_t>(sign)]; }

/// The one sign that there is.
std::string only_sign(const FaultSigns& signs) {
  std::string names;
  for (size_t i = 0; i < kSigns; ++i) {
    if (signs[i] > 0)
      names += std::string(names.empty() ? "" : " ") +
               std::string(name_of(Sign{static_cast<uint8_t>(i)}));
  }
  return names;
}

}  // namespace

TEST_CASE(
    "each fault shows by its own sign in frames of the job, and one that meets none by none") {
  const std::vector<FaultSigns> signs = signs_with(
      "  - {at: 5us, slow_receiver: {host: h5, share: 10%, for: 30us}}\n"
      "  - {at: 5us, slow_receiver: {host: h6, share: 10%, for: 30us}}\n"
      "  - {at: 60us, delay: {wire: \"h0:p0->p0.t0-0:d0\", by: 1us, for: 100us}}\n"
      "  - {at: 60us, delay: {wire: \"h1:p0->p0.t0-0:d1\", by: 1us, for: 100us}}\n"
      "  - {at: 60us, rate: {wire: \"p1.t0-0:u0->p1.t1-0:d0\", to: 20Gb/s, for: 100us}}\n");
  CHECK(only_sign(signs[0]) == "held");
  CHECK(only_sign(signs[1]) == "");
  CHECK(only_sign(signs[2]) == "late");
  CHECK(only_sign(signs[3]) == "");
  CHECK(only_sign(signs[4]) == "late");
}

TEST_CASE(
    "answers that are lost are a sign of the fault on their wire, and count until the job is done") {
  // h0 is where answers to its own data and the data of h5 arrive.
  const std::string faults =
      "  - {at: 5us, wire_loss: {wire: \"p0.t0-0:d0->h0:p0\", loss: 100%, for: 60us}}\n"
      "  - {at: 5us, wire_loss: {wire: \"p0.t0-0:d1->h1:p0\", loss: 100%, for: 60us}}\n";
  const std::vector<FaultSigns> signs = signs_with(faults);
  CHECK(count_of(signs[0], Sign::kAnswers) > 0);
  CHECK(count_of(signs[0], Sign::kData) > 0);
  CHECK(only_sign(signs[1]) == "");
  CHECK(only_sign(signs_with(faults, FabricTime::from_us(5))[0]) == "");
}

TEST_CASE(
    "a burst shows by packets of the job that come late behind it, one to another host by none") {
  const std::vector<FaultSigns> signs = signs_with(
      "  - {at: 10us, incast: {from: [h1, h2], to: h5, size: 200kB}}\n"
      "  - {at: 10us, incast: {from: [h3, h4], to: h6, size: 200kB}}\n");
  CHECK(only_sign(signs[0]) == "late");
  CHECK(only_sign(signs[1]) == "");
}

TEST_CASE(
    "a dark port is a sign where packets of the job went by others meanwhile, and else none") {
  const std::vector<FaultSigns> signs = signs_with(
      "  - {at: 5us, link_down: {link: \"h0:p1\", for: 60us}}\n"
      "  - {at: 5us, link_down: {link: \"h1:p1\", for: 60us}}\n"      // no rank of the job
      "  - {at: 170us, link_down: {link: \"h5:p1\", for: 20us}}\n");  // which is done by then
  CHECK(count_of(signs[0], Sign::kAvoided) > 0);
  CHECK(count_of(signs[1], Sign::kAvoided) == 0);
  CHECK(count_of(signs[2], Sign::kAvoided) == 0);
}
