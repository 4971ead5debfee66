#include "recorded/traffic/traffic_input.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/capture/stream_file.h"
#include "analysis/judge/analyze.h"
#include "analysis/verdict/pause_report.h"
#include "console/all_cores.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/json_text.h"
#include "fabric/text/schema_id.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/traffic/traffic_format.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxVerdict = size_t{64} << 20;
constexpr size_t kMaxFiles = 4096;

Qpn qp_in(const std::string& text) {
  const auto value = whole_number(text);
  if (!value || *value > Psn::kMask)
    refuse_option("--qp", text, "a queue pair number such as 0xe44001");
  return Qpn{*value};
}

EntropyValue ev_in(const std::string& text) {
  if (const auto path = parse_path(text)) return ev_of(*path);
  const auto value = whole_number(text);
  if (!value)
    refuse_option("--ev", text, "a path such as p3/u1, or an entropy value such as 0x3c001");
  return {*value};
}

/// A plane by its number ("p2", "2") or, if planes have none, by its letters ("A").
uint32_t plane_in(const std::string& text) {
  uint32_t number = 0;
  for (const char c : text) {
    if (c < 'A' || c > 'Z' || number > analysis::kMaxClasses) {
      number = 0;
      break;
    }
    number = number * 26 + static_cast<uint32_t>(c - 'A' + 1);
  }
  if (number > 0 && number <= analysis::kMaxClasses) return analysis::kFirstClass + number - 1;
  const auto value = whole_number(text.starts_with('p') ? std::string_view(text).substr(1) : text);
  if (!value || *value >= analysis::kNoPlane) {
    refuse_option("--plane", text, "a plane such as p2, or A");
  }
  return *value;
}

FabricTime time_in(const std::string& text, const Topology* topology) {
  YamlValue value = read_yaml_text(text, "time");
  if (topology != nullptr) value = value.with_rtt(topology->base_rtt);
  return value.as_time();
}

DscpMap dscps_in(const std::string& text) {
  try {
    return parse_dscps(text);
  } catch (const std::invalid_argument& error) {
    throw InputError("--dscp: " + std::string(error.what()));
  }
}

std::vector<KnownFault> faults_of(const fs::path& run) {
  std::vector<KnownFault> faults;
  const fs::path file = run / "verdict.json";
  if (!fs::exists(file)) return faults;
  try {
    const auto verdict = require_json<nlohmann::json>(netio::read_file(file, kMaxVerdict));
    require_schema(verdict, "verdict", file.string());
    for (const auto& fault : verdict.at("faults")) {
      KnownFault known{visible(fault.at("fault").get<std::string>()),
                       FabricTime::from_ns(fault.at("at_ns").get<int64_t>()),
                       {}};
      const auto& healed = fault.at("healed_at_ns");
      if (healed.is_number()) known.healed_at = FabricTime::from_ns(healed.get<int64_t>());
      faults.push_back(std::move(known));
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + json_problem(error) +
                     ": expected the verdict of a run");
  }
  return faults;
}

/// Checks the run's files. A run that did not end has no hashes, so its
/// captures are taken as they are.
void check_run(const fs::path& run, TrafficRequest& request) {
  if (!fs::exists(run / kManifestFile) && !fs::exists(run / "verdict.json")) {
    request.context.notes.push_back(run.string() + " is of no run that ended: unchecked");
    return;
  }
  RunManifest(run).require({"captures", "scenario.yaml", "verdict.json", "events.jsonl"});
}

/// The windows that its hosts reported, or why there are none.
void add_windows(const fs::path& run, const Topology& topology, WindowSource& windows) {
  const fs::path file = run / "events.jsonl";
  if (!fs::exists(file)) {
    windows.notes.push_back(run.string() +
                            " has no events.jsonl, in which its hosts would report it");
    return;
  }
  analysis::EventHistory events(topology);
  const bool sealed = events.add_file(file).has_value();
  events.finish();
  if (events.windows().empty()) {
    windows.notes.push_back("the hosts of " + run.string() + " did not report their windows");
  } else if (!sealed || events.malformed() > 0) {
    windows.notes.push_back("the events of " + run.string() +
                            " are not whole: some may be missing");
  }
  windows.complete_until = std::min(windows.complete_until, events.windows_until());
  windows.news.insert(windows.news.end(), events.windows().begin(), events.windows().end());
}

/// Who paused whom: packet records show it, where the run's switches and NICs pause. Pauses that a dead link
/// ended count to their own end, because the faults are not looked at.
void add_pauses(const fs::path& run, const Scenario& scenario, PauseSource& pauses) {
  const Topology& topology = scenario.topology;
  if (!topology.lossless.pfc) return;
  const std::vector<fs::path> records = analysis::records_in(run / "history");
  if (records.empty()) {
    pauses.notes.push_back(run.string() + " has no packet records, which show pauses");
    return;
  }
  analysis::Evidence evidence(topology, {}, scenario.end);
  evidence.add_records(records);
  evidence.finish();
  const analysis::Coverage& coverage = evidence.coverage();
  if (!coverage.whole(analysis::Witness::kRecords)) {
    pauses.notes.push_back(coverage.why(analysis::Witness::kRecords));
  }
  pauses.looked = coverage.whole(analysis::Witness::kRecords);
  pauses.tree = analysis::pause_tree(topology, evidence, {}, scenario.end);
}

/// Its captures, fabric and faults. The fabric is that of the first run that is named.
void add_run(const fs::path& run, TrafficRequest& request) {
  check_run(run, request);
  const std::vector<fs::path> captures = analysis::captures_in(run / "captures");
  if (captures.empty()) {
    throw InputError(run.string() +
                     ": this run has no captures (its scenario says captures: none)");
  }
  request.input.files.insert(request.input.files.end(), captures.begin(), captures.end());
  if (request.topology == nullptr && fs::exists(run / "scenario.yaml")) {
    const Scenario scenario = read_run_scenario(run);
    request.topology = std::make_unique<Topology>(scenario.topology);
    add_pauses(run, scenario, request.context.pauses);
  }
  if (request.topology != nullptr) add_windows(run, *request.topology, request.context.windows);
  request.context.faults_known = request.context.faults_known || fs::exists(run / "verdict.json");
  for (KnownFault& fault : faults_of(run)) request.context.faults.push_back(std::move(fault));
}

void add_source(const std::string& word, TrafficRequest& request) {
  if (word == "-") {
    const bool stream = analysis::is_stream(word);
    request.input.files.emplace_back(stream ? "-" : "/dev/stdin");
    return;
  }
  const fs::path path = fs::exists(word) ? fs::path(word) : named_run(word);
  if (fs::is_directory(path / "captures")) return add_run(path, request);
  if (fs::is_directory(path)) {
    const std::vector<fs::path> captures = analysis::captures_in(path);
    if (captures.empty()) {
      throw InputError(word + ": found a folder without captures: expected a run folder, or files");
    }
    request.input.files.insert(request.input.files.end(), captures.begin(), captures.end());
    return;
  }
  if (!fs::exists(path)) {
    throw InputError("found no " + in_quotes(path.string()) +
                     ": expected a capture file, a run folder, or latest");
  }
  request.input.files.push_back(path);
}

}  // namespace

void add_rc(const analysis::Traffic& traffic, TrafficRequest& request) {
  if (traffic.counters.roce == 0) return;
  RcSource& rc = request.context.rc;
  if (request.topology == nullptr) return;
  for (const fs::path& file : request.input.files) {
    if (analysis::is_stream(file)) return;  // it is read once
  }
  const Topology& topology = *request.topology;
  analysis::Evidence evidence(topology, {}, FabricTime::never());
  for (const fs::path& file : request.input.files) evidence.add_capture(file);
  evidence.finish();
  const analysis::PacketHistory& history = evidence.packets();
  rc.spread = analysis::flow_spread(topology, history);
}

TrafficRequest traffic_request(const TrafficWords& words) {
  TrafficRequest request;
  if (!words.fabric.empty()) {
    request.topology = std::make_unique<Topology>(read_fabric_file(find_fabric(words.fabric)));
  }
  for (const std::string& word : words.sources) add_source(word, request);
  if (request.input.files.size() > kMaxFiles) {
    throw InputError(fmt::format("{}: expected at most {}",
                                 counted_noun(request.input.files.size(), "file"), kMaxFiles));
  }
  const Topology* topology = request.topology.get();
  request.context.topology = topology;
  request.context.sources = words.sources;
  request.input.side_by_side = on_all_cores();
  request.input.format = given_format(words, topology);
  if (topology != nullptr) request.input.dscps = topology->dscps;
  if (!words.dscps.empty()) request.input.dscps = dscps_in(words.dscps);
  analysis::TrafficFilter& filter = request.input.filter;
  if (!words.qp.empty()) filter.qp = qp_in(words.qp);
  if (!words.ev.empty()) filter.ev = ev_in(words.ev);
  if (!words.plane.empty()) filter.plane = plane_in(words.plane);
  if (!words.from.empty()) filter.from = time_in(words.from, topology);
  if (!words.until.empty()) filter.until = time_in(words.until, topology);
  if (words.between.size() == 2) {
    filter.between = {host_in("--between", words.between[0], topology),
                      host_in("--between", words.between[1], topology)};
  }
  WindowSource& windows = request.context.windows;
  windows.from = filter.from;
  windows.until = filter.until;
  if (topology != nullptr && filter.between) {
    windows.between = {host_of_address(*topology, filter.between->first),
                       host_of_address(*topology, filter.between->second)};
  }
  return request;
}

}  // namespace mrclab::lab
