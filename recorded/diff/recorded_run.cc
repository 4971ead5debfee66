#include "recorded/diff/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/history/history_file.h"
#include "fabric/text/json_text.h"
#include "fabric/text/schema_id.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "netio/runtime/schedule_file.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHistoryMax = size_t{512} << 20;  // names of the streams of the largest fabric

std::string text_of(const fs::path& file, size_t limit) {
  try {
    return netio::read_file(file, limit);
  } catch (const netio::SystemError& error) {
    throw InputError(std::string(error.what()) + "; is " + in_quotes(file.parent_path().string()) +
                     " the folder of a run that ended?");
  }
}

void read_verdict(RecordedRun& run) {
  const fs::path file = run.folder / "verdict.json";
  try {
    const auto verdict = require_json<nlohmann::json>(text_of(file, kVerdictMax));
    require_schema(verdict, "verdict", file.string());
    verdict.at("world").get_to(run.world);
    verdict.at("version").get_to(run.version);
    verdict.at("result").get_to(run.result);
    const auto& timing = verdict.at("timing");
    run.wall = timing.at("mode").get<std::string>() == "wall";
    timing.at("faithful").get_to(run.faithful);
    timing.at("reasons").get_to(run.reasons);
    verdict.at("metrics").at("history_sha256").get_to(run.history_sha256);
    for (std::string* text : {&run.world, &run.version, &run.result, &run.history_sha256}) {
      *text = visible(*text);
    }
    for (std::string& reason : run.reasons) reason = visible(reason);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + json_problem(error) +
                     ": expected the verdict of a run");
  }
}

void read_streams(RecordedRun& run) {
  const fs::path file = run.folder / "history.txt";
  auto streams = history_from_text(text_of(file, kHistoryMax));
  if (!streams) throw InputError(file.string() + ": expected lines of name, count and hash");
  run.streams = std::move(*streams);
  for (HistoryStream& stream : run.streams) stream.name = visible(stream.name);
  if (history_sha256(run.streams) != run.history_sha256) {
    throw InputError(file.string() + ": it is not the history that verdict.json names");
  }
}

}  // namespace

uint64_t RecordedRun::records() const {
  uint64_t sum = 0;
  for (const HistoryStream& stream : streams) sum += stream.count;
  return sum;
}

void require_digest_version(const RecordedRun& run, uint32_t version) {
  const uint32_t own = history_version(run.streams);
  if (own == version) return;
  throw InputError(
      fmt::format("{}: its packets have digests of version {}, by mrclab {}, which cannot be "
                  "compared with those of version {}: run its scenario.yaml again with this mrclab",
                  run.folder.string(), own, run.version, version));
}

RecordedRun read_run(const fs::path& folder) {
  RecordedRun run;
  run.folder = named_run(folder);
  if (!fs::is_directory(run.folder)) {
    throw InputError("found no run folder " + in_quotes(run.folder.string()) +
                     ": expected one such as runs/20260101-120000-optic-glitch, or latest");
  }
  RunManifest(run.folder).require({"verdict.json", "scenario.yaml", "schedule.txt", "history.txt"});
  read_verdict(run);
  run.scenario = read_run_scenario(run.folder);
  read_streams(run);
  return run;
}

FabricTime visit_records(const RecordedRun& run,
                         const std::function<void(const CompactRecord&)>& visit) {
  const uint32_t streams = stream_count(run.scenario.topology);
  std::vector<fs::path> files;
  std::error_code none;  // a run of its digest alone has no folder for records
  for (const auto& entry : fs::directory_iterator(run.folder / "history", none)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  FabricTime complete = files.empty() ? FabricTime::zero() : FabricTime::never();
  for (const fs::path& file : files) {
    auto reader = analysis::HistoryReader::open(file);
    if (reader.header().streams != streams) {
      throw InputError(file.string() + ": it has " + std::to_string(reader.header().streams) +
                       " streams, the fabric of its scenario " + std::to_string(streams));
    }
    complete = std::min(complete, reader.header().complete);
    while (const auto record = reader.next()) visit(*record);
  }
  return complete;
}

KeptRecords read_records(const RecordedRun& run, const std::set<std::string>& streams) {
  const std::vector<std::string> names = stream_names(run.scenario.topology);
  std::vector<std::vector<CompactRecord>*> wanted(names.size(), nullptr);
  KeptRecords kept;
  for (size_t i = 0; i < names.size(); ++i) {
    if (streams.contains(names[i])) wanted[i] = &kept.streams[names[i]];
  }
  kept.complete = visit_records(run, [&](const CompactRecord& record) {
    ++kept.kept;
    if (wanted[record.stream] != nullptr) wanted[record.stream]->push_back(record);
  });
  return kept;
}

Scenario recorded_scenario(const std::filesystem::path& folder) {
  Scenario scenario = read_run_scenario(folder);
  const std::filesystem::path schedule = folder / "schedule.txt";
  if (!std::filesystem::exists(schedule)) return scenario;
  try {
    scenario.schedule = netio::read_schedule_file(scenario.topology, schedule).effects;
  } catch (const netio::SystemError& error) {
    throw InputError(error.what());
  } catch (const std::runtime_error& error) {
    throw InputError(schedule.string() + ": " + error.what());
  }
  return scenario;
}

}  // namespace mrclab::lab
