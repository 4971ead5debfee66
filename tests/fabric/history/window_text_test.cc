// A host's word about its window: written and read back, and what is refused.

#include "fabric/history/window_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using mrclab::test::us;

namespace {

const Topology& small_fabric() {
  static const Topology topology = test::two_rows();
  return topology;
}

WindowRecord full_record() {
  WindowRecord record;
  record.t = us(40);
  record.peer = small_fabric().host(1);
  record.window = {120'000};
  record.in_flight = {118'272};
  record.largest = Bytes{1'200'000};
  record.base_rtt = us(5);
  record.target = us(4);
  record.delay = us(6);
  record.most_delay = us(9);
  record.quadrant = WindowQuadrant::kLate;
  record.answers = {3, 9, 0, 1};
  record.cut = WindowCut::kLastHopTrims;
  record.cuts[static_cast<size_t>(WindowCut::kDelay)] = {9, {21'000}};
  record.cuts[static_cast<size_t>(WindowCut::kLastHopTrims)] = {2, {8'448}};
  return record;
}

nlohmann::json full_line() {
  return nlohmann::json::parse(window_line(small_fabric(), small_fabric().host(0), full_record()));
}

bool is_read(const nlohmann::json& line) { return parse_window(small_fabric(), line).has_value(); }

}  // namespace

TEST_CASE("a window's line reads back as what was written") {
  CHECK(parse_window(small_fabric(), full_line()) == full_record());
  WindowRecord little;
  little.peer = small_fabric().host(1);
  little.window = {1};
  const std::string line = window_line(small_fabric(), small_fabric().host(0), little);
  CHECK(line == R"({"t_ps":0,"node":"h0","kind":"window","peer":"h1","window":1,"in_flight":0})");
  CHECK(parse_window(small_fabric(), nlohmann::json::parse(line)) == little);
}

TEST_CASE("every cause and every quadrant has a word of its own that reads back") {
  for (size_t i = 0; i < kCutWords.size(); ++i) {
    WindowRecord record = full_record();
    record.cut = static_cast<WindowCut>(i);
    record.cuts = {};
    record.cuts[i] = {1, {2}};
    const auto line =
        nlohmann::json::parse(window_line(small_fabric(), small_fabric().host(0), record));
    CHECK(line.at("cut") == kCutWords[i]);
    CHECK(parse_window(small_fabric(), line) == record);
  }
  for (size_t i = 0; i < kQuadrantWords.size(); ++i) {
    WindowRecord record = full_record();
    record.quadrant = static_cast<WindowQuadrant>(i);
    record.answers = {};
    record.answers[i] = 7;
    const auto line =
        nlohmann::json::parse(window_line(small_fabric(), small_fabric().host(0), record));
    CHECK(parse_window(small_fabric(), line) == record);
  }
}

TEST_CASE("a line with another key, without one, or with a value that is none is refused") {
  REQUIRE(is_read(full_line()));
  nlohmann::json line = full_line();
  line["detail"] = "x";
  CHECK_FALSE(is_read(line));
  for (const char* key : {"t_ps", "node", "kind", "peer", "window", "in_flight"}) {
    CAPTURE(key);
    line = full_line();
    line.erase(key);
    CHECK_FALSE(is_read(line));
  }
  const auto refuses = [](const char* key, const nlohmann::json& value) {
    CAPTURE(key);
    nlohmann::json changed = full_line();
    changed[key] = value;
    CHECK_FALSE(is_read(changed));
  };
  refuses("peer", "h9");
  refuses("peer", "p0.t0-0");
  refuses("window", -1);
  refuses("window", 1.5);
  refuses("in_flight", "many");
  refuses("delay_ps", -1);
  refuses("quadrant", "purple");
  refuses("cut", "purple");
  refuses("answers", {{"purple", 1}});
  refuses("answers", {{"late", -1}});
  refuses("answers", 3);
  refuses("cuts", {{"delay", 1}});
  refuses("cuts", {{"delay", {1, -1}}});
  refuses("cuts", {{"purple", {1, 1}}});
}

TEST_CASE("for people a window is a sentence") {
  CHECK(describe_window(full_line()) ==
        "to h1: window 120000 B, in flight 118272 B, delay 6us, late, cut: trimmed_last_hop");
}
