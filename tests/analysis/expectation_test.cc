#include "analysis/expect/expectation.h"
#include "analysis/checks/expectation_text.h"
#include "analysis/expect/source_place.h"

#include <doctest/doctest.h>

#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

Expectation parse(const std::string& text) {
  const YamlValue list = read_yaml_text("- " + text + "\n", "f.yaml");
  return parse_expectation(list.with_rtt(FabricTime::from_us(11)).items().at(0));
}

std::string error_of(const std::string& text) {
  return test::error_of([&] { parse(text); });
}

}  // namespace

TEST_CASE("every expectation is read, with rtt resolved and defaults in place") {
  CHECK(parse("no_qp_error") == Expectation{ExpectNoQpError{}});
  CHECK(parse("memory_intact") == Expectation{ExpectMemoryIntact{}});
  CHECK(parse("healed") == Expectation{ExpectHealed{}});
  CHECK(parse("goodput: {from: 600us, at_least: 95%, of: baseline}") ==
        Expectation{ExpectGoodput{FabricTime::from_us(600), FabricTime::never(),
                                  Probability{950'000'000}, GoodputReference::kBaseline}});
  CHECK(parse("goodput: {from: 1us, until: 2rtt, at_least: 0.5, of: line_rate}") ==
        Expectation{ExpectGoodput{FabricTime::from_us(1), FabricTime::from_us(22),
                                  Probability{500'000'000}, GoodputReference::kLineRate}});
  CHECK(parse("detect: {within: 6rtt}") == Expectation{ExpectDetect{FabricTime::from_us(66)}});
  CHECK(parse("recover: {within: 100rtt}") ==
        Expectation{ExpectRecover{FabricTime::from_us(1100), Probability{950'000'000}}});
  CHECK(parse("leave: {within: 5rtt}") == Expectation{ExpectLeave{FabricTime::from_us(55)}});
  CHECK(parse("qp_error: {reason: Retry Counter Exceeded}") ==
        Expectation{ExpectQpError{"Retry Counter Exceeded"}});
}

TEST_CASE("names and descriptions are those of the file and of a report") {
  CHECK(name_of(parse("goodput: {from: 0us, at_least: 1%}")) == "goodput");
  CHECK(name_of(parse("healed")) == "healed");
  CHECK(describe(parse("goodput: {from: 600us, at_least: 95%}")) ==
        "goodput from 600us ≥ 95 % of baseline");
  CHECK(describe(parse("detect: {within: 6rtt}")) == "time to detect a fault ≤ 66us");
  CHECK(describe(parse("recover: {within: 10us, to: 90%}")) ==
        "time to recover to 90 % of baseline ≤ 10us");
  const Expectation later = parse("goodput: {from: 600us, at_least: 95%, plane: 0}");
  CHECK(describe_for_run(later, {.healed = FabricTime::from_us(460)}) ==
        "goodput of plane 0 after the heal (from 600us) ≥ 95 % of baseline");
  CHECK(describe_for_run(later, {.healed = FabricTime::from_us(700)}) ==
        "goodput of plane 0 from 600us ≥ 95 % of baseline");
}

TEST_CASE("times in sentences have at most four digits, and base RTTs where they were written so") {
  const RunTimes times{std::nullopt, FabricTime::from_ns(11'021) - FabricTime::from_ps(200)};
  const auto within = [&](FabricTime t) { return describe_for_run(ExpectDetect{t}, times); };
  const FabricTime rtt = times.base_rtt;
  CHECK(within(rtt * 6) == "time to detect a fault ≤ 66.12us (6 RTT)");
  CHECK(within(rtt * 25 / 10) == "time to detect a fault ≤ 27.55us (2.5 RTT)");
  CHECK(within(rtt * 7 / 10) == "time to detect a fault ≤ 7.715us (0.7 RTT)");
  CHECK(within(rtt * 100) == "time to detect a fault ≤ 1.102ms (100 RTT)");
  CHECK(within(FabricTime::from_us(600)) == "time to detect a fault ≤ 600us");
  CHECK(within(FabricTime::from_ns(1'234'560)) == "time to detect a fault ≤ 1.235ms");
  CHECK(within(FabricTime::from_ns(66'120)) == "time to detect a fault ≤ 66.12us");
  CHECK(describe_for_run(ExpectGoodput{rtt * 20, rtt * 30, Probability{500'000'000}}, times) ==
        "goodput from 220.4us (20 RTT) until 330.6us (30 RTT) ≥ 50 % of baseline");
}

TEST_CASE("an expectation keeps what was published, in the unit that its check measures in") {
  const Expectation goodput =
      parse("{goodput: {from: 1us, at_least: 3%}, published: 87.13%, figure: \"figure 9a\"}");
  REQUIRE(goodput.published);
  CHECK(goodput.published->value == doctest::Approx(87.13));
  CHECK(shown(*goodput.published) == "87.13");
  CHECK(goodput.published->figure == "figure 9a");
  const Expectation leave =
      parse("{leave: {within: 5rtt}, published: 1.5ms, figure: \"figure 12\"}");
  REQUIRE(leave.published);
  CHECK(leave.published->value == doctest::Approx(1500));
  CHECK(shown(*leave.published) == "1.5ms");
  CHECK_FALSE(parse("no_qp_error").published);
}

TEST_CASE("an expectation written as text reads back as the same expectation") {
  for (const char* text :
       {"no_qp_error",
        "memory_intact",
        "healed",
        "detect: {within: 6rtt}",
        "goodput: {from: 1.5us, until: 2rtt, at_least: 12.5%, of: line_rate}",
        "goodput: {from: 600us, at_least: 95%}",
        "recover: {within: 100rtt, to: 80%}",
        "leave: {within: 5rtt}",
        "qp_error: {reason: \"Retry Counter Exceeded\"}",
        "safety",
        "liveness",
        "liveness: {within: 80rtt}",
        "goodput_back: {to: 90%}",
        "evs_good",
        "steady",
        "goodput: {from: 1us, at_most: 90%, of: 800Gb/s, host: \"h[0-3]\"}",
        "gap: {at_most: 20rtt, below: 5%, of: line_rate, source: h0, destination: h4}",
        "samples: {from: 300us, every: 20us, min_over_mean: 92%}",
        "latency: {source: h0, destination: h4, at_least: 5us, at_most: 7us}",
        "fairness: {destination: h0, at_least: 95%, by: min_over_max}",
        "losses_per_qp: {at_most: 0}",
        "affected_qps: {at_least: 15%, at_most: 35%}",
        "completion_time: {from: 300us, slower_by: 0%}",
        "step_time: {at_most: 105%, of: baseline, from_step: 3, job: llama}",
        "step_time: {at_most: 1.05}",
        "step_time: {at_most: 120us}",
        "step_time: {at_least: 150%, of: median}",
        "job_goes_on: {within: 3ms, steps_repeated: 0, job: llama}",
        "interference: {at_most: 120%, at_least: 101.5%, from_step: 2, job: llama}",
        "exposed: {at_most: 10%, group: dp}",
        "straggler: {at_most: 5%, from_step: 0}",
        "steps_done: 20",
        "steps_done: {at_least: 20, job: llama}",
        "job_alive",
        "job_alive: {job: llama}",
        "job_dies: {by: \"Retry Counter Exceeded\", within: 31s}",
        "{no_qp_error, published: 0, figure: \"figure 7\"}",
        "{leave: {within: 5rtt}, published: 1.5s, figure: \"figure 12: 1, 2\"}"}) {
    CHECK(parse(to_yaml(parse(text))) == parse(text));
  }
}

TEST_CASE("bad expectations get an exact error") {
  struct Row {
    const char* text;
    const char* expected;
  };
  for (
      const Row& row : {
          Row{"no_qp_errors", "f.yaml:1:3: found \"no_qp_errors\": expected \"no_qp_error\""},
          Row{"xyzzy",
              "f.yaml:1:3: found \"xyzzy\": expected one of no_qp_error, memory_intact, "
              "healed, goodput, detect, recover, leave, qp_error, gap, samples, latency, fairness, "
              "losses_per_qp, affected_qps, completion_time, steady, safety, placed_once, "
              "no_silent_loss, in_order, no_qp_error_while_a_path_lives, accounted, liveness, "
              "goodput_back, evs_good, queues_empty, losses, trims, retransmissions, share, "
              "port_share, path_unused, counter, lossless, pause, deadlock_free, "
              "message_time, mapper_names, isolated, dropped_for, datagrams, orchestrator_names, denied, "
              "allowed_again, step_time, exposed, straggler, steps_done, job_alive, job_dies, job_goes_on, "
              "interference, ttft, tpot, slo"},
          Row{"step_time: {at_most: 0%}",
              "f.yaml:1:24: found \"0%\": expected a multiple such as 105%, or a duration, above 0"},
          Row{"step_time: {at_most: 10001%}",
              "f.yaml:1:24: found \"10001%\": expected a multiple such as 105% or 1.05, up to 10000%"},
          Row{"step_time: {at_most: 90us, of: median}",
              "f.yaml:1:34: found \"of\" beside a time: expected a multiple such as 105%, or "
              "no \"of\""},
          Row{"steps_done: 0", "f.yaml:1:15: found \"0\": expected a whole number from 1 to 10000"},
          Row{"steps_done: {at_least: 10001}",
              "f.yaml:1:26: found \"10001\": expected a whole number from 1 to 10000"},
          Row{"steps_done", "f.yaml:1:3: found \"steps_done\": expected \"steps_done: 20\""},
          Row{"qp_error: {reason: \"\"}",
              "f.yaml:1:22: found \"\": expected words such as \"Retry Counter Exceeded\" or "
              "h[1-7]"},
          Row{"goodput",
              "f.yaml:1:3: found \"goodput\": expected \"goodput: {from: 600us, at_least: 95%, "
              "of: baseline}\""},
          Row{"healed: {within: 1us}",
              "f.yaml:1:3: found a value for \"healed\": expected the word alone"},
          Row{"detects: {within: 6rtt}",
              "f.yaml:1:3: found the expectation \"detects\": expected \"detect\""},
          Row{"{detect: {within: 1us}, recover: {within: 1us}}",
              "f.yaml:1:3: found 2 expectations: expected one per entry"},
          Row{"detect: {within: 6}",
              "f.yaml:1:20: found \"6\": expected a duration such as 300us (ps, ns, us, ms, s, "
              "rtt)"},
          Row{"detect: {within: 0rtt}", "f.yaml:1:20: found \"0rtt\": expected a duration above 0"},
          Row{"detect: 6rtt", "f.yaml:1:11: found \"6rtt\": expected a map (key: value)"},
          Row{"goodput: {at_least: 95%}", "f.yaml:1:12: found no \"from\": expected \"from: ...\""},
          Row{"goodput: {from: 1us, at_least: 95}",
              "f.yaml:1:34: found \"95\": expected a share such as 20% or 0.2, from 0% to 100%"},
          Row{"goodput: {from: 1us, at_least: 95%, of: yesterday}",
              "f.yaml:1:43: found \"yesterday\": expected baseline, line_rate, or a rate "
              "such as 100Gb/s"},
          Row{"goodput: {from: 1us}",
              "f.yaml:1:12: found no \"at_least\": expected \"at_least: ...\""},
          Row{"gap: {below: 5%}", "f.yaml:1:8: found no \"at_most\": expected \"at_most: ...\""},
          Row{"fairness: {at_least: 95%, by: eye}",
              "f.yaml:1:33: found \"eye\": expected one of jain, min_over_max"},
          Row{"steady: {within: 1us}",
              "f.yaml:1:3: found a value for \"steady\": expected the word alone"},
          Row{"goodput: {from: 5us, until: 5us, at_least: 95%}",
              "f.yaml:1:31: found \"5us\": expected an instant after \"from\""},
          Row{"recover: {within: 1us, to: 0%}",
              "f.yaml:1:30: found \"0%\": expected a share above 0%"},
          Row{"{detect: {within: 1us}, published: 5%, figure: x}",
              "f.yaml:1:38: found \"5%\": expected a duration such as 1.3s"},
          Row{"{no_qp_error, published: 0}",
              "f.yaml:1:3: found no \"figure\": expected \"figure: ...\""},
          Row{"{no_qp_error, published: 0, figure: the paper}",
              "f.yaml:1:39: found \"the paper\": expected its source, by section, figure, table or "
              "page, such as \"MRC paper, figure 9a\""},
          Row{"{safety, published: 0, figure: figure 1}",
              "f.yaml:1:23: found a figure for several checks: expected one for a single check"},
          Row{"[1]", "f.yaml:1:3: found a list: expected an expectation such as no_qp_error"},
      }) {
    CHECK(error_of(row.text) == row.expected);
  }
}

TEST_CASE("bounds on packets, paths and counters are read, written and described") {
  for (const char* text :
       {"losses: {at_least: 1, at_most: 40, from: 300us, plane: 3}", "trims: {at_most: 0}",
        "retransmissions: {at_least: 2, source: \"h0\"}",
        "share: {path: \"p0/*\", at_least: 11%, at_most: 14%, from: 600us}",
        "port_share: {port: \"p0.t0-0:u0\", among: \"p0.t0-0:u*\", at_least: 20%, "
        "at_most: 23%, until: 400us, source: h0}",
        "path_unused: {path: \"p0/u1\", from: 320us, until: 400us}",
        "counter: {name: \"duplicate_deliveries\", at_most: 0}",
        "goodput: {from: 1us, at_least: 5%, plane: 0}"}) {
    CAPTURE(text);
    const Expectation read = parse(text);
    CHECK(parse(to_yaml(read)) == read);
  }
  CHECK(describe(parse("losses: {at_least: 1, at_most: 4, from: 3us, plane: 3}")) ==
        "packets lost in plane 3 from 3us ≥ 1 and ≤ 4");
  CHECK(describe(parse("path_unused: {path: p0/u1, from: 320us}")) ==
        "packets sent over p0/u1 from 320us ≤ 0");
  CHECK(error_of("losses: {from: 1us}").find("at_least") != std::string::npos);
  CHECK(error_of("counter: {name: naks, at_most: 0}").find("nacks") != std::string::npos);
}

TEST_CASE("expectations of pauses are read, written and described") {
  struct Row {
    const char* text;
    Expectation expected;
    const char* described;
  };
  ExpectPause pause;
  pause.at_most = Probability{50'000'000};
  pause.port = "p0.t0-*:u*";
  pause.from = FabricTime::from_us(300);
  ExpectPause least;
  least.at_least = Probability{10'000'000};
  const Row rows[] = {
      {"lossless", ExpectLossless{}, "RoCE packets lost for lack of room ≤ 0"},
      {"lossless: {from: 300us}", ExpectLossless{FabricTime::from_us(300)},
       "RoCE packets lost for lack of room from 300us ≤ 0"},
      {"pause: {at_most: 5%, port: \"p0.t0-*:u*\", from: 300us}", pause,
       "time for which RoCE's data stood paused at p0.t0-*:u* from 300us ≤ 5 %"},
      {"pause: {at_least: 1%}", least, "time for which RoCE's data stood paused at any port ≥ 1 %"},
      {"deadlock_free", ExpectDeadlockFree{},
       "circles of paused ports that stood for longer than 32 RTT ≤ 0"},
      {"deadlock_free: {longer_than: 100us}", ExpectDeadlockFree{FabricTime::from_us(100)},
       "circles of paused ports that stood for longer than 100us ≤ 0"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(parse(row.text) == row.expected);
    CHECK(parse(to_yaml(row.expected)) == row.expected);
    CHECK(describe(row.expected) == row.described);
  }
  CHECK(error_of("pause: {port: h3:p0}").find("at_least") != std::string::npos);
  CHECK(error_of("pause").find("pause: {at_most: 5%, port: h3:p0}") != std::string::npos);
  CHECK(error_of("deadlock_free: {longer_than: 0us}").find("a duration above 0") !=
        std::string::npos);
}

TEST_CASE("a source names its place by a section, figure, table or page with a number") {
  for (const char* source :
       {"MRC paper, section 5.2.1: half a round trip", "figure 9a", "UEC 1.0, table 3-2",
        "Zhu et al., page 12", "MRC specification §8.3.1", "IBTA, annex A17.9.3",
        "MRC paper, figures 16 and 17"}) {
    CHECK_MESSAGE(names_its_place(source), source);
  }
  for (const char* source :
       {"", "x", "MRC paper", "one port of eight", "400 of 1400 Gb/s", "section", "the figure",
        "draft-xu-idr-fare, weights by path bandwidth: 1:2:2:2", "a page of it"}) {
    CHECK_MESSAGE(!names_its_place(source), source);
  }
}
