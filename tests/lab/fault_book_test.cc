#include "lab/fault_book.h"
#include "fabric/build_topology.h"

#include <doctest/doctest.h>

#include "fabric/fabric_file.h"
#include "fabric/pattern.h"
#include "lab/fault_text.h"
#include "tests/support/times.h"

namespace mrclab::lab {
namespace {

using test::us;
const Topology& pair() {
  static const Topology built = build_topology(parse_fabric(read_yaml_file(find_fabric("pair"))));
  return built;
}

faults::Fault fault(faults::FaultKind kind, int64_t at, const std::string& body) {
  NameResolver names(pair(), 1);
  return faults::parse_fault(kind, us(at), read_yaml_text(body, "test"), names);
}

faults::Fault link_down(int64_t at, const std::string& more = "") {
  return fault(faults::FaultKind::kLinkDown, at, "{link: \"p0.t0-0:u0\"" + more + "}");
}

/// When the carrier of the link's ports changes, and to what.
std::vector<std::pair<FabricTime, bool>> carrier(const FaultBook& book) {
  std::vector<std::pair<FabricTime, bool>> changes;
  for (const ScheduledEffect& effect : book.schedule()) {
    const auto* port = std::get_if<PortCarrier>(&effect.effect);
    if (port != nullptr && pair().port_name(port->port) == "p0.t0-0:u0") {
      changes.emplace_back(effect.at, port->up);
    }
  }
  return changes;
}

TEST_CASE("a fault that is mended ends there, and one that has not begun never does") {
  FaultBook book(pair(), {link_down(10), link_down(50, ", for: 5us")});
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}});
  book.mend(0, us(20));
  book.mend(1, us(20));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}, {us(20), true}});
  CHECK(book.stage(0, us(19)) == FaultStage::kInForce);
  CHECK(book.stage(0, us(20)) == FaultStage::kOver);
  CHECK(book.stage(1, us(60)) == FaultStage::kCancelled);
  book.mend(0, us(30));  // what is over stays so
  CHECK(book.stage(0, us(25)) == FaultStage::kOver);
}

TEST_CASE("a flap that is mended between two outages has no more of them") {
  FaultBook book(pair(), {});
  book.add(
      {fault(faults::FaultKind::kFlap, 10, "{link: \"p0.t0-0:u0\", count: 9, down: 2us, up: 8us}"),
       FaultSource::kHand});
  book.mend(0, us(25));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{
                             {us(10), false}, {us(12), true}, {us(20), false}, {us(22), true}});
}

TEST_CASE("what heals is chosen by number, kind, target, or as what is in force, or all") {
  FaultBook book(pair(), {link_down(10), link_down(90)});
  book.add({fault(faults::FaultKind::kSwitchHang, 10, "{switch: p1.t0-1}"), FaultSource::kHand});
  book.add({link_down(12), FaultSource::kOutside, "somebody set it down"});
  using Numbers = std::vector<uint32_t>;
  CHECK(book.select("", us(20)) == Numbers{0, 2});
  CHECK(book.select("all", us(20)) == Numbers{0, 1, 2});
  CHECK(book.select("1", us(20)) == Numbers{1});
  CHECK(book.select("3", us(20)) == Numbers{});  // not ours to mend
  CHECK(book.select("link_down", us(20)) == Numbers{0, 1});
  CHECK(book.select("p1.*", us(20)) == Numbers{2});
  CHECK(book.select("p0.t0-0:u*", us(5)) == Numbers{0, 1});
  CHECK(book.select("", us(5)) == Numbers{});
  for (const char* unknown : {"7", "h0", "optic_glitch", "p0"}) {
    CAPTURE(unknown);
    CHECK_THROWS_AS(book.select(unknown, us(20)), InputError);
  }
  // What somebody else holds down stays down when ours is mended.
  for (const uint32_t number : book.select("all", us(20))) book.mend(number, us(20));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}});
}

TEST_CASE("every kind is listed with a command that fits on a line") {
  const std::string text = fault_kinds_text();
  for (const nlohmann::json& kind : fault_kinds_json()) {
    const auto name = kind.at("kind").get<std::string>();
    CAPTURE(name);
    CHECK(text.find("\n    " + name + " ") != std::string::npos);
    CHECK(kind.at("example").get<std::string>().find('=') != std::string::npos);
  }
  size_t column = 0;
  for (const char c : text) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

}  // namespace
}  // namespace mrclab::lab
