// Blame: every kind of fault alone, and seeds of chaos. The judge sees packets and hosts' words; the
// schedule is looked at to score what was blamed, and only there (lab/chaos/blame_score.h).

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/blame/blame_search.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "faults/fault_kind.h"
#include "faults/schedule.h"
#include "lab/chaos/blame_score.h"
#include "lab/chaos/blame_target.h"
#include "lab/chaos/chaos_scenario.h"
#include "scenario/spec/scenario.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using faults::FaultKind;

namespace {

/// In place of the examples of the table, which hit too few packets.
const std::map<FaultKind, std::string_view> kStronger{
    {FaultKind::kBitErrors, R"({link: "p0.t0-0:u0", rate: 1e-5, for: 50us})"},
    {FaultKind::kLossyEv, R"({host: h0, path: p1/u2, loss: 90%, for: 50us})"},
};

/// Seeds that were hard while the rules were made; each is blamed without a mistake, so that a rule
/// that is lost shows. So many of their 78 observable targets cannot be distinguished from others.
constexpr uint64_t kTellingSeeds[] = {4,  9,  10, 15,  21,  28,  34,  40,  42,  43,  47,  62, 71,
                                      72, 76, 98, 103, 106, 125, 165, 170, 221, 238, 246, 271};
constexpr uint64_t kInClass = 32;

Scenario one_fault(FaultKind kind, const std::string& body) {
  const bool storm =
      kind == FaultKind::kPauseStorm;  // only RoCE's data heeds it, and it takes 4 RTT
  const std::string text =
      std::string("name: one\nfabric: octet\nseed: 1\n") +
      (storm ? "transport: {profile: roce, timers: compressed, qps: 8}\n" : "") +
      "workload:\n  - all_to_all: {hosts: all, size: 1MiB, until: end}\n"
      "faults:\n  - {at: 60us, " +
      std::string(faults::info(kind).name) + ": " + body +
      "}\nend: " + (storm ? "400us" : "160us") + "\n";
  return parse_scenario(read_yaml_text(text, "one_fault"));
}

/// The seed as it was when the rules were made: kinds that are drawn since then lie over its faults and make other cases
/// of them.
Scenario first_draws(const ChaosBase& base, uint64_t seed) {
  Scenario scenario = chaos_scenario(base, seed).scenario;
  std::erase_if(scenario.faults, [](const faults::Fault& fault) {
    return fault.kind == FaultKind::kLineCard || fault.kind == FaultKind::kPowerLoss;
  });
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  return scenario;
}

void fail_on_mistakes(const BlameScore& score) {
  for (const std::string& wrong : score.wrong) FAIL_CHECK("wrong: " << wrong);
  for (const std::string& missed : score.not_found) FAIL_CHECK("missed: " << missed);
}

}  // namespace

TEST_CASE("each kind of fault alone is blamed on its target, or leaves no evidence" *
          doctest::test_suite(test::kWholeRun)) {
  BlameScore all;
  for (const faults::FaultInfo& info : faults::all_faults()) {
    CAPTURE(info.name);
    const auto stronger = kStronger.find(info.kind);
    const Scenario scenario = one_fault(
        info.kind, std::string(stronger == kStronger.end() ? info.example : stronger->second));
    const BlameScore score = score_scenario(std::string(info.name), scenario);
    fail_on_mistakes(score);
    all.add_score(score);
    if (without_evidence(info.kind).empty()) CHECK(score.all_kinds().observable > 0);
  }
  MESSAGE(blame_table(all));
}

TEST_CASE("hard seeds of chaos are blamed without a mistake, and in no wider classes" *
          doctest::test_suite(test::kWholeRun)) {
  const ChaosBase base = load_chaos_base("octet");
  BlameScore all;
  for (const uint64_t seed : kTellingSeeds) {
    all.add_score(score_scenario("seed " + std::to_string(seed), first_draws(base, seed)));
  }
  fail_on_mistakes(all);
  CHECK(all.all_kinds().in_class <= kInClass);
  MESSAGE(blame_table(all));
}

TEST_CASE("hard seeds of small fabrics are blamed without a mistake" *
          doctest::test_suite(test::kWholeRun)) {
  // Few paths, so that many parts explain the same packets: of each that a rule was made for.
  const struct {
    const char* fabric;
    std::vector<uint64_t> seeds;
  } rows[] = {{"pair", {97015, 97016, 97035, 97036, 97039, 97043, 97047, 97049}},
              {"single", {97039, 97051, 97058}},
              {"trio", {97036, 97043, 97045, 97047, 97058}},
              {"ai-backend", {97009, 97011, 97014}}};
  for (const auto& row : rows) {
    const ChaosBase base = load_chaos_base(row.fabric);
    for (const uint64_t seed : row.seeds) {
      CAPTURE(row.fabric);
      CAPTURE(seed);
      const BlameScore score = score_scenario("one", chaos_scenario(base, seed).scenario);
      fail_on_mistakes(score);
      CHECK(score.all_kinds().observable > 0);
    }
  }
}

TEST_CASE("a target can be distinguished by what no other broken part could have taken") {
  const std::string one = "  - {at: 60us, link_down: {link: \"p0.t0-0:u0\", for: 30us}}\n";
  const std::string on_its_way = "  - {at: 60us, link_down: {link: \"p0.t0-1:u0\", for: 30us}}\n";
  const std::string elsewhere = "  - {at: 60us, link_down: {link: \"p1.t0-1:u0\", for: 30us}}\n";
  const std::string later = "  - {at: 110us, link_down: {link: \"p0.t0-1:u0\", for: 30us}}\n";
  const struct {
    std::string faults;
    uint64_t observable, alone;
  } rows[] = {{one, 1, 1}, {one + on_its_way, 1, 0}, {one + elsewhere, 2, 2}, {one + later, 1, 1}};
  for (const auto& row : rows) {
    CAPTURE(row.faults);
    const Scenario scenario = parse_scenario(
        read_yaml_text("name: two\nseed: 1\nfabric: pair\nworkload:\n"
                       "  - write: {from: h0, to: h1, size: 64KiB, until: end}\nfaults:\n" +
                           row.faults + "end: 200us\n",
                       "two"));
    const BlameCases cases = score_scenario("one", scenario).kinds.at("link_down");
    CHECK(cases.observable == row.observable);
    CHECK(cases.alone == row.alone);
    CHECK(cases.alone_named == row.alone);
  }
}

TEST_CASE("two faults at once, and what only some hosts see, are blamed on what was broken" *
          doctest::test_suite(test::kWholeRun)) {
  const struct {
    const char *what, *fabric, *workload, *faults;
    size_t observable;
  } rows[] = {
      {"two ports of a host whose others are lit", "octet",
       "  - permutation: {hosts: all, message: 4KiB, load: 1%, shift: 4}\n",
       "  - {at: 60us, link_down: {link: \"h7:p0, h7:p1\", for: 30us}}\n", 2},
      {"hosts of RC report no port", "octet",
       "  - write: {from: h4, to: h0, size: 64KiB, until: end}\n"
       "  - write: {from: h0, to: h4, size: 64KiB, until: end}\n"
       "  - permutation: {hosts: \"h5, h6, h7, h1\", message: 64KiB, load: 80%, transport: roce}\n",
       "  - {at: 60us, switch_crash: {switch: p3.t0-1, for: 30us}}\n", 1},
      {"a burst that waits for light", "single",
       "  - permutation: {hosts: \"h[4-7]\", message: 64KiB, load: 20%, shift: 1}\n",
       "  - {at: 60us, incast: {from: h1, to: h0, size: 256KiB}}\n"
       "  - {at: 68us, link_down: {link: \"h1:p0\", for: 80us}}\n",
       1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    const Scenario scenario = parse_scenario(read_yaml_text(
        std::string("name: several\nseed: 1\nfabric: ") + row.fabric + "\nworkload:\n" +
            row.workload + "faults:\n" + row.faults + "end: 240us\n",
        "several"));
    const BlameScore score = score_scenario("one", scenario);
    fail_on_mistakes(score);
    CHECK(score.all_kinds().observable >= row.observable);
  }
}

TEST_CASE("a zone in which a switch discards for want of light has power") {
  const Topology t = build_topology(load_chaos_base("octet").fabric);
  std::vector<analysis::BlameSample> samples;
  for (const Link& link : t.links) {
    const PortRef uplink = t.node(link.a.node).name.ends_with(".t0-1") ? link.a : link.b;
    if (!t.port_name(uplink).ends_with(".t0-1:u2")) continue;
    const auto i = static_cast<uint32_t>(samples.size());
    analysis::BlameSample sample;
    sample.t = FabricTime::from_us(60 + i);
    sample.source = 4 + i % 4;
    sample.ev = EntropyValue{1 + i};
    sample.wires[0] = t.port(uplink).out;
    sample.wire_count = sample.suspects = 1;
    sample.bad = true;
    sample.clue = analysis::Clue::kDark;
    sample.about = uplink.node;
    samples.push_back(sample);
  }
  REQUIRE(samples.size() == t.planes);
  const auto found = analysis::search_blame(t, samples);
  REQUIRE(found.size() == 1);
  CHECK(name_of(t, found[0].component) == "spine-2");
  CHECK(found[0].or_else.empty());
}

TEST_CASE("a fault that loses nothing is not counted for what another one darkened") {
  const Scenario scenario = parse_scenario(
      read_yaml_text("name: two\nseed: 1\nfabric: pair\nworkload:\n"
                     "  - write: {from: h0, to: h1, size: 64KiB, until: end}\nfaults:\n"
                     "  - {at: 60us, duplicate: {link: \"h0:p0\", share: 0.01%, for: 30us}}\n"
                     "  - {at: 60us, link_down: {link: \"h0:p0\", for: 30us}}\nend: 120us\n",
                     "two"));
  const BlameScore score = score_scenario("one", scenario);
  CHECK(score.kinds.at("duplicate").observable == 0);
  CHECK(score.kinds.at("link_down").observable == 1);
}

TEST_CASE("over seeds of chaos what is blamed was broken, and what was broken is blamed" *
          doctest::test_suite(test::kWholeRun)) {
  if (!test::nightly()) return;
  const ChaosBase base = load_chaos_base("octet");
  BlameScore all;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    all.add_score(
        score_scenario("seed " + std::to_string(seed), chaos_scenario(base, seed).scenario));
  }
  MESSAGE(blame_table(all));
  CHECK(all.reaches_marks());
}

TEST_CASE("a score survives JSON, fits a terminal, and counts a part or a wide class as missed") {
  BlameScore score;
  score.runs = 2;
  score.blames = 10;
  score.right = 8;
  score.parts = 1;
  score.kinds["link_down"] = {.targets = 9,
                              .faint = 2,
                              .observable = 5,
                              .component = 3,
                              .in_class = 1,
                              .part = 1,
                              .faint_named = 1,
                              .alone = 4,
                              .alone_named = 3};
  score.kinds["delay"] = {.targets = 4};
  score.count_for("mrc");
  CHECK(score.transports.at("mrc").found == 4);
  score.wrong = {"seed 7: " + std::string(60, 'w') + " " + std::string(60, 'x')};
  score.not_found = {"seed 8: link_down"};
  CHECK(blame_score_from_json(to_json(score).dump()) == score);
  CHECK(score.precision() == doctest::Approx(0.9));
  CHECK(score.recall() == doctest::Approx(0.8));
  CHECK(score.recall_faint() == doctest::Approx(5.0 / 7));
  CHECK(score.recall_alone() == doctest::Approx(0.75));
  CHECK_FALSE(score.reaches_marks());
  const std::string table = blame_table(score);
  CHECK(table.find("delay 4") != std::string::npos);
  CHECK(table.find("of 4 that can be distinguished 0.750; 0 of 1 missed masked") !=
        std::string::npos);
  size_t column = 0;
  for (const char c : table) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
  for (const char* bad : {"", "[]", "{\"runs\":-1}", "{\"runs\":1}"}) {
    CHECK_THROWS_AS(blame_score_from_json(bad), InputError);
  }

  const Scenario scenario = one_fault(FaultKind::kLinkDown, R"({link: "p0.t0-0:u0", for: 50us})");
  const analysis::Evidence nothing(scenario.topology, scenario.schedule, scenario.stop());
  analysis::Blame blame;
  blame.from = blame.until = FabricTime::from_us(70);
  blame.kind = "switch";
  blame.component = "p0.t0-0";
  blame.or_else = {"link p0.t0-0:u0--p0.t1-0:d0"};
  blame.places = 2;
  CHECK(score_blame("one", scenario, nothing, {blame}).right == 1);
  blame.or_else = {"link p0.t0-1:u0--p0.t1-0:d1 and link p0.t0-0:u0--p0.t1-0:d0"};
  blame.places = 3;
  CHECK(score_blame("one", scenario, nothing, {blame}).right == 1);
  blame.places = kBlameClassMax + 1;
  CHECK(score_blame("one", scenario, nothing, {blame}).wrong.size() == 1);
  blame.places = 2;
  blame.from = blame.until = FabricTime::from_us(150);
  CHECK(score_blame("one", scenario, nothing, {blame}).wrong.size() == 1);
}
