#include "faults/fault_book.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "lab/persistent/fault_text.h"
#include "live/world/fault_record.h"
#include "live/world/outside_faults.h"
#include "scenario/spec/shipped_files.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

namespace mrclab::lab {
namespace {

using test::us;
const Topology& pair() {
  static const Topology built =
      build_topology(parse_fabric(read_yaml_file(lab::find_fabric("pair"))));
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

TEST_CASE("a fault that is healed ends there, and one that has not begun never does") {
  FaultBook book(pair(), {link_down(10), link_down(50, ", for: 5us")});
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}});
  book.heal(0, us(20));
  book.heal(1, us(20));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}, {us(20), true}});
  CHECK(book.stage(0, us(19)) == FaultStage::kInForce);
  CHECK(book.stage(0, us(20)) == FaultStage::kOver);
  CHECK(book.stage(1, us(60)) == FaultStage::kCancelled);
  book.heal(0, us(30));  // what is over stays so
  CHECK(book.stage(0, us(25)) == FaultStage::kOver);
}

TEST_CASE("a flap that is healed between two outages has no more of them") {
  FaultBook book(pair(), {});
  book.book_fault(
      {fault(faults::FaultKind::kFlap, 10, "{link: \"p0.t0-0:u0\", count: 9, down: 2us, up: 8us}"),
       FaultSource::kHand});
  book.heal(0, us(25));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{
                             {us(10), false}, {us(12), true}, {us(20), false}, {us(22), true}});
}

TEST_CASE("what heals is chosen by number, kind, target, or as what is in force, or all") {
  FaultBook book(pair(), {link_down(10), link_down(90)});
  book.book_fault(
      {fault(faults::FaultKind::kSwitchHang, 10, "{switch: p1.t0-1}"), FaultSource::kHand});
  book.book_fault({link_down(12), FaultSource::kOutside, "somebody set it down"});
  using Numbers = std::vector<uint32_t>;
  CHECK(book.select("", us(20)) == Numbers{0, 2});
  CHECK(book.select("all", us(20)) == Numbers{0, 1, 2});
  CHECK(book.select("1", us(20)) == Numbers{1});
  CHECK(book.select("3", us(20)) == Numbers{});  // not ours to heal
  CHECK(book.select("link_down", us(20)) == Numbers{0, 1});
  CHECK(book.select("p1.*", us(20)) == Numbers{2});
  CHECK(book.select("p0.t0-0:u*", us(5)) == Numbers{0, 1});
  CHECK(book.select("", us(5)) == Numbers{});
  for (const char* unknown : {"p0.t0-0:u[0-9]", "7", "h0", "optic_glitch", "p0"}) {
    CAPTURE(unknown);
    CHECK_THROWS_AS(book.select(unknown, us(20)), InputError);
  }
  // A link that another program holds down stays down when ours is healed.
  for (const uint32_t number : book.select("all", us(20))) book.heal(number, us(20));
  CHECK(carrier(book) == std::vector<std::pair<FabricTime, bool>>{{us(10), false}});
}

TEST_CASE(
    "a fault that left the book keeps its number, and words that meant it still mean something") {
  FaultBook book(pair(), {link_down(10, ", for: 5us"), link_down(90)});
  CHECK(book.finished_faults(us(15) - kPicosecond).empty());
  CHECK(book.when_over(1) == us(15));
  CHECK(book.when_over(2) == FabricTime::never());
  REQUIRE(book.finished_faults(us(15)) == std::vector<uint32_t>{0});
  book.drop_fault(0);
  CHECK(book.total() == 2);
  CHECK(book.book_fault({fault(faults::FaultKind::kSwitchHang, 95, "{switch: p1.t0-1}")}) == 2);
  for (const char* known : {"0", "link_down", "p0.t0-0", "p0.t0-0:u*", "all"}) {
    CAPTURE(known);
    const auto chosen = book.select(known, us(50));
    CHECK(std::find(chosen.begin(), chosen.end(), 0u) == chosen.end());
  }
  CHECK_THROWS_AS(book.select("3", us(50)), InputError);
  CHECK_THROWS_AS(book.select("p1.t0-0", us(50)), InputError);
  for (const ScheduledEffect& effect : book.schedule()) CHECK(effect.fault >= 1);
  book.heal(1, us(80));
  CHECK(book.finished_faults(us(50)) == std::vector<uint32_t>{1});  // cancelled
}

TEST_CASE("every kind of fault comes back from the record of those that are over") {
  const netio::test::TemporaryDirectory directory;
  const Topology octet = test::octet();
  FaultRecord record(octet, directory / "over");
  CHECK(record.read().empty());
  std::map<uint32_t, BookedFault> recorded;
  NameResolver names(octet, 1);
  for (const faults::FaultInfo& info : faults::all_faults()) {
    faults::Fault made = faults::parse_fault(
        info.kind, us(30), read_yaml_text(std::string(info.example), "example"), names);
    made.healed = us(31) + FabricTime::from_ps(static_cast<int64_t>(recorded.size()));
    const auto number = static_cast<uint32_t>(7 * recorded.size());
    recorded[number] = {made, number % 2 == 0 ? FaultSource::kHand : FaultSource::kOutside,
                        "somebody \"did\" it\n"};
    record.add(number, recorded[number]);
  }
  REQUIRE(recorded.size() == faults::all_faults().size());
  const auto read = record.read();
  REQUIRE(read.size() == recorded.size());
  for (const auto& [number, entry] : recorded) {
    CAPTURE(faults::describe(entry.fault, octet));
    CHECK(read.at(number).fault == entry.fault);
    CHECK(read.at(number).source == entry.source);
    CHECK(read.at(number).noticed == entry.noticed);
  }
  netio::write_file(directory / "over", "nonsense\n");
  CHECK_THROWS_AS(record.read(), InputError);
}

TEST_CASE("of what others did the newest are kept and the rest is counted") {
  OutsideFaults outside;
  uint64_t seen = 0;
  for (size_t i = 0; i < OutsideFaults::kMaxKept + 5; ++i) {
    outside.report_fault({.what = std::to_string(i)});
    if (i == 2) CHECK(outside.since(seen).size() == 3);
  }
  CHECK(outside.total() == OutsideFaults::kMaxKept + 5);
  CHECK(outside.kept().size() == OutsideFaults::kMaxKept);
  const auto since = outside.since(seen);  // two of them are lost to this reader
  REQUIRE(since.size() == OutsideFaults::kMaxKept);
  CHECK(since.front().what == "5");
  CHECK(outside.since(seen).empty());
  const auto told = outside.newest_lines();
  REQUIRE(told.size() == OutsideFaults::kMaxTold + 1);
  CHECK(told.front() == "985 earlier outside faults");
  CHECK(told.back() == "1004");
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
