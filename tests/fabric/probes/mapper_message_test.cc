// What a mapper's agents and its collector send each other, as bytes, and what is none of it.

#include "fabric/probes/mapper_message.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/packet/headers.h"
#include "fabric/paths/path_list.h"
#include "fabric/probes/denylist_fit.h"
#include "fabric/probes/probe_route.h"
#include "fabric/topology/pattern.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

namespace {

Topology mapped_octet() {
  Topology topology = test::octet();
  topology.mapper.on = topology.denylist.on = true;
  return topology;
}

std::vector<uint8_t> frame_of(const Topology& topology, const MapperMessage& message) {
  MessageFrameSpec spec;
  spec.source = host_address(topology, 1);
  spec.destination = host_address(topology, 6);
  spec.carrier = make_carrier(topology, 1, 6, Path{3, 2});
  spec.session = 42;
  std::vector<uint8_t> frame(message_bytes(message));
  write_message(spec, message, frame);
  return frame;
}

}  // namespace

TEST_CASE("a mapper's report and a list are read as they were written") {
  const Topology topology = mapped_octet();
  ProbeReport lost;
  lost.period = 12;
  lost.lost = {"p0/t0", "p3/u1"};
  lost.unsent = {"p7"};
  const AgentReport report = agent_report(topology, 1, lost, 5'000'000);
  CHECK(report.fates.size() == planned_probes(topology, 1, 12).size());
  CHECK(std::count(report.fates.begin(), report.fates.end(), ProbeFate::kUnsent) >= 2);
  const DeniedList list{9, {{PartKind::kLink, 3, 2, 1}, {PartKind::kPlane, 7, 0, 0}}};
  for (const MapperMessage& message : {MapperMessage(report), MapperMessage(list)}) {
    const auto seen = parse_message(frame_of(topology, message));
    REQUIRE(seen);
    REQUIRE(seen->message);
    CHECK(*seen->message == message);
    CHECK(seen->session == 42);
    CHECK(seen->source == host_address(topology, 1));
  }
}

TEST_CASE("of a mapper's message no shorter, longer or changed bytes are one") {
  const Topology topology = mapped_octet();
  // A report of three probes has an odd number of bytes, and its last one counts, too.
  const auto odd = frame_of(topology, AgentReport{9, 70, {3, ProbeFate::kLost}});
  REQUIRE(odd.size() % 2 == 1);
  auto other = odd;
  other.back() ^= 0x11;
  CHECK_FALSE(parse_message(other)->message);
  const auto whole = frame_of(topology, DeniedList{9, {{PartKind::kLink, 3, 2, 1}}});
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto seen = parse_message(std::span(whole).first(size));
    CHECK((!seen || !seen->message));
  }
  for (size_t at = kBthOffset; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= 0x55;
    const auto seen = parse_message(changed);
    CHECK((seen && !seen->message));
  }
}

TEST_CASE(
    "parts are named by links, ports, switches and planes, with patterns, and come back as they are called") {
  const Topology topology = mapped_octet();
  for (const char* name : {"link p0.t0-0:u1--p0.t1-1:d0", "link h3:p2--p2.t0-0:d3",
                           "switch p0.t1-2", "switch p4.t0-1", "plane p3"}) {
    CAPTURE(name);
    const auto parts = parts_named(topology, name);
    REQUIRE(parts.size() == 1);
    CHECK(has_part(topology, parts.front()));
    CHECK(name_of(topology, parts.front()) == name);
  }
  CHECK(parts_named(topology, "p*.t0-0:u[0-1]").size() == 16);
  CHECK(parts_named(topology, "p0.t1-1:d0").front() == parts_named(topology, "p0.t0-0:u1").front());
  CHECK_THROWS_AS(parts_named(topology, "p9.t1-0"), NameError);
  CHECK_FALSE(has_part(topology, {PartKind::kPort, 0, 0, 8}));
  CHECK_FALSE(has_part(topology, {PartKind::kLink, 8, 0, 0}));
}

TEST_CASE("a part takes away the paths that lead over its links, and no others") {
  const Topology topology = mapped_octet();
  const LinkNumbers numbers(topology);
  for (const char* name : {"p2.t0-0:u1", "h5:p2", "p2.t1-3", "p2.t0-1", "p2"}) {
    CAPTURE(name);
    const DeniedPart part = parts_named(topology, name).front();
    std::vector<bool> wires(topology.all_wires().size());
    for (const uint32_t number : numbers.links_of(part)) {
      const DeniedPart link = numbers.part(number);
      const LinkId id = NameResolver(topology, 0).links(name_of(topology, link).substr(5)).front();
      wires[topology.link(id).a_to_b().value] = wires[topology.link(id).b_to_a().value] = true;
    }
    for (uint32_t from = 0; from < 8; ++from) {
      for (uint32_t to = 0; to < 8; ++to) {
        if (from == to) continue;
        for (const Path& path : paths_between(topology, from, to)) {
          bool over = false;
          for (const PortRef exit : exits_of(topology, from, to, path)) {
            over = over || wires[topology.port(exit).out.value];
          }
          CHECK(crosses(topology, part, from, to, path) == over);
        }
      }
    }
  }
}

TEST_CASE("a denylist that probes decide on needs a mapper, and a static one does not") {
  Topology topology = mapped_octet();
  CHECK_FALSE(denylist_misfit(topology));
  topology.mapper.on = false;
  CHECK(denylist_misfit(topology));
  topology.denylist.rule = DenylistPolicy::Rule::kNever;
  topology.denylist.fixed = {"p0.t1-1"};
  CHECK_FALSE(denylist_misfit(topology));
  topology.denylist.collector = "h99";
  CHECK_THROWS_AS(denylist_misfit(topology), NameError);
}
