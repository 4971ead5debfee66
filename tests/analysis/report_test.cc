// What the page of a run is made of: verdict.json as it is, and a picture of the evidence.

#include "analysis/report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/support/nightly.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using nlohmann::json;
using test::AnalyzedRun;
using test::ScriptedTraffic;
using test::SyntheticRun;

const FabricTime kStruck = FabricTime::from_us(400);
const FabricTime kMended = FabricTime::from_us(600);

/// h2 loses its link to plane 0 for a while; who sends over it notices 30 us later.
Analysis link_fault(AnalyzedRun& run, uint32_t qp = 0x100) {
  run.add_link_fault("h2:p0", kStruck, kMended);
  run.inputs.expectations = {ExpectHealed{}, ExpectDetect{FabricTime::from_us(35)}};
  const auto over = [](const SyntheticRun::Sent& s) {
    return s.path.plane == 0 && (s.source == 2 || s.destination == 2);
  };
  ScriptedTraffic traffic;
  traffic.avoids = [=](const SyntheticRun::Sent& s) {
    return over(s) && s.start >= kStruck + FabricTime::from_us(30) && s.start < kMended;
  };
  traffic.lost = [=](const SyntheticRun::Sent& s) {
    return over(s) && s.start >= kStruck && s.start < kMended;
  };
  traffic.write(run.run);
  run.inputs.queue_pairs = {{0, Qpn{1}, 2, Qpn{qp}}, {2, Qpn{qp}, 0, Qpn{1}}};
  return run.analyze();
}

std::string page_of(const Analysis& a) {
  return to_html({"runs/x", to_json(a.verdict), a.picture});
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

json data_in(const std::string& html) {
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const size_t from = html.find(mark) + mark.size();
  return json::parse(html.substr(from, html.find("</script>", from) - from));
}

std::string sentences(const json& picture, const std::string& kind) {
  std::string text;
  for (const json& line : picture["story"]) {
    if (line["kind"] == kind) text += line["text"].get<std::string>() + "\n";
  }
  return text;
}

TEST_CASE("the page holds the verdict as it is in verdict.json") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "page");
  const Analysis a = link_fault(run);
  const json data = data_in(page_of(a));
  CHECK(data["verdict"] == json::parse(to_json(a.verdict)));
  CHECK(data["picture"] == json::parse(a.picture));
  CHECK(data["run"] == "runs/x");
  CHECK_THROWS_AS(to_html({"runs/x", "no json", ""}), std::invalid_argument);
}

TEST_CASE("no name of a run gets out of the place for data in its page") {
  const Topology topology = test::quad();
  AnalyzedRun plain(topology, "plain"), hostile(topology, "hostile");
  const std::string name = "</script><script>alert('1')</script><!-- & \" @MAIN@ \xff";
  hostile.inputs.scenario = name;
  hostile.inputs.version = "<img src=x onerror=alert(1)>";
  const std::string html = page_of(link_fault(hostile));
  CHECK(count(html, "</script") == count(page_of(link_fault(plain)), "</script"));
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("<img") == std::string::npos);
  CHECK(html.find("<!-- &") == std::string::npos);
  const std::string kept = data_in(html)["verdict"]["scenario"];
  CHECK(kept.starts_with("</script><script>alert('1')</script><!-- & \" @MAIN@ "));
}

TEST_CASE("the page names nothing that would have to be loaded") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "alone");
  const std::string html = page_of(link_fault(run));
  for (const char* outside :
       {"<script src", "<link", "<img", "<iframe", "@import", "sourceMappingURL"}) {
    CAPTURE(outside);
    CHECK(html.find(outside) == std::string::npos);
  }
  CHECK(html.find("default-src 'none'") != std::string::npos);
  CHECK(html.find("(MIT)") != std::string::npos);  // the charts' own notice
  for (const char* part : {"@DATA@", "@CHARTS@", "@COMMON@", "@MAIN@"}) {
    CHECK(html.find(part) == std::string::npos);
  }
}

TEST_CASE("the series of a picture count what the verdict counts") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "series");
  const Analysis a = link_fault(run);
  const json picture = json::parse(a.picture);
  const auto sum = [](const json& bins) {
    return std::accumulate(bins.begin(), bins.end(), uint64_t{0},
                           [](uint64_t s, const json& bin) { return s + bin.get<uint64_t>(); });
  };
  REQUIRE(a.verdict.metrics.lost > 0);
  CHECK(sum(picture["series"]["lost"]) == a.verdict.metrics.lost);
  CHECK(sum(picture["series"]["again"]) == a.verdict.metrics.retransmitted);
  CHECK(picture["packets"]["rows"].size() == a.verdict.metrics.lost);
  uint64_t bytes = 0;
  double share = 0;
  for (const json& plane : picture["planes"]) {
    bytes += plane["bytes"].get<uint64_t>();
    share += plane["share"].get<double>();
  }
  // What arrives after the end is in no interval.
  CHECK(bytes <= a.verdict.metrics.delivered_bytes);
  CHECK(bytes > a.verdict.metrics.delivered_bytes * 99 / 100);
  CHECK(share == doctest::Approx(100));
  CHECK(picture["regions"][0]["from_us"] == 400);
  CHECK(picture["series"]["queues"]["unknown"] == "the run kept no packet records");
}

TEST_CASE("a page does not grow without bound, whatever the run was like" *
          doctest::test_suite(test::kWholeRun)) {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "long");
  const test::ScratchFile events("long.jsonl");
  std::ofstream out(events.path());
  for (uint32_t i = 0; i < 60'000; ++i) {  // an entropy value that changes its mind
    out << R"({"t_ps":)" << 15'000'000ull * (i + 1)
        << R"(,"node":"h0","port":"p0","kind":"ev_state","qp":1,"cause":")"
        << (i % 2 == 0 ? "assumed_bad" : "good") << R"(","ev":49152})"
        << "\n";
  }
  out.close();
  run.inputs.events = events.path();
  run.inputs.end = FabricTime::from_us(1'000'000);
  for (uint32_t i = 0; i < 2000; ++i) {
    run.add_link_fault("h2:p0", FabricTime::from_us(400 + i), FabricTime::from_us(401 + i));
    run.inputs.queue_pairs.push_back({i % 4, Qpn{i + 1}, (i + 2) % 4, Qpn{i + 5}});
    run.inputs.timing.pace.insert(run.inputs.timing.pace.end(), 20,
                                  {FabricTime::from_us(i), 0, 2000, int64_t{5}, "h0", 0, "", ""});
  }
  ScriptedTraffic traffic;
  traffic.lost = [](const SyntheticRun::Sent& s) { return s.psn % 3 == 0; };
  traffic.write(run.run);
  const Analysis a = run.analyze();
  REQUIRE(a.verdict.metrics.lost > 1000);
  const std::string html = page_of(a);
  MESSAGE(html.size() << " bytes");
  CHECK(html.size() < 3'000'000);
  const json picture = json::parse(a.picture);
  CHECK(picture["evs"]["left_out"] == 40'000);
  CHECK(picture["packets"]["rows"].size() == 400);
  CHECK(picture["packets"]["left_out"] == a.verdict.metrics.lost - 400);
}

TEST_CASE("queue pairs of RC have no entropy values: they are counted, and have no row") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "kinds");
  run.inputs.queue_pairs = {{0, Qpn{1}, 2, Qpn{5}},
                            {2, Qpn{5}, 0, Qpn{1}},
                            {1, Qpn{2}, 3, Qpn{6}, true},
                            {3, Qpn{6}, 1, Qpn{2}, true}};
  ScriptedTraffic().write(run.run);
  const json evs = json::parse(run.analyze().picture)["evs"];
  REQUIRE(evs["rows"].size() == 2);
  CHECK(evs["rows"][0]["host"] == "h0");
  CHECK(evs["rows"][1]["host"] == "h2");
  CHECK(evs["rows_left_out"] == 0);
  CHECK(evs["one_path"] == 2);
}

TEST_CASE("the story tells when a fault struck, who noticed, when traffic moved, what was lost") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "story");
  const test::ScratchFile events("story.jsonl");
  std::ofstream(events.path())
      << R"({"t_ps":403000000,"node":"h0","port":"p0","kind":"ev_state","qp":1,"cause":"assumed_bad","ev":49152})"
         "\n"
      << R"({"t_ps":640000000,"node":"h0","port":"p0","kind":"ev_state","qp":1,"cause":"good","ev":49152})"
         "\n";
  run.inputs.events = events.path();
  const json picture = json::parse(link_fault(run).picture);
  CHECK(sentences(picture, "struck").find("link_down h2:p0") != std::string::npos);
  CHECK(sentences(picture, "noticed").find("h0 was the first to notice, 3us later: p0/u0") == 0);
  CAPTURE(sentences(picture, "moved"));
  CHECK(sentences(picture, "moved").find("Traffic had moved 2") == 0);
  CHECK(sentences(picture, "lost").find("transmissions of 2 flows were lost on its paths") !=
        std::string::npos);
  CHECK(sentences(picture, "undone").find("was undone") != std::string::npos);
  CHECK(sentences(picture, "returned").find("Paths of 1 queue pair") == 0);
  const json& changes = picture["evs"]["changes"];
  REQUIRE(changes.size() == 2);
  CHECK(picture["evs"]["states"][changes[0][3].get<size_t>()] == "assumed_bad");
  CHECK(picture["evs"]["columns"][changes[0][2].get<size_t>()]["path"] == "p0/u0");
  FabricTime last = FabricTime::zero();
  for (const json& line : picture["story"]) {
    const FabricTime t =
        FabricTime::from_ns(static_cast<int64_t>(1e3 * line["t_us"].get<double>()));
    CHECK(t >= last);
    last = t;
  }
}

TEST_CASE("each of several faults on one link has its own words on what came back") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "twice");
  const test::ScratchFile events("twice.jsonl");
  std::ofstream text(events.path());
  for (const auto& [t, state] : std::vector<std::pair<int64_t, const char*>>{
           {403, "assumed_bad"}, {480, "good"}, {603, "assumed_bad"}, {690, "good"}}) {
    text << R"({"t_ps":)" << t * 1'000'000
         << R"(,"node":"h0","port":"p0","kind":"ev_state","qp":1,"cause":")" << state
         << R"(","ev":49152})" << '\n';
  }
  text.close();
  run.inputs.events = events.path();
  run.add_link_fault("h2:p0", test::us(400), test::us(450));
  run.add_link_fault("h2:p0", test::us(600), test::us(650));
  run.inputs.queue_pairs = {{0, {1}, 2, {1}, false}};
  ScriptedTraffic traffic;
  traffic.lost = [](const test::SyntheticRun::Sent& s) {
    return test::over_h2_p0(s) && ((s.start >= test::us(400) && s.start < test::us(450)) ||
                                   (s.start >= test::us(600) && s.start < test::us(650)));
  };
  traffic.write(run.run);
  const json picture = json::parse(run.analyze().picture);
  std::vector<std::pair<double, std::string>> returned, stayed;
  for (const json& line : picture["story"]) {
    if (line["kind"] == "returned") returned.push_back({line["t_us"], line["text"]});
    if (line["kind"] == "stayed") stayed.push_back({line["t_us"], line["text"]});
    CHECK_FALSE((line["kind"] == "moved" &&
                 line["text"].get<std::string>().find("stayed in use") != std::string::npos));
  }
  REQUIRE(returned.size() == 2);
  CHECK(returned[0].first == doctest::Approx(480));
  CHECK(returned[0].second.starts_with("Fault 1: "));
  CHECK(returned[0].second.find("690us") == std::string::npos);
  CHECK(returned[1].first == doctest::Approx(690));
  CHECK(!stayed.empty());
}

TEST_CASE("where evidence is missing the story says so, and not that nothing happened") {
  const Topology topology = test::quad();
  AnalyzedRun run(topology, "unmeasured");
  run.keeps_events = false;
  const Analysis a = link_fault(run);
  REQUIRE(a.verdict.faults.size() == 1);
  CHECK_FALSE(a.verdict.faults[0].measured);
  const json picture = json::parse(a.picture);
  CHECK(sentences(picture, "unknown")
            .find("What became of traffic is not known, for evidence is missing: ") == 0);
  // Before this it had: "Goodput had not come back when the run ended."
  CHECK(sentences(picture, "recovered") == "");
  CHECK(sentences(picture, "moved") == "");
  CHECK(picture["evs"]["unseen"] != "");
}

}  // namespace
}  // namespace mrclab::analysis
