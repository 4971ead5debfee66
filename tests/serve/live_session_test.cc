// The page on namespaces: what daemons write down is what the simulation of the session's scenario shows, at every
// instant at which the lab stands, whatever was done to it by hand.

#include <doctest/doctest.h>
#include <unistd.h>

#include <thread>

#include "lab/serve/live_branch.h"
#include "session/fabric_session.h"
#include "session/session_commands.h"
#include "session/simulated_branch.h"
#include "tests/serve/same_recording.h"

namespace mrclab::lab {
namespace {

FabricSession live_session(std::optional<uint64_t> record_bytes = {}) {
  Scenario scenario = load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml");
  auto branch = std::make_unique<LiveBranch>(
      scenario, LiveBranch::Options{.programs = MRCLAB_BINARY_DIR, .record_bytes = record_bytes});
  return {std::move(scenario), std::move(branch)};
}

/// The branch, and what a simulation of the session's scenario shows, are one.
void check_twin(const FabricSession& session) {
  const Branch& branch = session.branch();
  SimulatedBranch twin(session.scenario());
  twin.reach(branch.reached());
  CHECK(branch.history_sha256() == twin.history_sha256());
  test::check_same(branch.recording(), twin.recording(), branch.reached());
}

const FaultOrder kLoss{"wire_loss", {{"link", "p0.t0-0:u0"}, {"loss", "20%"}}, {}};

}  // namespace

TEST_SUITE_BEGIN("root: live page");

TEST_CASE("a live session has the history of its scenario, through faults by hand") {
  FabricSession session = live_session();
  CHECK(session.branch().world() == BranchWorld::kLive);
  session.seek(FabricTime::from_us(60));
  check_twin(session);

  const uint32_t number = session.break_it(kLoss);
  CHECK(session.faults().at(number).source == FaultSource::kHand);
  CHECK(session.faults().at(number).fault.at == session.at());
  CHECK(session.at() > FabricTime::from_us(60));
  CHECK(session.number() == 1);  // the same world goes on
  session.seek(FabricTime::from_us(85));
  check_twin(session);

  CHECK(session.heal("wire_loss") == std::vector<uint32_t>{number});
  session.seek(session.end());
  CHECK(session.branch().reached() == session.end());
  check_twin(session);
}

TEST_CASE("a change in the past of a live session brings another lab up, which runs up to there") {
  FabricSession session = live_session();
  session.seek(FabricTime::from_us(70));
  const std::string lab = session.branch().lab();
  session.seek(FabricTime::from_us(30));
  session.break_it(kLoss);
  CHECK(session.branch().world() == BranchWorld::kLive);
  CHECK(session.branch().lab() != lab);
  CHECK(session.number() == 2);
  CHECK(session.at() == FabricTime::from_us(30));
  CHECK(session.faults().back().fault.at == FabricTime::from_us(30));
  check_twin(session);
  session.use_transport("oblivious");
  CHECK(session.branch().world() == BranchWorld::kLive);
  check_twin(session);
}

TEST_CASE("what a fork leaves of a live session is simulated, and parts from it at the fork") {
  FabricSession session = live_session();
  session.seek(FabricTime::from_us(40));
  session.break_it(kLoss, true);
  REQUIRE(session.other() != nullptr);
  CHECK(session.other()->world() == BranchWorld::kSimulated);
  CHECK(session.branch().world() == BranchWorld::kLive);
  session.seek(FabricTime::from_us(70));
  const auto difference = session.difference();
  REQUIRE(difference);
  CHECK(difference->t > session.forked_at());
  CHECK(difference->t < session.forked_at() + FabricTime::from_us(10));
  session.swap();
  CHECK(session.branch().world() == BranchWorld::kSimulated);
  CHECK(session.faults().size() == 1);
  session.swap();
  CHECK(session.faults().size() == 2);
  check_twin(session);
}

TEST_CASE("what switches and hosts of a live session say is what simulated ones say") {
  FabricSession session = live_session();
  session.seek(FabricTime::from_us(60));
  const Branch& branch = session.branch();
  SimulatedBranch twin(session.scenario());
  twin.reach(branch.reached());
  for (const NodeSite& site : session.scenario().topology.nodes) {
    CAPTURE(site.name);
    if (site.role == NodeRole::kHost) {
      const endpoint::HostAccount a = branch.account(site.index), b = twin.account(site.index);
      CHECK(a.stats.retransmissions == b.stats.retransmissions);
      CHECK(a.stats.window_bytes == b.stats.window_bytes);
      CHECK(a.queues.size() == b.queues.size());
      continue;
    }
    const SwitchStatus a = branch.status_of(site), b = twin.status_of(site);
    CHECK(a.table == b.table);
    CHECK(a.pauses == b.pauses);
    CHECK(a.counters == b.counters);
  }
}

TEST_CASE("a link that another program sets down is a fault of the session") {
  FabricSession session = live_session();
  session.seek(FabricTime::from_us(20));
  const std::string command =
      "ip netns exec mrclab-" + session.branch().lab() + "-p0.t0-0 ip link set u0 down";
  REQUIRE(std::system(command.c_str()) == 0);
  bool changed = false;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!changed && std::chrono::steady_clock::now() < until) changed = session.look_after();
  REQUIRE(changed);
  REQUIRE(session.faults().size() == 2);
  CHECK(session.faults()[1].source == FaultSource::kOutside);
  CHECK(faults::name_of(session.faults()[1].fault) == "link_down");
}

TEST_CASE("where the records of a live world end, the page ends, says so, and judges nothing") {
  // Some 60 us of traffic; the scenario has 300.
  PlayedSession played(std::make_unique<FabricSession>(live_session(uint64_t{256} << 10)));
  FabricSession& session = played.session();
  const auto answer =
      answer_command(played, {{"do", "seek"}, {"at_ps", session.end().ps()}}, {}).text.dump();
  const auto cut = session.branch().records_cut();
  REQUIRE(cut);
  CHECK(cut->from > FabricTime::from_us(10));
  CHECK(cut->from < session.end());
  CHECK(cut->why.find("from " + to_string(cut->from) + " on nothing is recorded") == 0);
  CHECK(cut->why.find("0.2 MiB of /run") != std::string::npos);
  CHECK(answer.find(cut->why) != std::string::npos);

  // The page shows all that is there, and asks the world to go no further.
  const FabricTime last = cut->from - FabricTime::from_ps(1);
  CHECK(session.branch().reached() == last);
  CHECK(session.at() == last);
  CHECK(state_json(played).at("cut").at("from_ps") == cut->from.ps());
  played.playing = true;
  played.advance(50'000'000, {});
  CHECK_FALSE(played.playing);
  CHECK(session.branch().reached() == last);
  SimulatedBranch twin(session.scenario());
  twin.reach(last);
  test::check_same(session.branch().recording(), twin.recording(), last);

  // Nothing is shown of what comes then, and nothing is done there.
  CHECK_THROWS_WITH_AS(session.break_it(kLoss),
                       (cut->why + ": go back before you change anything").c_str(), InputError);
  CHECK_THROWS_AS(session.heal("all"), InputError);
  CHECK_THROWS_AS((void)session.branch().account(0), InputError);
  CHECK_THROWS_AS(answer_command(played, {{"do", "history"}}, {}), InputError);
  const nlohmann::json verdict = answer_command(played, {{"do", "judge"}}, {}).text;
  CHECK(verdict.at("result") == "inconclusive");
  CHECK(verdict.at("why") == cut->why);
  const auto saved = answer_command(played, {{"do", "yaml"}}, {}).text;
  CHECK(saved.at("text").get<std::string>().find("# Of the session that this was, " + cut->why) ==
        0);
  CHECK(answer_command(played, {{"do", "step"}, {"to", "packet"}}, {}).text.dump().find(cut->why) !=
        std::string::npos);
}

TEST_SUITE_END();

}  // namespace mrclab::lab
