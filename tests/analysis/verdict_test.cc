#include "analysis/verdict/verdict.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/report/summary.h"
#include "analysis/report/text_table.h"
#include "fabric/text/text_wrap.h"
#include "tests/support/checked.h"
#include "tests/support/synthetic_traffic.h"
#include "tests/support/texts.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::lines_of;
using test::ScriptedTraffic;
using test::SyntheticRun;

/// A link fault with a clean end, everything expected.
Analysis sample(AnalyzedRun& run) {
  const FabricTime fault = FabricTime::from_us(400), heal = FabricTime::from_us(600);
  run.add_link_fault("h2:p0", fault, heal);
  run.inputs.history_sha256 = std::string(64, 'a');
  run.inputs.expectations = {
      ExpectNoQpError{},
      ExpectMemoryIntact{},
      ExpectGoodput{FabricTime::from_us(700), FabricTime::never(), Probability{950'000'000}, {}},
      ExpectDetect{FabricTime::from_us(35)},
      ExpectRecover{FabricTime::from_us(300)},
      ExpectHealed{}};
  const auto over = [](const SyntheticRun::Sent& s) {
    return s.path.plane == 0 && (s.source == 2 || s.destination == 2);
  };
  ScriptedTraffic traffic;
  traffic.avoids = [=](const SyntheticRun::Sent& s) {
    return over(s) && s.start >= fault + FabricTime::from_us(30) && s.start < heal;
  };
  traffic.lost = [=](const SyntheticRun::Sent& s) {
    return over(s) && s.start >= fault && s.start < heal;
  };
  traffic.write(run.run);
  return run.analyze();
}

TEST_CASE("captures alone give a whole verdict") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  const Verdict v = sample(run).verdict;
  CHECK(v.result == Result::kPass);
  CHECK(exit_code(v.result) == 0);
  REQUIRE(v.checks.size() == 6);
  REQUIRE(v.faults.size() == 1);
  CHECK(v.faults[0].detected.has_value());
  CHECK(v.faults[0].recovered.has_value());
  CHECK(v.faults[0].healed);
  CHECK(v.metrics.lost > 0);
  CHECK(v.metrics.delivered + v.metrics.lost == v.metrics.data_packets);
  CHECK(v.notes.empty());
}

TEST_CASE("verdict.json has the fields that the design names") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  run.inputs.timing.reasons = {"late frame on \"h0:p0\" \xff"};
  const auto told = nlohmann::json::parse(to_json(sample(run).verdict));
  CHECK(told["scenario"] == "optic-glitch");
  CHECK(told["world"] == "live");
  CHECK(told["seed"] == 7);
  CHECK(told["version"] == "0.1.0");
  CHECK(told["result"] == "pass");
  CHECK(told["timing"]["mode"] == "carried");
  CHECK(told["timing"]["faithful"] == true);
  CHECK(told["timing"]["late_frames"] == 0);
  CHECK(told["timing"]["gaps"] == 0);
  CHECK(told["timing"]["min_slack_ns"] == 640);
  CHECK(told["timing"]["dilation"]["mean"] == 5200);
  CHECK(told["checks"][0]["name"] == "no_qp_error");
  CHECK(told["checks"][0]["measured"] == 0);
  CHECK(told["checks"][0]["measured"].is_number_integer());
  CHECK(told["checks"][0]["bound"] == 0);
  CHECK(told["checks"][0]["unit"] == "QPs");
  CHECK(told["faults"][0]["fault"] == "link_down h2:p0");
  CHECK(told["faults"][0]["at_ns"] == 400'000);
  CHECK(told["faults"][0]["detected_ns"].is_number_integer());
  CHECK(told["faults"][0]["recovered_ns"].is_number_integer());
  CHECK(told["faults"][0]["healed"] == true);
  CHECK(told["metrics"]["goodput_bps"].is_number_integer());
  for (const char* name : {"retransmitted", "trimmed", "lost"}) {
    CHECK(told["metrics"][name].is_number_integer());
  }
  CHECK(told["metrics"]["history_sha256"] == std::string(64, 'a'));
}

TEST_CASE("a verdict tells the parts of a dip, where they can be told apart") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  Verdict v = sample(run).verdict;
  v.faults[0].dip.reset();
  CHECK(nlohmann::json::parse(to_json(v))["faults"][0]["dip"].is_null());
  CHECK(to_table(v).find("dip:") == std::string::npos);
  const auto gbps = BitRate::from_gbps;
  v.faults[0].dip =
      Dip{FabricTime::from_us(11), gbps(800), gbps(700), FabricTime::from_us(99), gbps(170)};
  auto told = nlohmann::json::parse(to_json(v))["faults"][0]["dip"];
  CHECK(told["transient_ns"] == 99'000);
  CHECK(told["transient_rtts"] == 9);
  CHECK(told["lowest_percent"] == 21.25);
  CHECK(told["steady_percent"] == 87.5);
  CHECK(to_table(v).find(
            "    dip: transient for 9 RTT (99us), at the lowest 21.2 % of baseline; then\n"
            "    steady at 87.5 %\n") != std::string::npos);
  v.faults[0].dip->transient = FabricTime::zero();
  told = nlohmann::json::parse(to_json(v))["faults"][0]["dip"];
  CHECK(told["lowest_percent"].is_null());
}

TEST_CASE("a verdict names what the packets blame, as JSON and in its table") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  Verdict v = sample(run).verdict;
  REQUIRE(v.blame.size() == 1);
  const auto told = nlohmann::json::parse(to_json(v))["blame"];
  REQUIRE(told.size() == 1);
  CHECK(told[0]["bad"].get<uint64_t>() == v.blame[0].bad);
  CHECK(told[0]["from_ns"].get<int64_t>() >= 399'999);  // captures round down
  CHECK(told[0]["until_ns"].get<int64_t>() < 600'000);
  CHECK(told[0]["places"].get<uint32_t>() >= 1);
  const std::string named = told[0]["kind"].get<std::string>() + " " +
                            told[0]["component"].get<std::string>() + told[0]["or_else"].dump();
  CHECK(named.find("h2:p0") != std::string::npos);
  CHECK(to_table(v).find("blame, by the packets alone\n  " + v.blame[0].kind) != std::string::npos);
  v.blame.resize(9, v.blame[0]);
  CHECK(to_table(v).find("and 1 more in verdict.json") != std::string::npos);
  v.blame.clear();
  CHECK(to_table(v).find("blame") == std::string::npos);
}

TEST_CASE("each result has its exit code") {
  CHECK(exit_code(Result::kPass) == 0);
  CHECK(exit_code(Result::kFail) == 1);
  CHECK(exit_code(Result::kInconclusive) == 3);
}

TEST_CASE("no line of the table is wider than asked for, whatever the names are") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  run.inputs.timing.faithful = false;
  run.inputs.timing.reasons = {std::string(300, 'w'), "late frames of p0.t0-0, because of ..."};
  Verdict v = sample(run).verdict;
  v.faults[0].fault = std::string(90, 'f') + "\xc3\xa9";
  v.checks[1].note =
      "a note that is longer than a line of a terminal can be, and so must be "
      "broken between two of its words";
  for (const size_t width : {60u, 80u, 120u}) {
    CAPTURE(width);
    for (const std::string& line : lines_of(to_table(v, {.width = width}))) {
      // A digest is one word, which stays whole: it is there to be copied.
      const bool digest = line.starts_with("history") && columns(line) == 75;
      CHECK_MESSAGE((columns(line) <= width || digest), line);
    }
  }
  v.metrics.lost = v.metrics.trimmed = 0;
  v.metrics.data_packets = v.metrics.delivered = v.metrics.retransmitted = 1'234'567;
  CHECK(to_table(v, {.width = 60}).find("\n           1234567 retransmitted\n") !=
        std::string::npos);
  const std::string table = to_table(v);
  CHECK(table.find("NOT FAITHFUL") != std::string::npos);
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(to_table(v, {.colour = true}).find('\x1b') != std::string::npos);
}

TEST_CASE("a row says what was measured, of whom, when, against which bound") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "optic-glitch");
  const std::string table = to_table(sample(run).verdict);
  CHECK(table.find("pass  queue pairs in error ≤ 0: 0 (4 queue pairs with work by host") !=
        std::string::npos);
  CHECK(table.find("pass  goodput after the heal (from 700us) ≥ 95 % of baseline: ") !=
        std::string::npos);
  CHECK(table.find("pass  time to detect a fault ≤ 35us: ") != std::string::npos);
}

TEST_CASE("waiting for a frame is told as what it is beside FAITHFUL, not as a negative number") {
  Verdict v;
  v.timing.faithful = true;
  v.timing.dilation_max = 5'000;
  v.timing.min_slack_ns = -2'521'360;
  const std::string table = to_table(v);
  CHECK(table.find("the lab stood still for frames, up to 2.52 ms; none came too late") !=
        std::string::npos);
  CHECK(table.find("-2.5") == std::string::npos);
  v.timing.min_slack_ns = 640'000;
  CHECK(to_table(v).find("every frame 0.64 ms early or more") != std::string::npos);
}

TEST_CASE("junit.xml counts failures and skips, and escapes what it quotes") {
  Verdict v;
  v.scenario = "a<b>&\"c\"\x01";
  v.checks.resize(3);
  v.checks[0].name = "detect";
  v.checks[0] = test::with_result(v.checks[0], Result::kPass);
  v.checks[1].name = "goodput";
  v.checks[1] = test::with_result(v.checks[1], Result::kFail);
  v.checks[1].note = "50 % < 95 %";
  v.checks[2].name = "healed";
  const std::string xml = to_junit(v);
  CHECK(xml.find("tests=\"4\" failures=\"1\" skipped=\"1\"") != std::string::npos);
  CHECK(xml.find("a&lt;b&gt;&amp;&quot;c&quot;?") != std::string::npos);
  CHECK(xml.find("50 % &lt; 95 %") != std::string::npos);
  CHECK(xml.find("<failure type=\"goodput\" message=") != std::string::npos);
  CHECK(xml.find("<property name=\"seed\" value=\"0\"/>") != std::string::npos);
  CHECK(xml.find('\x01') == std::string::npos);
}

TEST_CASE("junit.xml is what CI systems read: counts that add up, cases of their own, reasons") {
  Verdict v;
  v.scenario = "a <run> \xff";
  v.timing.faithful = false;
  v.timing.reasons = {"a frame was late"};
  v.checks.resize(4);
  for (size_t i = 0; i < v.checks.size(); ++i) {
    v.checks[i].name = i < 2 ? "losses" : "healed";
    v.checks[i].about = i < 2 ? "at most 3 lost" : "";  // asked for twice
    v.checks[i] = test::with_result(v.checks[i], i < 2    ? Result::kFail
                                                 : i == 2 ? Result::kPass
                                                          : Result::kInconclusive);
  }
  v.checks[0].note = "among them \x01 & <another>";
  v.checks[0].where = {FabricTime::from_us(3), FabricTime::from_us(5), "h0 to h1 QP 7",
                       PacketToLookAt{"h0", "h1", Qpn{7}, Psn{9}, "sim.pcapng", 12}};
  boost::property_tree::ptree xml;
  std::istringstream in(to_junit(v));
  boost::property_tree::read_xml(in, xml);  // throws for what is no XML
  const auto& suite = xml.get_child("testsuites.testsuite");
  CHECK(suite.get<std::string>("<xmlattr>.name") == "a <run> \xef\xbf\xbd");
  size_t cases = 0, failures = 0, skipped = 0;
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& [element, content] : suite) {
    if (element != "testcase") continue;
    ++cases;
    const auto name = content.get<std::string>("<xmlattr>.name");
    CHECK_FALSE(name.empty());
    names.insert({content.get<std::string>("<xmlattr>.classname"), name});
    CHECK(content.get<double>("<xmlattr>.time") >= 0);
    failures += content.count("failure");
    skipped += content.count("skipped");
    CHECK(content.count("failure") + content.count("skipped") <= 1);
    if (const auto failure = content.get_child_optional("failure")) {
      CHECK(failure->get<std::string>("<xmlattr>.type") == "losses");
      CHECK_FALSE(failure->get<std::string>("<xmlattr>.message").empty());
      CHECK(failure->data().starts_with("at most 3 lost"));
    }
  }
  CHECK(names.size() == cases);
  for (const char* counted : {"testsuites.<xmlattr>.", "testsuites.testsuite.<xmlattr>."}) {
    const std::string at = counted;
    CHECK(xml.get<size_t>(at + "tests") == cases);
    CHECK(xml.get<size_t>(at + "failures") == failures);
    CHECK(xml.get<size_t>(at + "skipped") == skipped);
    CHECK(xml.get<size_t>(at + "errors") == 0);
  }
  CHECK(cases == 5);
  CHECK(failures == 2);
  CHECK(skipped == 2);
  CHECK(suite.get<std::string>("testcase.failure")
            .ends_with("where: 3us to 5us, h0 to h1 QP 7, frame 12 of sim.pcapng"));
}

TEST_CASE(
    "a run in which packets were lost names the profiles that found them, any other does not") {
  const Topology topology = test::quad();
  AnalyzedRun lossy(topology, "optic-glitch");
  lossy.inputs.loss_timers = "NIC old, transport lab: tail probe 1ms";
  const Verdict v = sample(lossy).verdict;
  REQUIRE(v.metrics.lost > 0);
  CHECK(v.loss_timers == lossy.inputs.loss_timers);
  CHECK(to_table(v).find("losses     found by NIC old, transport lab: tail probe 1ms\n") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(to_json(v))["loss_timers"] == v.loss_timers);
  AnalyzedRun calm(topology, "calm");
  calm.inputs.loss_timers = lossy.inputs.loss_timers;
  ScriptedTraffic().write(calm.run);
  const Verdict none = calm.analyze().verdict;
  REQUIRE(none.metrics.data_packets > 0);
  CHECK(none.loss_timers.empty());
  CHECK(to_table(none).find("losses ") == std::string::npos);
}

TEST_CASE("what the taps cost is in the table and in verdict.json") {
  Verdict v;
  CHECK(to_table(v).find("taps") == std::string::npos);
  v.taps = TapCost{24, 1'000'000, 250'000'000, 0, 2.5, 0.125};
  const std::string table = to_table(v);
  CHECK(table.find("1000000 packets of 24 interfaces, 250.0 MB") != std::string::npos);
  CHECK(table.find("2.50 s of CPU, 2.5 us a packet") != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(v))["taps"]["cpu_seconds"] == 2.5);
}

TEST_CASE("a capture that cannot be read makes the run inconclusive and is named") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "broken");
  run.inputs.expectations = {ExpectNoQpError{}};
  ScriptedTraffic().write(run.run);
  CHECK(run.analyze().verdict.result == Result::kPass);
  SUBCASE("missing") {
    run.inputs.captures.push_back("/nonexistent/h9.pcapng");
    const Verdict v = analyze(run.inputs).verdict;
    CHECK(v.result == Result::kInconclusive);
    CHECK(v.notes.at(0).find("h9.pcapng") != std::string::npos);
  }
  SUBCASE("cut") {
    run.run.writer().bytes().resize(run.run.writer().bytes().size() - 5);
    const Verdict v = run.analyze().verdict;
    CHECK(v.result == Result::kInconclusive);
    CHECK(v.metrics.delivered > 3'000);
  }
  SUBCASE("none at all") {
    run.inputs.captures.clear();
    CHECK(analyze(run.inputs).verdict.result == Result::kInconclusive);
  }
}

TEST_CASE("a scenario without expectations passes nothing, and says so everywhere") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "nothing-expected");
  ScriptedTraffic().write(run.run);
  const Verdict v = run.analyze().verdict;
  CHECK(v.result == Result::kNoChecks);
  CHECK(exit_code(v.result) == 3);
  CHECK(nlohmann::json::parse(to_json(v))["result"] == "no checks");
  const std::string table = to_table(v);
  CHECK(to_summary(v, {}).find("NO CHECKS") != std::string::npos);
  CHECK(table.find("PASS") == std::string::npos);
  CHECK(table.find("no expectations") != std::string::npos);
  boost::property_tree::ptree junit;
  std::istringstream xml(to_junit(v));
  boost::property_tree::read_xml(xml, junit);
  const auto& suite = junit.get_child("testsuites.testsuite");
  CHECK(suite.get<int>("<xmlattr>.tests") == 2);
  CHECK(suite.get<int>("<xmlattr>.skipped") == 1);
  Verdict later = v;
  CheckResult own;  // the user's own check
  own.name = "program";
  own = test::with_result(own, Result::kPass);
  add_check(later, own);
  CHECK(later.result == Result::kPass);
}

TEST_CASE("a run leaves a verdict, a JUnit file and a page") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "files");
  ScriptedTraffic().write(run.run);
  const Analysis a = run.analyze();
  std::string names;
  for (const ResultFile& file : result_files("runs/files", a)) {
    CHECK(file.text.size() > 100);
    names += file.name + " ";
  }
  CHECK(names == "verdict.json junit.xml report.html ");
}

}  // namespace
}  // namespace mrclab::analysis
