// `mrclab report`: pages of runs, looked at by a browser where there is one.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "fabric/text/yaml.h"
#include "lab/compare/comparison_page.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/folder/run_origin.h"
#include "recorded/run/run_report.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Four senders and one receiver: a queue builds up. A link goes down and comes back.
const std::string kPageScenario = R"(
name: page-test
about: Hosts write to one, and <others> watch.
fabric: octet
seed: 9
captures: hosts
workload:
  - write: {from: h1, to: h0, size: 64KiB, until: end}
  - write: {from: h4, to: h0, size: 64KiB, until: end}
  - write: {from: h5, to: h0, size: 64KiB, until: end}
faults:
  - {at: 40us, link_down: {link: "h0:p0", for: 30us}}
end: 120us
expect:
  - no_qp_error
  - memory_intact
  - losses: {at_most: 100000, from: 40us}
  - {goodput: {from: 10us, at_least: 10%, of: line_rate}, published: 87.1%, figure: "a <paper>, page 3"}
)";

/// None under sanitizers: it would look at the same page once more.
const char* browser() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return nullptr;
#endif
#endif
  for (const char* name : {"chromium", "chromium-headless-shell", "google-chrome-stable"}) {
    const std::string look = std::string("command -v ") + name + " > /dev/null 2>&1";
    if (std::system(look.c_str()) == 0) return name;
  }
  return nullptr;
}

/// The document after its script has run, in a window of this width.
std::string drawn_page(const fs::path& page, const fs::path& scratch, int width, bool dark) {
  const fs::path dom = scratch / ("dom-" + std::to_string(width));
  // The scheme that a page gets: Blink's enumeration has dark first.
  const std::string scheme = std::to_string(dark ? 0 : 1);
  const std::string command =
      std::string(browser()) +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run"
      " --disable-background-networking --disable-component-update --hide-scrollbars"
      " --virtual-time-budget=3000 --blink-settings=preferredColorScheme=" +
      scheme + " --user-data-dir=" + (scratch / "profile").string() +
      " --window-size=" + std::to_string(width) + ",900 --dump-dom file://" + page.string() +
      " > " + dom.string() + " 2> " + dom.string() + ".log";
  REQUIRE(std::system(command.c_str()) == 0);
  return netio::read_file(dom, size_t{64} << 20);
}

std::string attribute(const std::string& dom, const std::string& name) {
  std::smatch found;
  const std::string head = dom.substr(0, 4096);
  const std::regex wanted("data-" + name + "=\"([^\"]*)\"");
  return std::regex_search(head, found, wanted) ? found[1].str() : "absent";
}

std::string unescaped(std::string text) {
  for (const auto& [from, to] :
       {std::pair{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += std::strlen(to)) {
      text.replace(at, std::strlen(from), to);
    }
  }
  return text;
}

/// Holds every number of the page against verdict.json; returns how many there are.
size_t check_numbers(const std::string& dom, const json& verdict) {
  static const std::regex kField("data-json=\"([^\"]*)\" data-value=\"([^\"]*)\">([^<]*)<");
  size_t numbers = 0;
  for (std::sregex_iterator at(dom.begin(), dom.end(), kField), end; at != end; ++at) {
    const std::string pointer = (*at)[1], shown = (*at)[3];
    CAPTURE(pointer);
    const json expected = verdict.value(json::json_pointer(pointer), json(nullptr));
    CHECK(json::parse(unescaped((*at)[2])) == expected);
    const bool as_is = pointer.find("/metrics/") == 0 && pointer.find("_bps") == std::string::npos;
    if (expected.is_number_integer() && as_is) CHECK(shown == expected.dump());
    ++numbers;
  }
  return numbers;
}

/// Commands that begin like this, as the page offers them to be copied.
std::vector<std::string> commands_of(const std::string& dom, const std::string& beginning) {
  std::vector<std::string> commands;
  const std::regex wanted("title=\"(" + beginning + "[^\"]*)\"");
  for (std::sregex_iterator at(dom.begin(), dom.end(), wanted), end; at != end; ++at) {
    commands.push_back(unescaped((*at)[1]));
  }
  return commands;
}

/// What a command prints when it is pasted somewhere else than where the run was made.
std::string pasted(const std::string& command, const fs::path& scratch) {
  REQUIRE(command.starts_with("mrclab "));
  const fs::path out = scratch / "pasted";
  const std::string line = "cd / && '" MRCLAB_BINARY_DIR "/mrclab-cli'" + command.substr(6) +
                           " > '" + out.string() + "' 2>&1";
  CAPTURE(command);
  CHECK(std::system(line.c_str()) == 0);
  return netio::read_file(out, 1 << 20);
}

void check_page(const std::string& dom, const char* charts) {
  CHECK(attribute(dom, "ready") == "yes");
  CHECK(attribute(dom, "error") == "");
  CHECK(attribute(dom, "errors") == "0");
  CHECK(attribute(dom, "requests") == "0");
  CHECK(attribute(dom, "charts") == charts);
  CHECK(attribute(dom, "drawn") == charts);
  CHECK(attribute(dom, "too-wide") == "no");
  CHECK(attribute(dom, "cut-rows") == "0");
}

/// Looks at a page and holds it against verdict.json: in this width and colour scheme, and at night in the other ones,
/// since a browser takes two seconds of a processor for each.
std::string look_at(const fs::path& page, const fs::path& scratch, const char* charts,
                    const json& verdict, int first_width, bool dark) {
  std::string dom;
  for (const int width : {first_width, first_width == 500 ? 1280 : 500}) {
    if (width != first_width && !test::nightly()) break;
    CAPTURE(page.string());
    CAPTURE(width);
    dom = drawn_page(page, scratch, width, dark);
    check_page(dom, charts);
    CHECK(attribute(dom, "width") == std::to_string(width));
    CHECK(attribute(dom, "scheme") == (dark ? "dark" : "light"));
    CHECK(check_numbers(dom, verdict) >= 10 + 2 * verdict["checks"].size());
    dark = !dark;
  }
  return dom;
}

}  // namespace

TEST_CASE("a browser draws the pages of runs with the numbers of verdict.json, and no error" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(parse_scenario(read_yaml_text(kPageScenario, "page.yaml")));
  const json verdict = json::parse(netio::read_file(result.folder.path / "verdict.json", 1 << 20));
  const fs::path page = result.folder.path / "report.html";
  const std::string first = netio::read_file(page, size_t{16} << 20);

  ReportOptions options;
  options.run = result.folder.path;
  fs::remove(page);
  CHECK(report_command(options) == 0);
  CHECK(netio::read_file(page, size_t{16} << 20) == first);  // the same page again
  const json picture = json::parse(read_page(result.folder.path).picture);
  double deepest = 0;
  for (const json& bins : picture["series"]["queues"]["kib"]) {
    for (const json& kib : bins) deepest = std::max(deepest, kib.get<double>());
  }
  CHECK(deepest > 8);  // two frames of 4 KiB and more waited for h0
  CHECK(deepest < 16'384);

  std::string strict = kPageScenario;
  strict.replace(strict.find("at_most: 100000"), 15, "at_most: 0");
  const RunResult bad = runs.run(parse_scenario(read_yaml_text(strict, "page.yaml")));
  const json failed = json::parse(netio::read_file(bad.folder.path / "verdict.json", 1 << 20));
  REQUIRE(failed["result"] == "fail");
  const json& shown_by = failed["checks"][2]["where"]["packet"];
  CHECK(shown_by["frame"].get<int>() > 0);
  CHECK(fs::exists(bad.folder.captures() / shown_by["file"].get<std::string>()));

  const fs::path both = runs.path() / "both.html";
  options.compare = result.folder.path;
  options.out = both;
  CHECK(report_command(options) == 0);
  if (browser() == nullptr) {
    MESSAGE("skipped: no Chromium here, so nobody looks at the page");
    return;
  }
  const std::string good = look_at(page, runs.path(), "9", verdict, 500, false);
  CHECK(good.find("published: a &lt;paper&gt;") != std::string::npos);
  CHECK(std::stoi(attribute(good, "contents")) >= 8);  // a link for each section
  CHECK(good.find("href=\"#what-happened\"") != std::string::npos);
  CHECK(good.find("What it cost: </b>") != std::string::npos);
  // Where the run comes from: the command of this process, and when it was started.
  const std::string command = netio::read_file(result.folder.path / kCommandFile);
  const std::string started = command.substr(2, command.find('\n') - 2);
  CHECK(started.ends_with(" UTC"));
  CHECK(good.find("<p>Hosts write to one, and &lt;others&gt; watch.</p>") != std::string::npos);
  CHECK(good.find("<title>p0.t0-0:u0--p0.t1-0:d0, 100Gb/s</title>") != std::string::npos);
  CHECK(good.find("</code>, " + started + "</p>") != std::string::npos);
  CHECK(good.find("aria-label=\"Why it failed") == std::string::npos);
  const std::string compared = look_at(both, runs.path(), "3", verdict, 1280, false);
  CHECK(compared.find("the same history") != std::string::npos);
  const std::string dom =
      look_at(bad.folder.path / "report.html", runs.path(), "9", failed, 1280, true);
  CHECK(dom.find("aria-label=\"Why it failed") != std::string::npos);

  const std::vector<std::string> traces = commands_of(dom, "mrclab trace ");
  REQUIRE(traces.size() > 2);  // the check's, and of each packet that was lost
  CHECK(pasted(traces.front(), runs.path()).find("  lost: ") != std::string::npos);
  CHECK(pasted(traces.back(), runs.path()).find("attempt 1") != std::string::npos);
}

TEST_CASE("the page of a RoCE run has analyze's sections: queue pairs, go-back-N, rates, losses" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  std::string text = kPageScenario;
  text.replace(text.find("fabric: octet\n"), 14, "fabric: octet\ntransport: {profile: roce}\n");
  text.replace(text.find("captures: hosts\n"), 16, "captures: all\n");
  const RunResult result = runs.run(parse_scenario(read_yaml_text(text, "page.yaml")));
  const fs::path page = result.folder.path / "report.html";
  const std::string first = netio::read_file(page, size_t{64} << 20);
  ReportOptions options;
  options.run = result.folder.path;
  CHECK(report_command(options) == 0);
  CHECK(netio::read_file(page, size_t{64} << 20) == first);

  const json sections = json::parse(read_page(result.folder.path).sections);
  std::string names;
  for (const json& section : sections) {
    names += section["name"].get<std::string>() + " ";
    for (const json& row : section["rows"]) CHECK(row.size() == section["columns"].size());
    CHECK(section["rows"].size() <= 200);
  }
  CHECK(names == "rc queue_pairs go_backs rates lost_psns ");
  CHECK(sections[3]["bins"].size() > 3);
  if (browser() == nullptr) return;
  const json verdict = json::parse(netio::read_file(result.folder.path / "verdict.json", 1 << 20));
  const std::string dom = look_at(page, runs.path(), "5", verdict, 500, false);
  CHECK(dom.find("aria-label=\"RoCEv2, by the packets\"") != std::string::npos);
}

TEST_CASE("a browser draws the page of a comparison, with the numbers of each run and its curves" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const Scenario scenario = parse_scenario(read_yaml_text(kPageScenario, "page.yaml"));
  Comparison comparison =
      compare_transports(scenario, {{"mrc", "oblivious", "one-path"}, runs.path(), {}});
  const fs::path page = write_comparison_page(comparison);
  CHECK(page == comparison.runs[0].folder / "compare.html");
  RunManifest(comparison.runs[0].folder).require({"compare.html"});  // the folder is whole
  if (browser() == nullptr) {
    MESSAGE("skipped: no Chromium here to look at the page");
    return;
  }
  for (const int width : {500, 1280}) {
    if (width != 500 && !test::nightly()) break;
    CAPTURE(width);
    const std::string dom = drawn_page(page, runs.path(), width, width == 500);
    check_page(dom, "3");
    for (const ComparedRun& run : comparison.runs) {
      CAPTURE(run.transport);
      const std::regex lost("data-run=\"" + run.transport +
                            "\"><span[^>]*data-json=\"/metrics/lost\"[^>]*>" +
                            std::to_string(run.verdict.metrics.lost) + "<");
      CHECK(std::regex_search(dom, lost));
    }
    CHECK(dom.find("<dt>oblivious</dt>") != std::string::npos);
    CHECK(dom.find("of mrc") != std::string::npos);
  }
}

TEST_CASE("two verdicts are put side by side, with what differs, within 80 columns") {
  const json check{{"name", "goodput"}, {"about", "goodput >= 95% of baseline from 600us"},
                   {"result", "pass"},  {"measured", 99.5},
                   {"bound", 95},       {"unit", "% of baseline"}};
  nlohmann::ordered_json a{{"result", "pass"}, {"world", "live"}, {"seed", 1}};
  a["metrics"] = {{"goodput_bps", 5'880'000'000'000}, {"lost", 35}};
  a["checks"] = json::array({check});
  nlohmann::ordered_json b = a;
  b["result"] = "fail";
  b["metrics"]["lost"] = 177;
  b["checks"][0]["result"] = "fail";
  b["checks"][0]["measured"] = 90.25;
  b["checks"].push_back({{"name", "x"}, {"about", std::string(200, 'x')}, {"result", "pass"}});
  const std::string text = compare_text(a, b);
  CHECK(text.find("lost                                    35             177           +142") !=
        std::string::npos);
  CHECK(text.find("[PASS -> FAIL]") != std::string::npos);
  CHECK(text.find("-9.25") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  const auto rows = compare_json(a, b);
  const auto lost =
      std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r["what"] == "lost"; });
  REQUIRE(lost != rows.end());
  CHECK((*lost)["difference"] == 142);
}

TEST_CASE("a folder without a run, or with a broken verdict, is an error in words") {
  const test::TemporaryRuns runs;
  CHECK_THROWS_AS(read_page(runs.path() / "none"), InputError);
  const RunResult result = runs.run(parse_scenario(read_yaml_text(kPageScenario, "page.yaml")));
  const fs::path file = result.folder.path / "verdict.json";
  json verdict = json::parse(netio::read_file(file, 1 << 20));
  for (const char* key : {"checks", "metrics", "result"}) {
    json broken = verdict;
    broken[key] = 7;
    netio::write_file(file, broken.dump());
    write_manifest(result.folder.path);
    CAPTURE(key);
    CHECK_THROWS_AS(read_page(result.folder.path), InputError);
  }
}
