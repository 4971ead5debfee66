// Lost means did not arrive: verdict, checks, report, story, blame and the analysis of captures count alike.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/traffic_samples.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using nlohmann::json;
using test::SyntheticRun;
using test::us;

constexpr uint64_t kBroken = 5, kCongested = 7, kRefused = 10, kOutOfOrder = 4;
constexpr uint64_t kLost = kBroken + kCongested;

/// Beside others' traffic, of which nothing is lost, h0 sends to h2: packets that are lost on a wire, dropped by a
/// queue, and refused by the NIC, all of which arrive when they are retransmitted.
void write(SyntheticRun& run) {
  test::ScriptedTraffic().write(run);
  uint32_t psn = 0;
  const auto next = [&psn](bool again) {
    SyntheticRun::Sent sent;
    sent.destination = 2;
    sent.qp = 0x200;
    sent.psn = psn;
    sent.path = {0, 0};
    sent.start = us(100) + us(20) * int64_t{psn} + us(again ? 10 : 0);
    sent.retransmission = again;
    return sent;
  };
  const auto each = [&](uint64_t count, auto becomes) {
    for (uint64_t i = 0; i < count; ++i, ++psn) {
      becomes(next(false));
      run.delivered(next(true));
    }
  };
  const auto refuse = [&](const char* cause) {
    return [&run, cause](const SyntheticRun::Sent& sent) {
      run.delivered(sent);
      const auto frame = run.data_frame(sent);
      const FabricTime end =
          sent.start + serialization_time(wire_length({frame.size()}), run.topology().host_rate);
      run.drop("h2:p0", test::kInbound, end + run.flight() + run.topology().host_latency, frame,
               cause);
    };
  };
  each(kBroken, [&](const auto& sent) { run.lost(sent, "p0.t0-1:d0", "wire_loss"); });
  each(kCongested, [&](const auto& sent) { run.lost(sent, "p0.t0-1:d0", "queue_full"); });
  each(kRefused, refuse("receive_buffer_full"));
  each(kOutOfOrder, refuse("out_of_order"));
}

Result judged(const Topology& topology, const Expectation& expectation) {
  test::AnalyzedRun run(topology, "lost-checked");
  run.inputs.expectations = {expectation};
  write(run.run);
  return run.analyze().verdict.checks.at(0).result;
}

}  // namespace

TEST_CASE("verdict, report and story call lost what did not arrive, and nothing else") {
  const Topology topology = test::quad();
  test::AnalyzedRun run(topology, "lost-everywhere");
  write(run.run);
  const Analysis analysis = run.analyze();
  CHECK(analysis.verdict.metrics.lost == kLost);
  CHECK(analysis.verdict.metrics.refused == kRefused + kOutOfOrder);
  const json picture = json::parse(analysis.picture);
  uint64_t lost = 0;
  for (const json& bin : picture["series"]["lost"]) lost += bin.get<uint64_t>();
  CHECK(lost == kLost);
  std::map<std::string, uint64_t> rows;
  for (const json& row : picture["packets"]["rows"]) ++rows[row["what"].get<std::string>()];
  CHECK(rows ==
        std::map<std::string, uint64_t>{{"lost", kLost}, {"refused", kRefused + kOutOfOrder}});
  std::map<std::string, std::string> story;
  for (const json& line : picture["story"]) {
    story[line["kind"].get<std::string>()] += line["text"].get<std::string>();
  }
  CHECK(story["lost"].find("5 transmissions of 1 flow were lost that no fault explains") == 0);
  CHECK(story["dropped"].find("7 transmissions of 1 flow were dropped by full queues") == 0);
  CHECK(story["refused"].find(
            "10 transmissions of 1 flow were refused by receivers that had no room") == 0);
  CHECK(story["refused"].find(
            "4 transmissions of 1 flow were refused by receivers of RC that waited") !=
        std::string::npos);
}

TEST_CASE("checks count as lost what did not arrive, and nothing else") {
  const Topology topology = test::quad();
  for (const bool all : {true, false}) {
    const uint64_t most = kLost - (all ? 0 : 1);
    const Result expected = all ? Result::kPass : Result::kFail;
    ExpectLosses losses;
    losses.at_most = most;
    CHECK(judged(topology, losses) == expected);
    CHECK(judged(topology, ExpectLossesPerQp{most}) == expected);
  }
}

TEST_CASE("the analysis of captures counts as lost what did not arrive, and nothing else") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  write(run);
  const Traffic traffic = traffic_test::traffic_of(run);
  uint64_t lost = 0, by_path = 0, by_plane = 0;
  for (const TrafficFlow& flow : traffic.flows) lost += flow.lost;
  for (const FlowPath& path : traffic.paths) by_path += path.lost;
  for (const PlaneTraffic& plane : traffic.planes) by_plane += plane.lost;
  CHECK(lost == kLost);
  CHECK(by_path == kLost);
  CHECK(by_plane == kLost);
}

}  // namespace mrclab::analysis
