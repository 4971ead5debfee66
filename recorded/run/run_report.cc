#include "recorded/run/run_report.h"

#include <fmt/format.h>

#include "analysis/judge/analyze.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "fabric/text/json_text.h"
#include "fabric/text/line_file.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/run_diff.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/folder/run_origin.h"
#include "recorded/traffic/report_sections.h"
#include "scenario/judging/job_outcome.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/judging/world_outcome.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

constexpr size_t kVerdictBytesMax = size_t{64} << 20;
constexpr size_t kPacePointsMax = 1u << 20;
constexpr size_t kContextRecords = 4;  // before the first difference of two histories

/// The parts of the verdict that the page needs; numbers may be missing, which the page notes.
Ordered read_whole_verdict(const fs::path& file) {
  const auto json = parse_json<Ordered>(netio::read_file(file, kVerdictBytesMax));
  const auto is = [&](const char* key, auto kind) { return json.contains(key) && kind(json[key]); };
  const auto objects = [](const Ordered& list) {
    return list.is_array() &&
           std::all_of(list.begin(), list.end(), [](const Ordered& e) { return e.is_object(); });
  };
  const auto text = [](const Ordered& value) { return value.is_string(); };
  const auto object = [](const Ordered& value) { return value.is_object(); };
  if (json.is_discarded() || !json.is_object() || !is("scenario", text) || !is("result", text) ||
      !is("metrics", object) || !is("checks", objects) || !is("faults", objects) ||
      !json["timing"].contains("dilation")) {
    throw InputError(file.string() + ": expected a verdict as a run leaves it");
  }
  return json;
}

/// pace.jsonl of a live run; lines that cannot be read are left out.
std::vector<analysis::PacePoint> read_pace_points(const fs::path& file) {
  std::vector<analysis::PacePoint> points;
  if (!fs::exists(file)) return points;
  LineFile lines(file);
  for (std::string line; points.size() < kPacePointsMax && lines.next(line);) {
    const auto json = parse_json<nlohmann::json>(line);
    try {
      analysis::PacePoint point;
      point.t = FabricTime::from_ns(json.at("fabric_ns").get<int64_t>());
      point.dilation = json.at("dilation").get<double>();
      if (const auto& slack = json.at("slack_ns"); !slack.is_null()) {
        point.slack_ns = slack.get<int64_t>();
      }
      point.slack_of = json.at("slack_of").get<std::string>();
      points.push_back(std::move(point));
    } catch (const nlohmann::json::exception&) {
      continue;
    }
  }
  return points;
}

std::string drawn(const RecordedRun& run) {
  RunManifest(run.folder)
      .require({"captures", "history", "events.jsonl", "pace.jsonl", kCommandFile});
  const Scenario scenario = recorded_scenario(run.folder);
  WorldOutcome outcome;
  outcome.jobs = read_job_times(scenario, run.folder);
  outcome.timing.pace = read_pace_points(run.folder / "pace.jsonl");
  analysis::RunInputs inputs = run_inputs(scenario, run.world, std::move(outcome));
  inputs.captures = analysis::captures_in(run.folder / "captures");
  inputs.records = analysis::records_in(run.folder / "history");
  inputs.events = run.folder / "events.jsonl";
  return analysis::analyze(inputs).picture;
}

/// Whether two runs have the same packets, in words; also when that is not known.
std::pair<std::string, Ordered> histories(const fs::path& a, const fs::path& b) {
  try {
    const RunDiff diff = diff_runs(a, b, kContextRecords);
    return {to_text(diff), to_json(diff)};
  } catch (const InputError& error) {
    return {std::string("The histories cannot be compared: ") + error.what() + "\n", nullptr};
  }
}

void write_page(const fs::path& run, const fs::path& file, const std::string& html) {
  try {
    netio::write_file(file, html);
    renew_in_manifest(run, file);
  } catch (const netio::SystemError& error) {
    throw InputError(std::string(error.what()) + "; another place: --out FILE");
  }
}

std::string kib_of(const std::string& html) { return fmt::format("{} KiB", html.size() / 1024); }

RunPage read_ticking(const fs::path& run) {
  return while_ticking("reading", evidence_text(run), [&] { return read_page(run); });
}

int compare_runs(const ReportOptions& options) {
  const RunPage a = read_ticking(options.run), b = read_ticking(options.compare);
  const auto [text, diff] = while_ticking("comparing", evidence_text(a.run.folder),
                                          [&] { return histories(a.run.folder, b.run.folder); });
  const fs::path out =
      !options.out.empty()
          ? options.out
          : a.run.folder / ("compare-" + fs::canonical(b.run.folder).filename().string() + ".html");
  const std::string html = analysis::to_html(a.reported(), b.reported(), text);
  write_page(a.run.folder, out, html);
  if (options.json) {
    Ordered json{
        {"a", a.run.folder.string()}, {"b", b.run.folder.string()}, {"report", out.string()}};
    json["rows"] = compare_json(a.verdict, b.verdict);
    json["history"] = diff;
    fmt::print("{}\n", printed(json, "report-comparison"));
    return 0;
  }
  fmt::print("A  {}\nB  {}\n\n{}\n{}\nreport  {} ({})\n", a.run.folder.string(),
             b.run.folder.string(), compare_text(a.verdict, b.verdict), text, out.string(),
             kib_of(html));
  return 0;
}

}  // namespace

analysis::ReportedRun RunPage::reported() const {
  return {fs::weakly_canonical(run.folder).string(),
          verdict.dump(-1, ' ', false, Ordered::error_handler_t::replace), picture,
          read_origin(recorded_scenario(run.folder), run.folder), sections};
}

RunPage read_page(const fs::path& folder) {
  RunPage page;
  page.run = read_run(folder);
  page.verdict = read_whole_verdict(page.run.folder / "verdict.json");
  page.picture = drawn(page.run);
  page.sections = roce_sections(recorded_scenario(page.run.folder), page.run.folder);
  return page;
}

int report_command(const ReportOptions& options) {
  if (!options.compare.empty()) return compare_runs(options);
  const RunPage page = read_ticking(options.run);
  const fs::path out = options.out.empty() ? page.run.folder / "report.html" : options.out;
  const std::string html = analysis::to_html(page.reported());
  write_page(page.run.folder, out, html);
  const std::string scenario = page.verdict["scenario"], result = page.verdict["result"];
  if (options.json) {
    const Ordered json{{"run", page.run.folder.string()},
                       {"report", out.string()},
                       {"bytes", html.size()},
                       {"verdict", page.verdict}};
    fmt::print("{}\n", printed(json, "report"));
    return 0;
  }
  fmt::print("run     {} ({}, {}): {}\nreport  {} ({})\n", page.run.folder.string(), scenario,
             page.run.world, result, out.string(), kib_of(html));
  return 0;
}

}  // namespace mrclab::lab
