#include "lab/run/rank_run.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "console/version.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/history/report_json.h"
#include "lab/ranks/join_ranks.h"
#include "live/world/process_plan.h"
#include "live/world/process_reports.h"
#include "netio/system/file_descriptor.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

constexpr size_t kScenarioMax = size_t{64} << 20;  ///< bytes of a resolved scenario

/// What rank 0 asks the other ranks for.
struct RankJob {
  std::string folder;  ///< rank 0's run folder, an absolute path
  /// CRC-32 of the scenario.yaml in it: a rank that reads another one does not see that folder.
  uint32_t checksum = 0;
  FabricTime stop;  ///< when the run ends, which the resolved scenario does not hold
  uint32_t threads = 1;
  uint64_t capture_bytes = 0;
  uint64_t history_bytes = 0;
};

std::string scenario_text(const std::filesystem::path& folder) {
  return netio::read_file(folder / "scenario.yaml", kScenarioMax);
}

std::string to_text(const RankJob& job) {
  return nlohmann::json{{"folder", job.folder},
                        {"checksum", job.checksum},
                        {"stop_ps", job.stop.ps()},
                        {"threads", job.threads},
                        {"capture_bytes", job.capture_bytes},
                        {"history_bytes", job.history_bytes}}
      .dump();
}

RankJob parse_job(const std::string& text) {
  const nlohmann::json told = nlohmann::json::parse(text);
  RankJob job;
  told.at("folder").get_to(job.folder);
  told.at("checksum").get_to(job.checksum);
  job.stop = FabricTime::from_ps(told.at("stop_ps").get<int64_t>());
  told.at("threads").get_to(job.threads);
  told.at("capture_bytes").get_to(job.capture_bytes);
  told.at("history_bytes").get_to(job.history_bytes);
  return job;
}

std::string rank_name(uint32_t rank) { return fmt::format("rank-{}", rank); }

/// Which rank has which nodes, in the form that reports are read with.
ProcessPlan plan_of_ranks(const Topology& topology, uint32_t threads, uint32_t ranks) {
  ProcessPlan plan;
  for (uint32_t rank = 0; rank < ranks; ++rank) plan.processes.push_back({rank_name(rank), true});
  for (const NodeSite& site : topology.nodes) {
    plan.process_of_node.push_back(SimWorld::shard_of(topology, site.id, threads * ranks) /
                                   threads);
  }
  return plan;
}

/// Reads the scenario of a job. Throws if this rank does not see what rank 0 wrote.
Scenario scenario_of(const RankJob& job) {
  std::string text;
  try {
    text = scenario_text(job.folder);
  } catch (const std::exception&) {
    text.clear();
  }
  if (checksum(0, text) != job.checksum) {
    throw std::runtime_error("it does not see the run folder of rank 0, " + job.folder +
                             ": expected --out with a folder that all machines share");
  }
  Scenario scenario = read_run_scenario(job.folder);
  if (job.stop < scenario.end) scenario.until = job.stop;
  return scenario;
}

/// Leaves the accounts of this rank's nodes and their histories for rank 0.
void write_rank_report(const Scenario& scenario, const RankLink& ranks, const RunFolder& folder,
                       const Simulation& simulation, const WorldOutcome& outcome) {
  netio::ProcessReport report;
  report.process = rank_name(ranks.rank());
  report.history = history_to_text(outcome.history);
  report.capture_records = outcome.capture_records;
  for (const NodeSite& site : scenario.topology.nodes) {
    if (!simulation.is_here(site.id)) continue;
    nlohmann::json& account = report.nodes[site.name] = nlohmann::json::object();
    if (site.role == NodeRole::kHost) {
      account = report_to_json(simulation.account(site.index));
    }
  }
  netio::write_file(folder.reports() / (report.process + ".json"),
                    sealed_report(report_to_json(report)));
}

void take_job(RankLink& ranks, const RankJob& job) {
  Scenario scenario;
  run_on_all_ranks(&ranks, [&] { scenario = scenario_of(job); });
  const RunFolder folder{job.folder};
  SimOptions options{.capture_bytes = job.capture_bytes,
                     .history_bytes = job.history_bytes,
                     .threads = job.threads,
                     .ranks = &ranks};
  options.at_end = [&](const Simulation& simulation, const WorldOutcome& outcome) {
    write_rank_report(scenario, ranks, folder, simulation, outcome);
  };
  run_simulated(scenario, folder, options);
}

/// Adds what the other ranks left, and removes their reports.
void add_other_ranks(WorldOutcome& outcome, const Scenario& scenario, const RunFolder& folder,
                     uint32_t threads, uint32_t ranks) {
  const ProcessPlan plan = plan_of_ranks(scenario.topology, threads, ranks);
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    const ReadReport read = read_process_report(folder.reports(), scenario.topology, plan, rank);
    add_process_report(outcome, scenario, read);
    outcome.capture_records += read.report.capture_records;
    std::filesystem::remove(folder.reports() / (rank_name(rank) + ".json"));
  }
}

}  // namespace

WorldOutcome run_over_ranks(const Scenario& scenario, const RunFolder& folder,
                            const SimOptions& options, const SimWorld::GoOn& go_on) {
  RankLink& ranks = *options.ranks;
  RankJob job;
  job.folder = std::filesystem::absolute(folder.path);
  job.checksum = checksum(0, scenario_text(folder.path));
  job.stop = scenario.stop();
  job.threads = options.threads;
  job.capture_bytes = options.capture_bytes;
  job.history_bytes = options.history_bytes;
  ranks.gather(to_text(job));
  run_on_all_ranks(&ranks, [] {});  // the others have read the scenario
  WorldOutcome outcome = run_simulated(scenario, folder, options, go_on);
  add_other_ranks(outcome, scenario, folder, options.threads, ranks.count());
  return outcome;
}

void take_rank_jobs(RankLink& ranks) {
  while (true) {
    const std::string job = ranks.gather("").front();
    if (job.empty()) return;
    try {
      take_job(ranks, parse_job(job));
    } catch (const std::exception&) {  // run_on_all_ranks has sent it to rank 0, which reports it
    }
  }
}

void dismiss_ranks(RankLink& ranks) { ranks.gather(""); }

JoinedRanks join_same_ranks() {
  std::unique_ptr<RankLink> ranks = join_ranks();
  const std::vector<std::string> versions =
      ranks ? ranks->gather(std::string(version_text())) : std::vector<std::string>{};
  for (size_t rank = 1; rank < versions.size(); ++rank) {
    if (versions[rank] == versions[0]) continue;
    throw std::runtime_error(fmt::format("rank {} is mrclab {}, rank 0 is mrclab {}: expected one",
                                         rank, versions[rank], versions[0]));
  }
  return JoinedRanks(ranks.release(), [](RankLink* joined) {
    const std::unique_ptr<RankLink> owned(joined);
    if (owned->rank() == 0) dismiss_ranks(*owned);
  });
}

int follow_first_rank(RankLink& ranks) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  take_rank_jobs(ranks);
  return 0;
}

}  // namespace mrclab::lab
