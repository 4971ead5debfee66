// SENDs, READs and atomics of RC as the judge follows them, in runs in which packets and answers are lost; which PSNs
// they take is what tshark shows of the same frames.

#include <doctest/doctest.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <numeric>
#include <set>
#include <string>

#include "analysis/checks/checks.h"
#include "analysis/checks/placed_messages.h"
#include "scenario/simulation/host_report.h"
#include "tests/support/capture_writer.h"
#include "tests/support/programs.h"
#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using analysis::Evidence;
using analysis::PacketHistory;
using mrclab::test::us;
using mrclab::test::VerbsLab;

namespace {

using Opcode = WorkRequest::Opcode;

constexpr uint32_t kPieces = 6;  ///< of each kind
constexpr uint32_t kReadBytes = 19'000;
const FabricTime kEnd = us(30'000'000);  // losses at the end of a row wait for RC's timer

/// Two programs on RC, every node watched; what the first one's host sent is kept as a capture, too.
struct WatchedLab {
  explicit WatchedLab(uint32_t lost_per_billion) : lab(TransportKind::kRoce) {
    const Topology& topology = lab.fabric.topology;
    capture.interface("any");
    for (const NodeSite& site : topology.nodes) {
      const NodeId node = site.id;
      lab.fabric.node_observer(node).on_packet = [this, node](const PacketRecord& r) {
        evidence.observer(node).packet(r);
        const bool sent =
            r.direction == Direction::kEgress && r.event == PacketEvent::kPassed && r.frame;
        if (!sent || node != lab.fabric.topology.host(0)) return;
        capture.packet(0, test::kOutbound, static_cast<uint64_t>(r.t.ns()), r.frame.bytes(),
                       static_cast<uint32_t>(r.frame.size()));
      };
    }
    if (lost_per_billion == 0) return;
    for (const Wire& wire : topology.all_wires()) {
      lab.fabric.apply(FabricTime::zero(), random_loss(wire.id, {lost_per_billion}));
    }
  }

  /// WRITEs, SENDs, READs and atomics in turn, and a READ of nothing. How many messages that is.
  uint64_t work() {
    uint64_t id = 0;
    const auto post = [&](WorkRequest request) {
      request.id = ++id;
      REQUIRE(lab.near.post(std::move(request)) == PostResult::kOk);
    };
    for (uint32_t i = 0; i < kPieces; ++i) {
      REQUIRE(lab.far.receive(i, 40'000, 6'000) == PostResult::kOk);
      post(lab.write(0, std::span(data).first(9'000), i));
      post(lab.send(0, std::span(data).first(i % 2 == 0 ? 6'000 : 100)));
      post(lab.read(0, 8 * i, 20'000, kReadBytes));
      post(lab.atomic(0, Opcode::kFetchAdd, 50'000, 41'000, 1));
      post(lab.atomic(0, Opcode::kCompareSwap, 50'008, 41'008, i, i + 1));
    }
    post(lab.read(0, 0, 0, 0));
    lab.run_for(kEnd);
    for (const WorkCompletion& done : lab.near.poll()) {
      CHECK(done.status == WorkStatus::kSuccess);
      ++completed;
    }
    CHECK(test::word_at(lab.far.bytes, 50'000) == kPieces);
    CHECK(test::word_at(lab.far.bytes, 50'008) == kPieces);
    evidence.finish();
    return id;
  }

  std::vector<analysis::CheckResult> safety() {
    const Topology& topology = lab.fabric.topology;
    analysis::Measurements measurements;
    measurements.end = kEnd;
    measurements.base_rtt = topology.base_rtt;
    analysis::HostReports hosts;
    std::vector<analysis::MemoryRegion> regions;
    for (uint32_t h = 0; h < 2; ++h) {
      hosts.hosts.push_back(
          lab::host_report(topology.node(topology.host(h)).name, lab.fabric.host(h).account()));
      const VerbsLab::Program& program = h == 0 ? lab.near : lab.far;
      regions.push_back({h, program.region.rkey, VerbsLab::kVa, {VerbsLab::kSize}});
    }
    const analysis::CheckInputs inputs{topology,
                                       evidence.packets(),
                                       measurements,
                                       {},
                                       hosts,
                                       evidence,
                                       {},
                                       regions,
                                       FabricTime::zero(),
                                       us(1'000),
                                       evidence.coverage()};
    const std::vector<analysis::Expectation> safety{
        analysis::ExpectPlacedOnce{}, analysis::ExpectNoSilentLoss{}, analysis::ExpectInOrder{},
        analysis::ExpectAccounted{}};
    return analysis::run_checks(safety, inputs);
  }

  /// The flow of the first program's requests.
  uint32_t requests() const {
    const auto flows = evidence.packets().flows();
    for (uint32_t i = 0; i < flows.size(); ++i) {
      if (flows[i].source == 0 && flows[i].destination_qp == lab.far.qpn) return i;
    }
    FAIL("no packet of the requests was seen");
    return 0;
  }

  std::vector<uint8_t> data = numbers();
  VerbsLab lab;
  Evidence evidence{lab.fabric.topology, {}, kEnd};
  test::CaptureWriter capture;
  uint64_t completed = 0;

 private:
  static std::vector<uint8_t> numbers() {
    std::vector<uint8_t> all(9'000);
    std::iota(all.begin(), all.end(), uint8_t{1});
    return all;
  }
};

/// Opcode of BTH and, of a READ, the bytes that it asks for, by PSN, as tshark shows the requests to `qpn`.
struct Request {
  uint32_t opcode = 0;
  uint32_t read_bytes = 0;
};
std::map<uint32_t, Request> requests_by_tshark(const std::filesystem::path& file, Qpn qpn) {
  const std::string command =
      "HOME=/nonexistent tshark -n -r " + file.string() +
      " -T fields -E separator=, -E occurrence=f -e infiniband.bth.psn -e infiniband.bth.opcode"
      " -e infiniband.reth.dmalen -e _ws.malformed -Y infiniband.bth.destqp==" +
      std::to_string(qpn.value) + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::map<uint32_t, Request> found;
  char line[256];
  while (::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string_view text = line;
    CAPTURE(text);
    char* rest = nullptr;
    const auto psn = static_cast<uint32_t>(::strtoul(line, &rest, 0));
    REQUIRE(*rest == ',');
    const auto opcode = static_cast<uint32_t>(::strtoul(rest + 1, &rest, 0));
    REQUIRE(*rest == ',');
    const auto bytes = static_cast<uint32_t>(::strtoul(rest + 1, &rest, 0));
    CHECK(std::string_view(rest) == ",\n");  // not malformed
    constexpr uint32_t kReadRequest = 0x0C, kLastOfRequests = 0x14;
    if (opcode > kLastOfRequests || (opcode > kReadRequest && opcode < 0x13)) continue;  // answers
    found.try_emplace(psn, Request{opcode, opcode == kReadRequest ? bytes : 0});
  }
  CHECK(::pclose(pipe) == 0);
  return found;
}

}  // namespace

TEST_CASE("the judge finds each SEND, READ and atomic whole, placed nowhere and in order") {
  uint32_t lost = 0;
  SUBCASE("nothing is lost") {}
  SUBCASE("one packet of thirty is lost on each wire") { lost = 33'000'000; }
  WatchedLab run(lost);
  const uint64_t posted = run.work();
  CHECK(run.completed == posted);
  const PacketHistory& history = run.evidence.packets();
  CHECK((history.counters().retransmissions > 0) == (lost > 0));
  CHECK(history.counters().acks_of_unsent == 0);
  CHECK(history.counters().acks_ahead == 0);
  const uint32_t flow = run.requests();
  CHECK(analysis::whole_messages(history, flow) == posted);
  REQUIRE(history.rc_answers().size() > flow);
  const uint64_t read = history.rc_answers()[flow].read_bytes;
  CHECK(read >= kPieces * kReadBytes);
  if (lost == 0) CHECK(read == kPieces * kReadBytes);
  std::set<uint32_t> nowhere;
  for (const uint32_t number : history.in_order(flow)) {
    REQUIRE(number != analysis::Attempt::kNone);  // a READ has the PSNs of its answer
    const analysis::Packet& packet = history.packets()[number];
    CHECK(packet.acknowledged != FabricTime::never());
    if (history.placement(packet).nowhere) nowhere.insert(number);
  }
  const auto packets = [&](uint32_t bytes) {
    return (bytes + run.lab.fabric.topology.pmtu - 1) / run.lab.fabric.topology.pmtu;
  };
  CHECK(nowhere.size() == kPieces / 2 * (packets(6'000) + 1) + 3 * kPieces + 1);
  for (const analysis::CheckResult& check : run.safety()) {
    CAPTURE(check.note);
    CHECK(check.result == analysis::Result::kPass);
  }
}

TEST_SUITE("wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("what the judge takes for a packet of its own is a request in tshark's eyes, too") {
    WatchedLab run(33'000'000);
    run.work();
    const test::ScratchFile file("verbs-work.pcapng");
    run.capture.save(file.path());
    const auto shown = requests_by_tshark(file.path(), run.lab.far.qpn);
    const PacketHistory& history = run.evidence.packets();
    const uint32_t flow = run.requests();
    std::set<uint32_t> followed;
    for (const uint32_t number : history.in_order(flow)) {
      if (number == analysis::Attempt::kNone || !followed.insert(number).second) continue;
      const analysis::Packet& packet = history.packets()[number];
      CAPTURE(packet.psn.value());
      const auto request = shown.find(packet.psn.value());
      REQUIRE(request != shown.end());
      const uint32_t opcode = request->second.opcode;
      const bool is_write = opcode >= 0x06 && opcode <= 0x0B;
      const analysis::Placement& placement = history.placement(packet);
      CHECK(placement.nowhere == !is_write);
      const uint32_t pmtu = run.lab.fabric.topology.pmtu;
      CHECK(placement.psns == std::max(1u, (request->second.read_bytes + pmtu - 1) / pmtu));
    }
    // Every request that tshark shows is followed but for READs that go on where their answer ended.
    for (const auto& [psn, request] : shown) {
      CAPTURE(psn);
      const bool known = std::any_of(followed.begin(), followed.end(), [&](uint32_t number) {
        return history.packets()[number].psn.value() == psn;
      });
      CHECK((known || request.read_bytes < kReadBytes));
    }
    std::set<uint32_t> opcodes;
    for (const auto& [psn, request] : shown) opcodes.insert(request.opcode);
    for (const uint32_t opcode : {0x00, 0x02, 0x04, 0x06, 0x08, 0x0C, 0x13, 0x14}) {
      CAPTURE(opcode);
      CHECK(opcodes.contains(opcode));
    }
  }
}
