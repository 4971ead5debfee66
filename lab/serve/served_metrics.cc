#include "lab/serve/served_metrics.h"

#include "console/version.h"
#include "fabric/history/report_json.h"
#include "fabric/text/input_error.h"
#include "fabric/text/name_pattern.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/link_load.h"
#include "telemetry/fabric_metrics.h"

namespace mrclab::lab {

std::string session_metrics(const FabricSession& session, const std::string& only) {
  const Branch& branch = session.branch();
  const Topology& topology = branch.topology();
  telemetry::FabricCounts counts;
  counts.lab = branch.scenario().name;
  counts.version = release_version();
  std::vector<std::string> names;
  for (const NodeSite& site : topology.nodes) {
    names.push_back(site.name);
    if (!only.empty() && !matches_pattern(only, site.name)) continue;
    telemetry::CountedNode& node = counts.nodes[site.name];
    node.until = branch.told_at();
    if (site.role == NodeRole::kHost) {
      node.counts = host_counts(report_to_json(branch.account(site.id.value).stats));
      continue;
    }
    for (const auto& [name, value] : branch.status_of(site).counters) node.counts[name] = value;
  }
  if (!only.empty()) check_only(only, names, "node");
  counts.links_up.assign(topology.links.size(), true);
  for (const ScheduledEffect& effect : branch.scenario().schedule) {
    const auto* carrier = std::get_if<PortCarrier>(&effect.effect);
    if (carrier == nullptr || effect.at > branch.told_at()) continue;
    counts.links_up[topology.port(carrier->port).link.value] = carrier->up;
  }
  return telemetry::metrics_text(topology, counts, {telemetry::usual_detail(topology), only});
}

std::optional<ServedMetrics::Answer> ServedMetrics::ask(const std::string& only) {
  std::unique_lock lock(mutex_);
  asked_ = only;
  answer_.reset();
  made_.wait_for(lock, kMetricsPatience, [this] { return answer_.has_value(); });
  asked_.reset();
  return std::exchange(answer_, std::nullopt);
}

void ServedMetrics::answer(const FabricSession& session) {
  std::optional<std::string> only;
  {
    const std::lock_guard lock(mutex_);
    only = asked_;
  }
  if (!only) return;
  Answer made;
  try {
    made.text = session_metrics(session, *only);
  } catch (const InputError& error) {
    made = {std::string(error.what()) + "\n", true};
  }
  {
    const std::lock_guard lock(mutex_);
    if (asked_ == only) answer_ = std::move(made);  // else it came too late, and another asks
  }
  made_.notify_all();
}

}  // namespace mrclab::lab
