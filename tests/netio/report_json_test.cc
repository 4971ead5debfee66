// Reports as JSON: what is written reads back, and nothing else does.

#include "fabric/history/report_json.h"

#include <doctest/doctest.h>

#include "netio/record/process_report.h"

using namespace mrclab;

namespace {

struct WirePair {
  uint32_t from = 0, to = 0;
};
struct Sample {
  std::string name;
  uint32_t count = 0;
  int64_t slack = 0;
  bool dead = false;
  FabricTime when;
  std::vector<WirePair> pairs;
  std::map<std::string, uint64_t> counters;
  std::array<uint64_t, 2> colours{};
};
std::string_view colour(size_t i) { return i == 0 ? "red" : "green"; }

}  // namespace

namespace mrclab {
template <>
inline constexpr auto kReportTable<WirePair> = report_list<WirePair>(entry("from", &WirePair::from),
                                                                     entry("to", &WirePair::to));
template <>
inline constexpr auto kReportTable<Sample> = report_table<Sample>(
    entry("name", &Sample::name), entry("count", &Sample::count), entry("slack", &Sample::slack),
    entry("dead", &Sample::dead), entry("when_ps", &Sample::when), entry("pairs", &Sample::pairs),
    entry("counters", &Sample::counters), counts("colours", &Sample::colours, colour));
}  // namespace mrclab

namespace {

nlohmann::json sample_json() {
  return report_to_json(Sample{"a \"name\"",
                               4'000'000'000,
                               INT64_MIN,
                               true,
                               FabricTime::from_ns(7),
                               {{1, 2}, {3, 4}},
                               {{"x", UINT64_MAX}},
                               {5, 6}});
}

std::string error_of(const std::string& text) {
  try {
    report_from_json<Sample>(parse_report(text));
  } catch (const ReportError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("no part of a sealed report, and none with another value, is the report") {
  const std::string text = sealed_report(sample_json());
  CHECK(parse_sealed_report(text) == sample_json());
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    CHECK_THROWS_AS(parse_sealed_report(text.substr(0, size)), ReportError);
  }
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    CAPTURE(other);
    nlohmann::json read;
    try {
      read = parse_sealed_report(other);
    } catch (const ReportError&) {
      continue;
    }
    CHECK(read == sample_json());  // of other blanks
  }
  CHECK_THROWS_AS(parse_sealed_report(std::string(100'000, '[')), ReportError);
}

TEST_CASE("a report reads back as it was written, to the last value") {
  const auto json = sample_json();
  const auto again = report_from_json<Sample>(parse_report(json.dump()));
  CHECK(report_to_json(again) == json);
  CHECK(again.count == 4'000'000'000);
  CHECK(again.pairs.at(1).to == 4);
  CHECK(again.counters.at("x") == UINT64_MAX);
  CHECK(again.colours[1] == 6);
  CHECK(json.at("pairs").dump() == "[[1,2],[3,4]]");
  CHECK(json.at("colours").dump() == R"({"green":6,"red":5})");
}

TEST_CASE("what is missing, unknown or of another kind in a report is named with its place") {
  struct Row {
    std::string patch;  ///< RFC 7396: null removes
    std::string error;
  };
  for (const Row& row : {
           Row{R"({"count": null})", R"(found no "count")"},
           Row{R"({"counts": 1})", R"(found "counts", which no report has)"},
           Row{R"({"count": null, "counts": 1})", R"(found no "count")"},
           Row{R"({"count": "1"})", R"(count: found ""1"": expected a number from 0 on)"},
           Row{R"({"count": -1})", R"(count: found "-1": expected a number from 0 on)"},
           Row{R"({"count": 1.5})", R"(count: found "1.5": expected a number from 0 on)"},
           Row{R"({"count": 4294967296})", "count: found \"4294967296\": expected at most"},
           Row{R"({"slack": 9223372036854775808})", "slack: found"},
           Row{R"({"when_ps": true})", "when_ps: found \"true\": expected a whole number"},
           Row{R"({"dead": 0})", "dead: found \"0\": expected true or false"},
           Row{R"({"name": 7})", "name: found \"7\": expected text"},
           Row{R"({"pairs": {}})", "pairs: found \"{}\": expected a list"},
           Row{R"({"pairs": [[1, 2], [3]]})", "pairs[1]: found \"[3]\": expected 2 values"},
           Row{R"({"pairs": [[1, 2], [3, "x"]]})", "pairs[1].to: found"},
           Row{R"({"counters": []})", "counters: found \"[]\": expected an object"},
           Row{R"({"counters": {"y": null, "x": "z"}})", "counters.x: found"},
           Row{R"({"colours": {"red": null}})", R"(colours: found no "red")"},
           Row{R"({"colours": {"blue": 1}})", R"(colours: found "blue", which no report has)"},
       }) {
    CAPTURE(row.patch);
    auto json = sample_json();
    json.merge_patch(nlohmann::json::parse(row.patch));
    CHECK(error_of(json.dump()).find(row.error) == 0);
  }
  for (const char* text : {"", "{", "[]", "null", "3", "\"\xff\"", "{}x"}) {
    CAPTURE(text);
    CHECK(error_of(text) != "no error");
  }
}

TEST_CASE("what a predecessor counted is added to its successor's report, field by field") {
  netio::ProcessReport a, b;
  a.process = "p0.t0-0";
  a.late_frames = 1;
  a.gap_count = 1;
  a.gaps = {{"w", 5}};
  a.min_slack_ns = 100;
  a.history = "mine";
  b.late_frames = 2;
  b.events_dropped = 3;
  b.gaps = {{"v", 6}};
  b.failed_send_reasons = {"why"};
  b.min_slack_ns = -7;
  a.add_earlier(b);
  CHECK(a.process == "p0.t0-0");
  CHECK(a.late_frames == 3);
  CHECK(a.gap_count == 1);
  CHECK(a.events_dropped == 3);
  CHECK(a.gaps.size() == 2);
  CHECK(a.failed_send_reasons.size() == 1);
  CHECK(a.min_slack_ns == -7);
  CHECK(a.history == "mine");
  CHECK_THROWS_AS(a.streams(), ReportError);
}
