// A session of the page: however people move through it, it has the history of the scenario that it shows
// as its own.

#include "session/fabric_session.h"

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "lab/run/watched_run.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario.h"
#include "session/lesson.h"
#include "session/session_commands.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

Scenario first() { return load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"); }

/// The history of a run of the scenario that the session shows.
std::string history_of_file(const FabricSession& session) {
  return run_watched(parse_scenario(read_yaml_text(session.yaml(), "saved")))
      .metrics.history_sha256;
}

std::string history_of(FabricSession& session) {
  session.seek(session.end());
  return session.branch().history_sha256();
}

FaultOrder loss(const char* share) {
  return {"wire_loss", {{"link", "p0.t0-0:u0"}, {"loss", share}, {"for", "30us"}}, {}};
}

}  // namespace

TEST_CASE("a step that finds nothing says how far it looked") {
  PlayedSession played(first());
  const json forward{{"do", "step"}, {"to", "fault"}},
      back{{"do", "step"}, {"to", "fault"}, {"back", true}};
  CHECK(answer_command(played, back, {}).text.at("text") == "there is none before");
  answer_command(played, forward, {});
  answer_command(played, forward, {});
  CHECK(answer_command(played, forward, {}).text.at("text") == "there is none until the end");
}

TEST_CASE("a session has the history of a run of its scenario, though its payload is elided") {
  FabricSession session(first());
  CHECK(history_of(session) == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("seeking, stepping forward and back leave the history as it was") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(150));
  for (int i = 0; i < 20; ++i) session.step(StepTo::kPacket, false);
  for (int i = 0; i < 40; ++i) session.step(StepTo::kPacket, true);
  session.seek(FabricTime::from_us(20));
  CHECK(history_of(session) == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("a step back from a step forward comes to the same instant") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(99));
  for (const StepTo to : {StepTo::kPacket, StepTo::kFault, StepTo::kLoss, StepTo::kPath}) {
    REQUIRE(session.step(to, false));
    const FabricTime one = session.at();
    REQUIRE(session.step(to, false));
    CHECK(session.at() > one);
    REQUIRE(session.step(to, true));
    CHECK(session.at() == one);
  }
}

TEST_CASE("the next fault is where the scenario says, and behind the last one there is none") {
  FabricSession session(first());
  REQUIRE(session.step(StepTo::kFault, false));
  CHECK(session.at() == FabricTime::from_us(100));
  REQUIRE(session.step(StepTo::kFault, false));
  CHECK(session.at() == FabricTime::from_us(140));
  CHECK_FALSE(session.step(StepTo::kFault, false));
  CHECK(session.at() == session.end());
  CHECK_FALSE([&] {
    session.seek(FabricTime::from_us(50));
    return session.step(StepTo::kFault, true);
  }());
  CHECK(session.at() == FabricTime::zero());
}

TEST_CASE(
    "a fault by hand changes the history from its instant on, and the saved file repeats it") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(60));
  session.break_it(loss("50%"));
  const std::string broken = history_of(session);
  CHECK(broken != run_watched(first()).metrics.history_sha256);
  CHECK(broken == history_of_file(session));
}

TEST_CASE("a fault that is healed at the instant at which it was made leaves no trace") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(60));
  const uint32_t number = session.break_it(loss("50%"));
  REQUIRE(session.heal(std::to_string(number)) == std::vector<uint32_t>{number});
  CHECK(history_of(session) == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("a heal ends a fault where it is given, and the saved file repeats it") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(110));
  REQUIRE(session.heal("link_down").size() == 1);
  const std::string healed = history_of(session);
  CHECK(healed != run_watched(first()).metrics.history_sha256);
  CHECK(healed == history_of_file(session));
}

TEST_CASE("a session that began with a saved one says so once") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(30));
  session.break_it(loss("40%"));
  const std::string saved = session.yaml();
  CHECK(saved.find("As it went in a lab: 1 fault by hand") != std::string::npos);
  const std::string again = FabricSession(parse_scenario(read_yaml_text(saved, "saved"))).yaml();
  const size_t said = again.find("As it went in a lab:");
  REQUIRE(said != std::string::npos);
  CHECK(again.find("As it went in a lab:", said + 1) == std::string::npos);
}

TEST_CASE("a change in the past discards what was changed by hand later") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(200));
  session.break_it(loss("50%"));
  session.seek(FabricTime::from_us(60));
  session.break_it(loss("20%"));
  CHECK(session.faults().size() == 2);  // the scenario's and the second by hand
  CHECK(history_of(session) == history_of_file(session));
}

TEST_CASE("two branches are the same up to the fork and part at the first packet that differs") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(60));
  session.break_it(loss("100%"), true);
  REQUIRE(session.other() != nullptr);
  session.seek(session.end());
  CHECK(session.other()->history_sha256() == run_watched(first()).metrics.history_sha256);
  const auto difference = session.difference();
  REQUIRE(difference);
  CHECK(difference->t >= FabricTime::from_us(60));
  CHECK(difference->t < FabricTime::from_us(62));
  session.swap();
  CHECK(history_of(session) == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("a fork under another transport differs from the beginning on") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(100));
  session.use_transport("oblivious", true);
  CHECK(history_of(session) == history_of_file(session));
  CHECK(session.difference());
}

TEST_CASE("what cannot be done says so and changes nothing") {
  FabricSession session(first());
  session.seek(FabricTime::from_us(60));
  CHECK_THROWS_AS(session.break_it({"link_down", {{"link", "p9.t0-0:u0"}}, {}}), InputError);
  CHECK_THROWS_AS(session.break_it({"no_such", {}, {}}), InputError);
  CHECK_THROWS_AS(session.heal("nothing-of-this-name"), InputError);
  CHECK_THROWS_AS(session.use_transport("tcp"), InputError);
  CHECK_THROWS_AS(session.swap(), InputError);
  CHECK(history_of(session) == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("asked for its history, a session gives the digest of a run of its scenario") {
  PlayedSession played(first());
  const SessionAnswer answer = answer_command(played, {{"do", "history"}}, {});
  CHECK(answer.text.at("sha256") == run_watched(first()).metrics.history_sha256);
}

TEST_CASE("a switch is told in the words of inspect, as of the instant that was simulated") {
  PlayedSession played(first());
  answer_command(played, {{"do", "seek"}, {"at_ps", 50'000'000}}, {});
  const NodeId node = played.session().scenario().topology.find_node("p0.t0-0").value();
  const SessionAnswer answer =
      answer_command(played, {{"do", "inspect"}, {"node", node.value}}, {});
  const auto text = answer.text.at("text").get<std::string>();
  CHECK(text.find("p0.t0-0: forwarded by switchd\nTO") == 0);
  CAPTURE(text);
  CHECK(text.find("\n2000   End ") != std::string::npos);
  CHECK(text.find("\nother  drop  ") != std::string::npos);
  CHECK(answer.text.at("at_ps") == played.session().branch().reached().ps());
  CHECK(answer.text.at("counters").at("total.rx") > 0);
  for (const uint32_t other : {played.session().scenario().topology.host(0).value, 1'000'000u}) {
    CHECK_THROWS_AS(answer_command(played, {{"do", "inspect"}, {"node", other}}, {}), InputError);
  }
}

TEST_CASE("the last SACK of a queue pair says what has arrived, and not more") {
  PlayedSession played(first());
  answer_command(played, {{"do", "seek"}, {"at_ps", 160'000'000}}, {});
  const Scenario& scenario = played.session().scenario();
  const Topology& topology = scenario.topology;
  const Recording& recording = played.session().branch().recording();
  const QueuePairEnd sender = queue_pairs(scenario).at(0);
  std::map<uint32_t, FabricTime> arrivals;  // by PSN, the first
  for (size_t bin = 0; bin <= recording.bin_of(FabricTime::from_us(160)); ++bin) {
    for (const SeenPacket& p : recording.packets(bin)) {
      const bool arrives = p.event == PacketEvent::kPassed && p.queue != QueueClass::kTrimmed &&
                           carries_data(static_cast<Opcode>(p.opcode)) && p.source == sender.host &&
                           p.qp == sender.peer_qpn &&
                           topology.wire(p.wire).to.node == topology.host(sender.peer_host);
      if (arrives) arrivals.emplace(p.psn.value(), p.t + topology.wire(p.wire).propagation);
    }
  }
  size_t missing = 0;
  for (int64_t us = 90; us < 150; ++us) {  // in the middle of it a link is down
    const json order{{"do", "sack"},
                     {"host", sender.host},
                     {"qp", sender.qpn.value},
                     {"at_ps", FabricTime::from_us(us).ps()}};
    const json sack = answer_command(played, order, {}).text;
    REQUIRE(sack.at("found") == true);
    const FabricTime came = FabricTime::from_ps(sack.at("t_ps").get<int64_t>());
    CHECK(came <= FabricTime::from_us(us));
    const auto bits = sack.at("bits").get<std::string>();
    REQUIRE(bits.size() == 64);
    const size_t newest = bits.rfind('1');
    const auto arrived = [&](uint32_t psn, FabricTime until) {
      const auto found = arrivals.find(psn);
      return found != arrivals.end() && found->second <= until;
    };
    CHECK(arrived(sack.at("cumulative").get<uint32_t>(), came));
    CHECK_FALSE(arrived(sack.at("cumulative").get<uint32_t>() + 1, came - topology.base_rtt));
    for (uint32_t i = 0; newest != std::string::npos && i <= newest; ++i) {
      const uint32_t psn = sack.at("first").get<uint32_t>() + i;
      if (bits[i] == '1') CHECK(arrived(psn, came));
      if (bits[i] == '0') CHECK_FALSE(arrived(psn, came - topology.base_rtt));
      missing += bits[i] == '0';
    }
  }
  CHECK(missing > 0);
  const json none{{"do", "sack"}, {"host", sender.host}, {"qp", sender.qpn.value}, {"at_ps", 0}};
  CHECK(answer_command(played, none, {}).text.at("found") == false);
  const json nobody{{"do", "sack"}, {"host", 1000}, {"qp", 1}, {"at_ps", 0}};
  CHECK_THROWS_AS(answer_command(played, nobody, {}), InputError);
}

TEST_CASE("another workload begins a session anew, under the same options and faults") {
  PlayedSession played(first());
  played.run = ServedRun{"a-run", "sim", "1", "abc", true};
  played.session().set_options("{profile: lab, port_status: off}");
  const std::string text = "- write: {from: h1, to: h0, size: 64KiB, until: end}";
  CHECK(answer_command(played, {{"do", "workload"}, {"text", text}}, {}).all_changed);
  CHECK(played.session().scenario().workload.size() == 1);
  CHECK(played.session().scenario().faults.size() == 1);
  CHECK(endpoint::to_yaml(played.session().scenario().transport).find("port_status: off") !=
        std::string::npos);
  CHECK_FALSE(played.run);  // it is that run's scenario no more
  CHECK_THROWS_AS(answer_command(played, {{"do", "workload"}, {"text", "[]"}}, {}), InputError);
  CHECK_THROWS_AS(answer_command(played, {{"do", "workload"}, {"text", "- nothing: {}"}}, {}),
                  InputError);
}

TEST_CASE("an answer is judged without being told") {
  PlayedSession played(first());
  const auto result = [&](int task, const char* text) {
    const nlohmann::json order{
        {"do", "answer"}, {"lesson", "12-plan-131072"}, {"task", task}, {"text", text}};
    return answer_command(played, order, {}).text.at("result");
  };
  CHECK(result(1, "6,144") == "pass");
  CHECK(result(1, "6143.9 switches") == "fail");
  CHECK_THROWS_AS(result(4, "1"), InputError);
  CHECK_THROWS_AS(result(-1, "1"), InputError);
  CHECK_THROWS_AS(result(3, "1"), InputError);  // that one is done in the session
}

TEST_CASE(
    "a burst's datagrams, which no queue pair expects, do not count as lost; a lossy wire's do") {
  const Lesson& lesson = find_lesson("03-loss-trim-mark");
  const auto lost_in = [&](size_t task) {
    FabricSession session(solved(lesson, lesson.tasks.at(task)));
    session.look_ahead(session.end(), {});
    const Recording& recording = session.branch().recording();
    uint64_t lost = 0;
    for (size_t bin = 0; bin < recording.bins(); ++bin) {
      for (const Recording::PlaneSums& sums : recording.planes(bin)) lost += sums.lost;
    }
    return lost;
  };
  CHECK(lost_in(1) == 0);  // of 1,792 datagrams
  CHECK(lost_in(0) > 0);
}

TEST_CASE(
    "a lesson's task is judged by what was done in the session, and its answer told only then") {
  PlayedSession played(scenario_of(find_lesson("04-link-flap")));
  const auto judge = [&](int task) {
    const nlohmann::json order{{"do", "judge"}, {"lesson", "04-link-flap"}, {"task", task}};
    return answer_command(played, order, {}).text;
  };
  CHECK(judge(0).at("result") == "fail");
  CHECK_FALSE(judge(0).contains("why"));
  played.session().seek(FabricTime::from_us(250), {});
  const nlohmann::json broken{
      {"do", "break"}, {"kind", "link_down"}, {"body", {{"link", "p0.t0-0:u0"}, {"for", "40us"}}}};
  answer_command(played, broken, {});
  const nlohmann::json done = judge(0);
  CHECK(done.at("result") == "pass");
  CHECK(done.contains("why"));
  CHECK(done.at("checks").at(0).at("name") == "task");
  const nlohmann::json other = judge(1);  // which asks for a flap
  CHECK(other.at("result") == "fail");
  CHECK(other.at("checks").at(0).at("text") ==
        "what the task asks for: no flap is among the faults of this session");
  CHECK_THROWS_AS(judge(2), InputError);
}

}  // namespace mrclab::lab
