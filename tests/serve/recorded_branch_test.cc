// A finished run on the page: what its nodes wrote down shows what the simulation of it shows.

#include "lab/serve/recorded_branch.h"

#include <doctest/doctest.h>

#include <fstream>

#include "fabric/history/window_text.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "lab/serve/node_record_reader.h"
#include "scenario/spec/shipped_files.h"
#include "session/page_messages.h"
#include "session/session_commands.h"
#include "session/simulated_branch.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/serve/same_recording.h"

namespace mrclab::lab {
namespace {

Scenario docs_first() { return load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"); }

Scenario of_text(const std::string& text) { return parse_scenario(read_yaml_text(text, "test")); }

/// Trims, marks, losses, repair, and probes.
const char* const kIncast = R"(
name: crowded
fabric: trio
seed: 3
workload:
  - {incast: {to: h0, from: "h[1-2]", load: 100%, message: 96KiB}}
faults:
  - {at: 4us, wire_loss: {link: "p0.t0-1:u0", loss: 10%, for: 20us}}
  - {at: 9us, link_down: {link: "p1.t0-0:u0", for: 10us}}
end: 150us
)";

const char* const kPauses = R"(
name: paused
fabric: trio
transport: roce
workload:
  - {incast: {to: h0, from: "h[1-2]", load: 100%, message: 96KiB}}
end: 60us
)";

}  // namespace

TEST_CASE("a recorded run shows what its simulation shows, packet by packet") {
  for (const Scenario& scenario : {docs_first(), of_text(kIncast), of_text(kPauses)}) {
    CAPTURE(scenario.name);
    const test::TemporaryRuns runs;
    const RunResult run = runs.run(scenario);
    const RecordedBranch recorded(read_run(run.folder.path));
    CHECK(recorded.reached() == scenario.stop());
    CHECK(recorded.history_sha256() == run.verdict.metrics.history_sha256);
    SimulatedBranch simulated(scenario);
    simulated.reach(scenario.stop());
    test::check_same(recorded.recording(), simulated.recording(), scenario.stop());
  }
}

TEST_CASE("a change of a recorded run is simulated, and parts from it at the change") {
  const test::TemporaryRuns runs;
  const Scenario scenario = docs_first();
  const RunResult run = runs.run(scenario);
  FabricSession session(scenario, std::make_unique<RecordedBranch>(read_run(run.folder.path)));
  CHECK(session.branch().world() == BranchWorld::kRecorded);
  session.seek(FabricTime::from_us(50));
  session.break_it({"wire_loss", {{"link", "p0.t0-0:u0"}, {"loss", "20%"}}, {}}, true);
  CHECK(session.branch().world() == BranchWorld::kSimulated);
  REQUIRE(session.other() != nullptr);
  CHECK(session.other()->world() == BranchWorld::kRecorded);
  session.seek(FabricTime::from_us(90));
  const auto difference = session.difference();
  REQUIRE(difference);
  CHECK(difference->t >= FabricTime::from_us(50));
  CHECK(difference->t < FabricTime::from_us(60));
}

TEST_CASE("switches and hosts of a recorded run tell of the instant that is looked at") {
  const test::TemporaryRuns runs;
  const Scenario scenario = docs_first();
  const RunResult run = runs.run(scenario);
  RecordedBranch recorded(read_run(run.folder.path));
  const NodeSite& site = scenario.topology.node(*scenario.topology.find_node("p0.t0-0"));
  for (const int64_t us : {70, 30}) {  // and back
    recorded.reach(FabricTime::from_us(us));
    SimulatedBranch simulated(scenario);
    simulated.reach(FabricTime::from_us(us));
    CHECK(recorded.told_at() == FabricTime::from_us(us));
    CHECK(recorded.status_of(site).counters == simulated.status_of(site).counters);
    CHECK(recorded.account(1).stats.in_flight_bytes == simulated.account(1).stats.in_flight_bytes);
  }
  RecordedRun other = read_run(run.folder.path);
  other.faithful = false;
  const RecordedBranch not_exact(other);
  CHECK_THROWS_WITH_AS(not_exact.status_of(site), doctest::Contains("FAITHFUL"), InputError);
}

TEST_CASE("a run whose records are gone or were altered is refused") {
  const test::TemporaryRuns runs;
  const RunResult run = runs.run(docs_first());
  const auto history = run.folder.path / "history";
  SUBCASE("altered") {
    std::ofstream(std::filesystem::directory_iterator(history)->path(), std::ios::app) << "x";
    CHECK_THROWS_WITH_AS(RecordedBranch(read_run(run.folder.path)), doctest::Contains("altered"),
                         InputError);
  }
  SUBCASE("gone") {
    std::filesystem::remove_all(history);
    CHECK_THROWS_WITH_AS(RecordedBranch(read_run(run.folder.path)), doctest::Contains("missing"),
                         InputError);
  }
}

TEST_CASE("where the records of a run met their bound the page of it ends, and says so") {
  const test::TemporaryRuns runs;
  const Scenario scenario = docs_first();
  RunOptions options = runs.options(World::kSim);
  options.history_bytes = uint64_t{256} << 10;
  const RunResult run = run_scenario(scenario, options);
  PlayedSession played(std::make_unique<FabricSession>(
      scenario, std::make_unique<RecordedBranch>(read_run(run.folder.path))));
  const auto cut = played.session().branch().records_cut();
  REQUIRE(cut);
  CHECK(cut->from > FabricTime::from_us(10));
  CHECK(cut->from < scenario.stop());
  CHECK(cut->why.find("from " + to_string(cut->from) + " on nothing is recorded") == 0);
  const auto note =
      answer_command(played, {{"do", "seek"}, {"at_ps", scenario.stop().ps()}}, {}).text;
  CHECK(note.at("text") == cut->why);
  CHECK(played.session().at() == cut->from - FabricTime::from_ps(1));
  CHECK(state_json(played).at("cut").at("why") == cut->why);
  // A step finds nothing more, which is not that there is nothing more.
  const auto none = answer_command(played, {{"do", "step"}, {"to", "loss"}}, {}).text;
  CHECK(none.at("text").get<std::string>().find(cut->why) != std::string::npos);
  // By the digest of the whole run the judge finds that the simulation is this run.
  CHECK(answer_command(played, {{"do", "judge"}}, {}).text.at("result") == "pass");
}

TEST_CASE("what a recording has no room for it names, from when on") {
  const Scenario scenario = docs_first();
  const Topology& topology = scenario.topology;
  Recording recording(topology, scenario.stop());
  CHECK(recording.told_until() == FabricTime::never());
  SUBCASE("windows that the hosts' log left out") {
    NodeRecordReader told(topology, recording);
    told.take_line(windows_left_out_line(FabricTime::from_us(30), 3));
    CHECK(recording.told_until() == FabricTime::from_us(30));
    CHECK(told.malformed() == 0);
  }
  SUBCASE("events beyond its bound") {
    const NodeId host = topology.host(0);
    for (size_t i = 0; i <= Recording::kMaxEvents; ++i) {
      recording.add_event(
          {FabricTime::from_ns(static_cast<int64_t>(i)), host, "ev_state", {}, {}, {}, {}, "", ""});
    }
    CHECK(recording.told_until() == FabricTime::from_ns(Recording::kMaxEvents));
  }
  SUBCASE("SACKs that are no longer there") {
    const NodeId host = topology.host(0);
    const size_t room = Recording::kMaxSacks / topology.host_count();
    for (size_t i = 0; i <= room; ++i) {
      CHECK_FALSE(recording.sacks_forgotten(host));
      recording.add_sack(host, {FabricTime::from_ns(static_cast<int64_t>(i)), Qpn{7}, Psn{0}});
    }
    CHECK(recording.sacks_forgotten(host) == FabricTime::zero());
    CHECK_FALSE(recording.sacks_forgotten(topology.host(1)));
  }
  SUBCASE("packets that are no longer kept") {
    const PortRef port{topology.host(0), PortId{0}};
    for (size_t i = 0; i <= Recording::kMaxPackets; ++i) {
      SeenPacket packet;
      packet.t = i < 100 ? FabricTime::from_us(5) : FabricTime::from_us(60);
      recording.add_departure(packet, port, Direction::kEgress, 0);
    }
    CHECK_THROWS_WITH_AS(require_kept(recording, FabricTime::from_us(5)),
                         ("packets before " + to_string(recording.kept_from()) +
                          " are no longer kept: there was no room for them")
                             .c_str(),
                         InputError);
    require_kept(recording, FabricTime::from_us(60));
  }
}

TEST_CASE("lines that no node of the fabric can have written are counted, and tell nothing") {
  const Scenario scenario = docs_first();
  Recording recording(scenario.topology, scenario.stop());
  NodeRecordReader told(scenario.topology, recording);
  for (const char* line :
       {"", "x", "[]", "{}", R"({"t_ps":1})", R"({"t_ps":"1","node":"h0","kind":"qp_error"})",
        R"({"t_ps":-5,"node":"h0","kind":"qp_error"})",
        R"({"t_ps":1,"node":"h0","kind":"qp_error","new":1})",
        R"({"t_ps":1,"node":"p0.t0-0","kind":"window","peer":"h1","window":1,"in_flight":1})"}) {
    const uint64_t before = told.malformed();
    told.take_line(line);
    CHECK_MESSAGE(told.malformed() == before + 1, line);
  }
  told.take_line(R"({"t_ps":1,"node":"lab","kind":"outside_fault"})");
  told.take_line(R"({"t_ps":7,"node":"h1","port":"p1","kind":"ev_state","qp":5,"cause":"good"})");
  CHECK(told.malformed() == 9);
  recording.complete(scenario.stop());
  REQUIRE(recording.events().size() == 1);
  CHECK(recording.events()[0].port == PortId{1});
  CHECK(recording.events()[0].qp == Qpn{5});
}

TEST_CASE("no two pairs of hosts of a shipped fabric look alike by their checksums") {
  for (const std::string& name : shipped_names("fabrics")) {
    CAPTURE(name);
    const FabricShape shape = parse_fabric(read_yaml_file(find_fabric(name)), kMaxSimulatedNodes);
    if (shape.host_count() > kMaxNodes) continue;  // no lab has it, and its pairs are 17 milliards
    const Topology topology = build_topology(shape);
    const HostPairs pairs(topology);
    const uint32_t hosts = topology.host_count();
    for (uint32_t a = 0; a < hosts; ++a) {
      for (uint32_t b = 0; b < hosts; ++b) {
        if (a == b) continue;
        const auto found =
            pairs.find(peers_of(host_address(topology, a), host_address(topology, b)));
        if (found != std::pair{a, b}) {
          FAIL(a << " to " << b << " looks like " << found.first << " to " << found.second);
        }
      }
    }
  }
}

TEST_CASE("events that are told late come before later ones that were told earlier") {
  const Scenario scenario = docs_first();
  Recording recording(scenario.topology, scenario.stop());
  const auto say = [&](int64_t us) {
    recording.add_event({FabricTime::from_us(us), NodeId{0}, "qp_error", {}, {}, {}, {}, "", ""});
  };
  say(20);
  say(5);
  recording.complete(FabricTime::from_us(10));
  REQUIRE(recording.events().size() == 1);  // 15 us may still be reported
  say(15);
  recording.complete(FabricTime::from_us(30));
  REQUIRE(recording.events().size() == 3);
  CHECK(recording.events()[1].t == FabricTime::from_us(15));
}

}  // namespace mrclab::lab
