// One packet's life out of a run folder, and paths and carriers read both ways.

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/history/packet_joiner.h"
#include "analysis/history/path_wires.h"
#include "analysis/judge/analyze.h"
#include "analysis/trace/packet_life.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "lab/run/simulated_run.h"
#include "plan/path_trace.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/run/packet_trace.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;
using analysis::Hop;
using analysis::LifeAttempt;
using analysis::PacketLife;

namespace {

/// Everything that a run leaves but its verdict, of a wire that loses every frame for a while.
struct LossyRun {
  test::TemporaryRuns runs;
  Scenario scenario;
  RunFolder folder;

  explicit LossyRun(const std::string& captures) {
    const std::string text =
        "name: traced\nfabric: octet\nseed: 1\ncaptures: " + captures +
        "\nworkload:\n  - all_to_all: {hosts: all, size: 512KiB, until: end}\n"
        "faults:\n  - {at: 20us, wire_loss: {link: \"p0.t0-0:u0\", direction: up, loss: 100%, "
        "for: 20us}}\nend: 160us\n";
    scenario = parse_scenario(read_yaml_text(text, "traced"));
    folder = make_run_folder(runs.path(), "traced");
    std::filesystem::create_directories(folder.path / "events");
    run_simulated(scenario, folder, {.history_bytes = 64 << 20});
    merge_events(folder);
    write_resolved_scenario(scenario, folder.path / "scenario.yaml");
    write_manifest(folder.path);
  }

  /// A packet that was lost once and came through afterwards.
  TraceRequest lost_packet() const {
    analysis::SightingReader frames(scenario.topology);
    for (const auto& file : analysis::captures_in(folder.captures())) frames.add_file(file);
    const analysis::PacketHistory history =
        analysis::join_sightings(scenario.topology, frames.take());
    for (const analysis::Attempt& attempt : history.attempts()) {
      const analysis::Packet& packet = history.packets()[attempt.packet];
      const bool back = packet.delivered != FabricTime::never() && packet.attempts == 2 &&
                        packet.acknowledged != FabricTime::never();
      if (attempt.fate != analysis::Fate::kDropped || !back) continue;
      const analysis::Flow& flow = history.flows()[packet.flow];
      TraceRequest request;
      request.qp = flow.destination_qp;
      request.psn = packet.psn;
      return request;
    }
    FAIL("no packet was lost and sent again");
    return {};
  }
};

std::vector<std::pair<PortRef, Direction>> places(const LifeAttempt& attempt) {
  std::vector<std::pair<PortRef, Direction>> list;
  for (const Hop& hop : attempt.hops) list.emplace_back(hop.where, hop.side);
  return list;
}

std::vector<std::string> carriers(const LifeAttempt& attempt) {
  std::vector<std::string> list;
  for (const Hop& hop : attempt.hops) list.push_back(hop.carrier ? to_string(*hop.carrier) : "?");
  return list;
}

/// Both sides of every wire of its path.
std::vector<std::pair<PortRef, Direction>> whole_way(const Topology& t, const PacketTrace& trace,
                                                     EntropyValue ev) {
  std::vector<std::pair<PortRef, Direction>> list;
  for (const WireId id :
       analysis::wires_of(t, trace.packet().source, trace.packet().destination, *path_of(ev))) {
    list.emplace_back(t.wire(id).from, Direction::kEgress);
    list.emplace_back(t.wire(id).to, Direction::kIngress);
  }
  return list;
}

std::string trace_refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a packet is followed hop by hop until it is lost, and again until it is acknowledged") {
  const LossyRun run("all");
  const PacketTrace trace(run.folder.path.string(), std::nullopt, run.lost_packet());
  const Topology& t = run.scenario.topology;
  REQUIRE(trace.life().attempts.size() == 2);
  const LifeAttempt& lost = trace.life().attempts[0];
  const LifeAttempt& delivered = trace.life().attempts[1];

  CHECK(lost.fate == analysis::Fate::kDropped);
  CHECK(lost.cause == DropCause::kWireLoss);
  CHECK(t.port(lost.hops.back().where).in == t.port(*t.find_port("p0.t0-0:u0")).out);
  auto way = whole_way(t, trace, lost.ev);
  way.resize(lost.hops.size());
  CHECK(places(lost) == way);
  CHECK((lost.reported != nullptr || lost.declared != nullptr));

  CHECK(delivered.fate == analysis::Fate::kDelivered);
  CHECK(places(delivered) == whole_way(t, trace, delivered.ev));
  Ipv6Address carrier =
      make_carrier(t, trace.packet().source, trace.packet().destination, *path_of(delivered.ev));
  for (size_t i = 0; i < delivered.hops.size(); ++i) {
    const Hop& hop = delivered.hops[i];
    if (i > 0 && hop.side == Direction::kEgress) shift_carrier(carrier);
    CHECK(to_string(*hop.carrier) == to_string(carrier));
    CHECK(hop.seen != nullptr);
    const bool leaves_switch = i > 0 && hop.side == Direction::kEgress;
    CHECK(hop.waited.has_value() == leaves_switch);
  }
  REQUIRE(trace.life().acknowledged != nullptr);
  CHECK(trace.life().acknowledged->t > delivered.hops.back().seen->t);
  CHECK(to_json(trace)["attempts"].size() == 2);

  SUBCASE("whatever the clocks of the nodes say") {
    analysis::FoundPacket shifted = trace.packet();
    for (analysis::LifeSighting& s : shifted.sightings) {
      s.t += FabricTime::from_us((s.where.node.value * 7919) % 1000) - FabricTime::from_us(500);
    }
    for (analysis::DeclaredLoss& loss : shifted.declared) loss.t = FabricTime::zero();
    const PacketLife life = analysis::life_of(t, shifted);
    REQUIRE(life.attempts.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      CHECK(places(life.attempts[i]) == places(trace.life().attempts[i]));
      CHECK(life.attempts[i].fate == trace.life().attempts[i].fate);
      for (size_t h = 0; h < life.attempts[i].hops.size(); ++h) {
        CHECK(life.attempts[i].hops[h].waited == trace.life().attempts[i].hops[h].waited);
      }
    }
  }
  SUBCASE("of two that look alike the trailer's sequence number says which it was") {
    analysis::FoundPacket found = trace.packet();
    const auto place = [&](const Hop& hop) {
      return static_cast<size_t>(hop.seen - trace.packet().sightings.data());
    };
    TimeTrailer trailer;
    trailer.wire = t.port(delivered.hops[0].where).out;
    trailer.sequence = 7;
    found.sightings[place(delivered.hops[0])].trailer = trailer;
    const auto arrival = found.sightings.begin() + static_cast<ptrdiff_t>(place(delivered.hops[1]));
    arrival->trailer = trailer;
    analysis::LifeSighting other = *arrival;  // a copy that the wire made, recorded before it
    other.trailer->sequence = 8;
    found.sightings.insert(arrival, other);
    const PacketLife life = analysis::life_of(t, found);
    const auto joined = std::find_if(life.attempts.begin(), life.attempts.end(), [&](auto& a) {
      return a.hops.front().seen->trailer && a.hops.front().seen->trailer->sequence == 7;
    });
    REQUIRE(joined != life.attempts.end());
    REQUIRE(joined->hops[1].seen != nullptr);
    REQUIRE(joined->hops[1].seen->trailer.has_value());
    CHECK(joined->hops[1].seen->trailer->sequence == 7);
  }
  SUBCASE("the text fits a terminal") {
    const std::string text = to_text(trace);
    size_t line = 0;
    for (const char c : text) {
      line = c == '\n' ? 0 : line + 1;
      CHECK(line <= 80);
    }
  }
}

TEST_CASE(
    "where only hosts are captured the packet records say the same, or what is missing is said") {
  const LossyRun run("hosts");
  const TraceRequest request = run.lost_packet();
  const PacketTrace with_records(run.folder.path.string(), std::nullopt, request);
  std::filesystem::remove_all(run.folder.history());
  write_manifest(run.folder.path);
  const PacketTrace hosts_only(run.folder.path.string(), std::nullopt, request);
  REQUIRE(with_records.life().attempts.size() == 2);
  REQUIRE(hosts_only.life().attempts.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(places(with_records.life().attempts[i]) == places(hosts_only.life().attempts[i]));
    CHECK(carriers(with_records.life().attempts[i]) == carriers(hosts_only.life().attempts[i]));
  }
  for (const Hop& hop : with_records.life().attempts[1].hops) CHECK(hop.seen != nullptr);
  CHECK(hosts_only.life().attempts[1].hops[1].seen == nullptr);
  CHECK(to_text(hosts_only).find("captures: all") != std::string::npos);

  TraceRequest none = request;
  none.psn = request.psn + 1'000'000;
  CHECK(trace_refusal([&] {
          PacketTrace(run.folder.path.string(), std::nullopt, none);
        }).find("its PSNs are ") != std::string::npos);
  CHECK(trace_refusal([&] {
          PacketTrace("no-such-run", std::nullopt, none);
        }).find("no-such-run") != std::string::npos);
}

TEST_CASE("paths and carriers are read both ways, and what the fabric lacks is named") {
  const Topology t = read_fabric_file(lab::find_fabric("octet"));
  const auto path = explain_path(t, {3, 1}, "h0", "h5");
  CHECK(path["ev"] == "0x0003c001");
  CHECK(path["hops"].size() == 4);
  const auto carrier = explain_carrier(t, path["carrier"].get<std::string>());
  CHECK(carrier["path"] == "p3/u1");
  CHECK(carrier["destination"] == "h5");
  CHECK(carrier["exists"] == true);
  for (size_t i = 0; i + 1 < carrier["usids"].size(); ++i) {
    CHECK(carrier["usids"][i]["leads_over"] == path["hops"][i + 1]["wire"]);
  }
  CHECK(explain_carrier(t, "5f00:0:2305:1307:2309:e302::")["exists"] == false);
  CHECK(parse_path_or_ev("0x0003c001") == Path{3, 1});
  for (const char* bad : {"p3", "0x00030001", "0xffffffffff", "p3/u1x"}) {
    CAPTURE(bad);
    CHECK(trace_refusal([&] { parse_path_or_ev(bad); }).find("expected") != std::string::npos);
  }
  CHECK(trace_refusal([&] {
          explain_path(t, {3, 9}, "h0", "h5");
        }).find("p0/u0 to p7/u3") != std::string::npos);
  CHECK(trace_refusal([&] {
          explain_path(t, {3, 1}, "h0", "h9");
        }).find("h0 to h7") != std::string::npos);
  CHECK(trace_refusal([&] { explain_carrier(t, "fd00::1"); }).find("5f00:0::/32") !=
        std::string::npos);
}
