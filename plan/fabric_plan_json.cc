#include <nlohmann/json.hpp>

#include "endpoint/paths/ev_set.h"
#include "plan/fabric_plan_text.h"

namespace mrclab::lab {
namespace {

using nlohmann::ordered_json;

ordered_json share(Ratio ratio) {
  return {{"part", ratio.part}, {"whole", ratio.whole}, {"percent", ratio.percent()}};
}

ordered_json routes(const SwitchRoutes& r) {
  return {{"own", r.own},
          {"up", r.up},
          {"down", r.down},
          {"kernels", r.kernels},
          {"total", r.total()},
          {"by_destination", r.by_destination},
          {"by_destination_aggregated", r.by_destination_aggregated}};
}

ordered_json design(const FatTree& tree, uint64_t planes) {
  return {{"planes", planes},
          {"tiers", tree.tiers},
          {"radix", tree.radix},
          {"hosts", tree.hosts()},
          {"switches", planes * tree.switches()},
          {"links", planes * tree.links()},
          {"transceivers_per_host", 2 * tree.tiers},
          {"longest_path", tree.longest_path()},
          {"hosts_in_one_hop", tree.one_hop()},
          {"uplink_loss", share(tree.uplink_loss())},
          {"nic_link_loss", share(Ratio::of(1, planes))}};
}

ordered_json materials(const FabricPlan& plan) {
  const Transceivers& t = plan.transceivers;
  return {{"t0", plan.t0},
          {"t1", plan.t1},
          {"switches", plan.switches()},
          {"nic_links", plan.nic_links},
          {"fabric_links", plan.fabric_links},
          {"links", plan.links()},
          {"optical_ports", 2 * plan.links()},
          {"transceivers",
           {{"links_each", t.links_each},
            {"nic", t.nic},
            {"t0_down", t.t0_down},
            {"t0_up", t.t0_up},
            {"t1", t.t1},
            {"total", t.total()}}}};
}

ordered_json times(const FabricPlan& plan) {
  const QueueProfile& q = plan.outline.queues;
  const QueueProfile& inside = plan.outline.fabric_queues;
  return {{"base_rtt_ps", plan.outline.base_rtt.ps()},
          {"plane_bdp_bytes", plan.plane_bdp.value},
          {"nic_bdp_bytes", plan.nic_bdp.value},
          {"ecn", q.ecn},
          {"ecn_min_bytes", inside.ecn_min.value},
          {"ecn_max_bytes", inside.ecn_max.value},
          {"trim", q.trim},
          {"trim_bytes", inside.trim_threshold.value},
          {"trim_last_hop_bytes", q.trim_threshold_last_hop.value},
          {"control_limit_bytes", q.control_limit.value},
          {"trimmed_limit_bytes", q.trimmed_limit.value},
          {"tail_drop_bytes", q.tail_drop.value}};
}

}  // namespace

ordered_json plan_json(const FabricPlan& plan) {
  ordered_json json{{"name", plan.shape.name},
                    {"hosts", plan.hosts},
                    {"planes", plan.shape.planes},
                    {"tiers", plan.tiers},
                    {"longest_path", plan.longest_path},
                    {"hosts_per_t0", plan.shape.hosts_per_t0},
                    {"t0_per_plane", plan.shape.t0},
                    {"t1_per_plane", plan.shape.t1},
                    {"t0_ports", plan.t0_ports},
                    {"t1_ports", plan.t1_ports},
                    {"host_rate_bps", plan.shape.host_rate.bps},
                    {"fabric_rate_bps", plan.shape.fabric_rate.bps},
                    {"nic_rate_bps", plan.nic_rate.bps},
                    {"switch_capacity_bps", plan.switch_capacity.bps},
                    {"bisection_bps", plan.bisection_bps},
                    {"oversubscription", share(plan.oversubscription)},
                    {"address_plan", plan.outline.usids.name()},
                    {"materials", materials(plan)},
                    {"times", times(plan)},
                    {"routes", {{"t0", routes(plan.t0_routes)}, {"t1", routes(plan.t1_routes)}}}};
  ordered_json sets = ordered_json::array();
  for (const PlannedEvs& set : plan.ev_sets) {
    sets.push_back(
        {{"size", set.size}, {"per_plane", set.per_plane}, {"of_all", share(set.of_all)}});
  }
  json["entropy_values"] = {
      {"across_t1", plan.evs_per_pair}, {"under_one_t0", plan.evs_in_row}, {"sets", sets}};
  if (plan.t2 > 0) {
    json["t2"] = {{"pods", plan.shape.pods},
                  {"t2_per_plane", plan.t2 / plan.shape.planes},
                  {"t2_ports", plan.t2_ports},
                  {"t2", plan.t2},
                  {"t2_links", plan.t2_links},
                  {"transceivers", plan.transceivers.t2},
                  {"oversubscription", share(plan.t1_oversubscription)},
                  {"routes", routes(plan.t2_routes)}};
  }
  json["comparison"] = nullptr;
  if (plan.comparison) {
    const DesignComparison& c = *plan.comparison;
    json["comparison"] = {{"planes", design(c.plane, c.planes)},
                          {"single_plane", design(c.single, 1)},
                          {"single_plane_as_large", design(c.larger, 1)},
                          {"switches", share(c.switches)},
                          {"transceivers", share(c.transceivers)}};
  }
  return json;
}

}  // namespace mrclab::lab
