#include "plan/nic_routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "plan/fabric_plan_text.h"

namespace mrclab::lab {
namespace {

nlohmann::ordered_json size_json(const TableSize& size) {
  return {{"prefixes", size.prefixes}, {"paths", size.paths}};
}

}  // namespace

/// A T0 has one path to each of its own hosts, and one per T1 (of its pod) to every other; a T1 has one path to each host,
/// and with T2s one per T2 above it to each of other pods.
NicRoutePlan plan_nic_routes(const FabricPlan& plan, uint64_t job) {
  NicRoutePlan made;
  const uint32_t planes = plan.shape.planes;
  made.planes = planes;
  made.hosts = plan.hosts;
  made.rows = plan.t0 / planes;
  made.job = std::min(job, plan.hosts);
  if (!plan.outline.has_planes()) {
    throw InputError("found " + plan.shape.name +
                     ", a listed fabric, whose NICs do not speak: expected planes");
  }
  const uint64_t pods = std::max(plan.shape.pods, 1u);
  const uint64_t t1 = plan.shape.t1 / pods, own = plan.shape.hosts_per_t0;
  const uint64_t others = plan.hosts - own;
  const uint64_t t1_up = plan.shape.t2 == 0 ? 1 : plan.shape.t2_link_count() / plan.shape.t1;
  const auto of_t1 = [&](uint64_t prefixes) {
    const uint64_t in_pod = prefixes / pods;
    return TableSize{prefixes, in_pod + (prefixes - in_pod) * t1_up};
  };
  const TableSize t0_all{plan.hosts, own + others * t1}, t1_all = of_t1(plan.hosts);
  // A host has its own address in its table as well.
  made.ways.push_back(
      {NicRoutes::kAll, {plan.hosts, 1 + (plan.hosts - 1) * planes}, t0_all, t1_all});
  const TableSize t0_rows{own + made.rows, own + 1 + (made.rows - 1) * t1};
  made.ways.push_back({NicRoutes::kAggregates,
                       {1 + made.rows, 1 + made.rows * planes},
                       t0_rows,
                       of_t1(made.rows),
                       0,
                       1});
  made.ways.push_back(
      {NicRoutes::kWanted, {made.job, 1 + (made.job - 1) * planes}, t0_all, t1_all, made.job - 1});
  return made;
}

std::string nic_routes_text(const NicRoutePlan& plan) {
  std::string text =
      fmt::format("{} hosts in {} rows, {}; a job of {}\n\n", grouped(plan.hosts),
                  grouped(plan.rows), counted_noun(plan.planes, "plane"), grouped(plan.job));
  std::vector<std::vector<std::string>> rows{
      {"NICS RECEIVE", "NIC: PREFIXES", "PATHS", "T0: PREFIXES", "T1: PREFIXES", "FILTER"}};
  for (const NicRoutePlan::Way& way : plan.ways) {
    rows.push_back({std::string(name_of(way.routes)), grouped(way.nic.prefixes),
                    grouped(way.nic.paths), grouped(way.t0.prefixes), grouped(way.t1.prefixes),
                    way.filter == 0 ? "-" : grouped(way.filter)});
  }
  return text + table(rows) +
         "\nPATHS: of all planes. FILTER: entries that a NIC sends to each of its leaves.\n"
         "With aggregates a NIC has one prefix more for each host that a plane has lost.\n";
}

nlohmann::ordered_json nic_routes_json(const NicRoutePlan& plan) {
  nlohmann::ordered_json ways = nlohmann::ordered_json::array();
  for (const NicRoutePlan::Way& way : plan.ways) {
    ways.push_back({{"nics", name_of(way.routes)},
                    {"nic", size_json(way.nic)},
                    {"t0", size_json(way.t0)},
                    {"t1", size_json(way.t1)},
                    {"filter", way.filter},
                    {"per_lost_host", way.per_lost}});
  }
  return {{"hosts", plan.hosts},
          {"rows", plan.rows},
          {"planes", plan.planes},
          {"job", plan.job},
          {"ways", std::move(ways)}};
}

}  // namespace mrclab::lab
