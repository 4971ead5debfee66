// Windows as hosts report them: read from events.jsonl, added up by flow, and never made up.

#include "analysis/measure/window_flows.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/report/window_picture.h"
#include "analysis/trace/run_trace.h"
#include "fabric/history/window_text.h"
#include "tests/support/capture_writer.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

namespace mrclab::analysis {
namespace {

using test::us;

const Topology& eight_hosts() {
  static const Topology topology = test::octet();
  return topology;
}

WindowNews news_at(int64_t at_us, uint32_t host, uint64_t window, WindowQuadrant quadrant) {
  WindowNews news;
  news.host = host;
  news.said.t = us(at_us);
  news.said.peer = eight_hosts().host(0);
  news.said.window = {window};
  news.said.in_flight = {window / 2};
  news.said.quadrant = quadrant;
  news.said.answers[static_cast<size_t>(quadrant)] = 1;
  return news;
}

void cut(WindowNews& news, WindowCut cause, uint64_t taken) {
  news.said.cut = cause;
  news.said.cuts[static_cast<size_t>(cause)] = {1, {taken}};
}

/// h1 to h0 is cut twice, h2 to h0 never.
std::vector<WindowNews> two_flows() {
  std::vector<WindowNews> all{
      news_at(0, 2, 500, WindowQuadrant::kClear), news_at(0, 1, 1000, WindowQuadrant::kClear),
      news_at(5, 1, 400, WindowQuadrant::kLate), news_at(10, 1, 100, WindowQuadrant::kLate),
      news_at(15, 1, 200, WindowQuadrant::kMarkedLate)};
  cut(all[2], WindowCut::kLastHopTrims, 600);
  cut(all[3], WindowCut::kDelay, 300);
  all[2].said.delay = us(3);
  all[2].said.most_delay = us(8);
  all[3].said.delay = us(4);
  all[3].said.most_delay = us(4);
  return all;
}

/// A file of lines, gone with its object.
struct LinesOnDisk {
  explicit LinesOnDisk(const std::vector<std::string>& lines) {
    std::ofstream out(file.path());
    for (const std::string& line : lines) out << line << '\n';
  }
  test::ScratchFile file{"windows.jsonl"};
};

std::string line_of(const WindowNews& news) {
  return window_line(eight_hosts(), eight_hosts().host(news.host), news.said);
}

TEST_CASE("windows are added up by flow, and what was cut most comes first") {
  const std::vector<WindowNews> news = two_flows();
  const std::vector<WindowFlow> flows = window_flows(eight_hosts(), news);
  REQUIRE(flows.size() == 2);
  const WindowFlow& f = flows[0];
  CHECK(f.host == 1);
  CHECK(f.peer == 0);
  CHECK(f.news == std::vector<uint32_t>{1, 2, 3, 4});
  CHECK(f.least == Bytes{100});
  CHECK(f.median == Bytes{200});
  CHECK(f.most == Bytes{1000});
  CHECK(f.in_flight_median == Bytes{100});
  CHECK(f.in_flight_most == Bytes{500});
  CHECK(f.delay_median == us(3));
  CHECK(f.delay_most == us(8));
  CHECK(f.answers == std::array<uint64_t, 4>{1, 2, 0, 1});
  CHECK(f.all_answers() == 4);
  CHECK(f.all_cuts().times == 2);
  CHECK(f.all_cuts().taken == 900);
  CHECK(main_cuts(f, 2) == "trimmed_last_hop 67%, delay 33%");
  CHECK(main_cuts(f, 1) == "trimmed_last_hop 67%");
  CHECK(flows[1].host == 2);
  CHECK_FALSE(flows[1].delay_median);  // none was measured
  CHECK(main_cuts(flows[1], 2).empty());
}

TEST_CASE("only what was said in the time that is asked for counts") {
  const std::vector<WindowNews> news = two_flows();
  const std::vector<WindowFlow> flows = window_flows(eight_hosts(), news, us(5), us(15));
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].news == std::vector<uint32_t>{2, 3});
  CHECK(flows[0].most == Bytes{400});
}

TEST_CASE("events.jsonl gives the windows that were written, in order of time") {
  const std::vector<WindowNews> news = two_flows();
  const LinesOnDisk lines({line_of(news[4]), line_of(news[1]), line_of(news[2])});
  EventHistory events(eight_hosts());
  events.add_file(lines.file.path());
  events.finish();
  CHECK(events.malformed() == 0);
  REQUIRE(events.windows().size() == 3);
  CHECK(events.windows()[0].said == news[1].said);
  CHECK(events.windows()[1].said == news[2].said);
  CHECK(events.windows()[2].said == news[4].said);
  CHECK(events.windows_until() == FabricTime::never());
  const RunEvents for_viewers = read_run_events(lines.file.path());
  REQUIRE(for_viewers.list.size() == 3);
  CHECK(for_viewers.list[2].detail ==
        "to h0: window 400 B, in flight 200 B, delay 3us, late, cut: trimmed_last_hop");
}

TEST_CASE("a window that is none is counted, and what found no room is said") {
  const LinesOnDisk lines(
      {R"({"t_ps":1,"node":"h1","kind":"window","peer":"h0","window":1})",
       R"({"t_ps":1,"node":"p0.t0-0","kind":"window","peer":"h0","window":1,"in_flight":0})",
       R"({"t_ps":1,"node":"h1","kind":"window","peer":"h0","window":1,"in_flight":0,"x":1})",
       R"({"t_ps":"1","node":"h1","kind":"window","peer":"h0","window":1,"in_flight":0})",
       windows_left_out_line(us(7), 12)});
  EventHistory events(eight_hosts());
  events.add_file(lines.file.path());
  events.finish();
  CHECK(events.malformed() == 4);
  CHECK(events.windows().empty());
  CHECK(events.windows_until() == us(7));
}

TEST_CASE("the page gets a bounded number of flows and points, and loses no cut by that") {
  EventHistory events(eight_hosts());
  events.listen();
  constexpr int kRecords = 1'001;
  for (int i = 0; i < kRecords; ++i) {
    for (uint32_t host = 1; host < 8; ++host) {
      WindowNews news = news_at(i, host, 1'024'000, WindowQuadrant::kClear);
      if (host == 3 && i == 500) cut(news, WindowCut::kLosses, 2048);
      events.add(eight_hosts().host(host), news.said);
    }
  }
  events.finish();
  const auto picture = windows_picture(eight_hosts(), events);
  REQUIRE(picture.at("flows").size() == 7);
  CHECK(picture.at("left_out") == 0);
  const auto& first = picture.at("flows")[0];
  CHECK(first.at("from") == "h3");
  CHECK(first.at("points").size() <= 400);
  CHECK(first.at("points").size() >= 300);
  const auto lost = static_cast<int>(WindowCut::kLosses);
  CHECK(std::count_if(first.at("points").begin(), first.at("points").end(),
                      [&](const auto& point) { return point[5] == lost; }) == 1);
  CHECK(first.at("points").back()[0] == kRecords - 1);
  CHECK(first.at("points")[0][3].is_null());  // no delay was measured
}

TEST_CASE("where nobody listened the page is told so") {
  EventHistory events(eight_hosts());
  events.finish();
  const auto picture = windows_picture(eight_hosts(), events);
  CHECK(picture.at("heard") == false);
  CHECK(picture.at("flows").empty());
}

}  // namespace
}  // namespace mrclab::analysis
