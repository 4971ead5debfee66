#include "plan/fabric_plan_text.h"

#include <fmt/format.h>

#include "endpoint/paths/ev_set.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {

std::string grouped(uint64_t n) {
  std::string text = std::to_string(n);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

namespace {

/// 51.2 Tb/s
std::string rate_text(uint64_t bps) {
  double value = static_cast<double>(bps) * 1e-9;
  const char* unit = "Gb/s";
  for (const char* larger : {"Tb/s", "Pb/s"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.4g} {}", value, unit);
}

std::string percent_text(Ratio share) { return fmt::format("{:.2g} %", share.percent()); }
std::string share_text(Ratio share) { return fmt::format("{}/{}", share.part, share.whole); }

std::string row(std::string_view label, const std::string& a, const std::string& b) {
  return fmt::format("  {:<38}{:>18}{:>18}\n", label, a, b);
}

std::string heading(std::string_view title, std::string_view a = "", std::string_view b = "") {
  const std::string line = fmt::format("{:<40}{:>18}{:>18}", title, a, b);
  return "\n" + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string materials_text(const FabricPlan& plan) {
  const uint32_t planes = plan.shape.planes;  // a listed fabric is one
  const auto counted = [planes](std::string_view label, uint64_t in_all) {
    return row(label, grouped(in_all / planes), grouped(in_all));
  };
  const Transceivers& t = plan.transceivers;
  std::string text = heading("BILL OF MATERIALS", "a plane", "in all");
  text += counted("T0 switches", plan.t0) + counted("T1 switches", plan.t1);
  if (plan.t2 > 0) text += counted("T2 switches", plan.t2);
  text += counted("switches", plan.switches());
  text += counted("NIC-T0 links", plan.nic_links) + counted("T0-T1 links", plan.fabric_links);
  if (plan.t2 > 0) text += counted("T1-T2 links", plan.t2_links);
  text += counted("links (cables, each a pair of fibres)", plan.links());
  text += counted("optical ports, two per link", 2 * plan.links());
  text += row(fmt::format("transceivers of up to {}", counted_noun(t.links_each, "link")), "",
              grouped(t.total()));
  return text + fmt::format("    {} in NICs, {} down and {} up in T0s, {} in T1s{}\n",
                            grouped(t.nic), grouped(t.t0_down), grouped(t.t0_up), grouped(t.t1),
                            plan.t2 > 0 ? fmt::format(", {} in T2s", grouped(t.t2)) : "");
}

std::string shape_text(const FabricPlan& plan) {
  const Topology& o = plan.outline;
  const QueueProfile& q = o.queues;
  const QueueProfile& inside = o.fabric_queues;
  std::string text = heading("SHAPE AND TIMES");
  const auto ratio = [](Ratio r) { return fmt::format("{}:{}", r.part, r.whole); };
  if (o.regular()) {
    text +=
        fmt::format("  {} tiers, longest path {}, {} hosts reached over one\n", plan.tiers,
                    counted_noun(plan.longest_path, "switch"), grouped(plan.shape.hosts_per_t0));
    text += fmt::format("  ports: T0 {} down + {} up, T1 {} down\n", plan.shape.hosts_per_t0,
                        plan.shape.t1, plan.t1_ports);
  } else {
    text += fmt::format("  {}, longest path {}\n", counted_noun(plan.tiers, "tier"),
                        counted_noun(plan.longest_path, Noun("switch", "switches")));
    text += fmt::format("  most ports: T0 {}, T1 {}, T2 {}\n", plan.t0_ports, plan.t1_ports,
                        plan.t2_ports);
  }
  text += fmt::format("  NIC {}, {}oversubscription {}\n", rate_text(plan.nic_rate.bps),
                      plan.bisection_bps == 0
                          ? ""
                          : fmt::format("bisection {} each way, ", rate_text(plan.bisection_bps)),
                      ratio(plan.oversubscription));
  if (plan.t2 > 0) {
    text += fmt::format("  oversubscription of T1s {}\n", ratio(plan.t1_oversubscription));
  }
  text += fmt::format("  base RTT {}, BDP {} bytes a plane, {} a NIC\n", to_string(o.base_rtt),
                      grouped(plan.plane_bdp.value), grouped(plan.nic_bdp.value));
  text +=
      fmt::format("  ECN {} to {}, trim {} (to hosts {}) bytes\n", grouped(inside.ecn_min.value),
                  grouped(inside.ecn_max.value), grouped(inside.trim_threshold.value),
                  grouped(q.trim_threshold_last_hop.value));
  text += fmt::format("  queues of control {}, of trimmed frames {} bytes\n",
                      grouped(q.control_limit.value), grouped(q.trimmed_limit.value));
  return text;
}

std::string routes_text(const FabricPlan& plan) {
  const SwitchRoutes& t0 = plan.t0_routes;
  const SwitchRoutes& t1 = plan.t1_routes;
  const uint32_t bits = 32u + plan.outline.usids.role_and_plane_bits();
  const auto both = [](std::string_view label, uint64_t a, uint64_t b) {
    return row(label, grouped(a), grouped(b));
  };
  std::string text = heading("ROUTES OF A SWITCH", "T0", "T1");
  text += both("own uSID", t0.own, t1.own) + both("T1s", t0.up, 0);
  text += both("T0s", 0, t1.down) + both("NIC ports", t0.down, 0);
  text += both("hosts' kernels (ordinary traffic)", t0.kernels, 0);
  text += both("uSID routes, each by a port of its own", t0.total(), t1.total());
  text += both("by destination instead, every host", t0.by_destination, t1.by_destination);
  text += both("by destination, one prefix per T0 row", t0.by_destination_aggregated,
               t1.by_destination_aggregated);
  if (plan.t2 > 0) {
    const SwitchRoutes& t2 = plan.t2_routes;
    text += fmt::format("  T1s: {} of T2s as well. T2s: {} of T1s, {} with their own;\n",
                        grouped(t1.up), grouped(t2.down), grouped(t2.total()));
    text += fmt::format("  by destination {}, by row {}.\n", grouped(t2.by_destination),
                        grouped(t2.by_destination_aggregated));
  }
  if (!plan.outline.has_planes()) return text;
  return text + fmt::format("  A host needs {}: one /{} per plane, which covers its T0s.\n",
                            plan.shape.planes, bits);
}

std::string paths_section(const FabricPlan& plan) {
  std::string text = heading("ENTROPY VALUES", "per plane", "in all");
  text += row(plan.t2 > 0 ? "paths across T2" : "paths across T1",
              grouped(plan.evs_per_pair / plan.outline.planes), grouped(plan.evs_per_pair));
  text += row("paths under one T0", "1", grouped(plan.evs_in_row));
  for (const PlannedEvs& set : plan.ev_sets) {
    text += row(fmt::format("a set of {} ({:.3g} % of the paths)", set.size, set.of_all.percent()),
                grouped(set.per_plane), grouped(set.size));
  }
  return text;
}

std::string addresses_text(const FabricPlan& plan) {
  const Topology& o = plan.outline;
  const UsidLayout& usids = o.usids;
  const uint32_t last = o.host_count() - 1;
  const uint32_t plane = o.planes - 1;
  const bool across = plan.tiers == 2;
  const Path path = !o.regular() ? paths_between(o, 0, last).back()
                                 : Path{plane, across ? o.t1_per_plane - 1 : kT0LocalUplink};
  std::string text = heading("ADDRESSES");
  text += fmt::format("  uSIDs of layout {}: block 5f00:0::/32, 16 bits each\n", usids.name());
  const auto range = [&](const char* label, UsidRole role, uint32_t count) {
    if (count == 0) return;
    text += fmt::format("    {:<16}{:04x} to {:04x} (plane {})\n", label,
                        usids.make(role, plane, 0).value, usids.make(role, plane, count - 1).value,
                        plane);
  };
  range("T0s", UsidRole::kT0, o.t0_per_plane);
  range("T1s", UsidRole::kT1, o.t1_per_plane);
  if (o.has_planes()) range("T2s", UsidRole::kT2, o.t2_per_plane);
  range("NIC ports", UsidRole::kNicPort, o.hosts_per_t0);
  range("hosts' kernels", UsidRole::kHostKernel, o.hosts_per_t0);
  text += fmt::format("  host h{}: {}, the same in every plane\n", last,
                      to_string(host_address(o, last)));
  return text + fmt::format("  h0 to h{} over {} (EV 0x{:08x}):\n    {}\n", last, to_string(path),
                            ev_of(path).value, to_string(make_carrier(o, 0, last, path)));
}

std::string comparison_text(const FabricPlan& plan) {
  if (!plan.outline.regular()) return "";
  if (!plan.comparison) {
    return heading("COMPARED WITH A SINGLE PLANE") +
           "  A switch has too few ports of the NIC's rate for three tiers.\n";
  }
  const DesignComparison& c = *plan.comparison;
  const uint64_t nic = plan.nic_rate.bps;
  std::string text =
      heading(fmt::format("FULLY BUILT OF {} SWITCHES", rate_text(plan.switch_capacity.bps)),
              fmt::format("{} x 2 tiers", c.planes), "1 x 3 tiers");
  text += row("ports of a switch", fmt::format("{} x {}", c.plane.radix, rate_text(nic / c.planes)),
              fmt::format("{} x {}", c.single.radix, rate_text(nic)));
  text += row("hosts", grouped(c.plane.hosts()), grouped(c.single.hosts()));
  text += row("switches", grouped(c.planes * c.plane.switches()), grouped(c.single.switches()));
  text += row("transceivers per host", std::to_string(2 * c.plane.tiers),
              std::to_string(2 * c.single.tiers));
  text += row("longest path, switches", std::to_string(c.plane.longest_path()),
              std::to_string(c.single.longest_path()));
  text += row("hosts in one hop", grouped(c.plane.one_hop()), grouped(c.single.one_hop()));
  text += row("a lost T0-T1 link takes of its T0", percent_text(c.plane.uplink_loss()),
              percent_text(c.single.uplink_loss()));
  text +=
      row("a lost NIC link takes of its NIC", fmt::format("{:.3g} %", 100.0 / c.planes), "100 %");
  text += fmt::format("  Per host the planes need {} of the switches and {} of the transceivers.\n",
                      share_text(c.switches), share_text(c.transceivers));
  if (c.larger.tiers > c.single.tiers) {
    text += fmt::format("  A single plane of {} hosts needs {} tiers: paths of {}.\n",
                        grouped(c.plane.hosts()), c.larger.tiers,
                        counted_noun(c.larger.longest_path(), "switch"));
  }
  return text;
}

}  // namespace

std::string plan_text(const FabricPlan& plan) {
  return fmt::format("{}: {} hosts on {} of {}\n", plan.shape.name, grouped(plan.hosts),
                     plan.shape.graph.empty() ? counted_noun(plan.shape.planes, "plane")
                                              : "links one by one",
                     rate_text(plan.shape.host_rate.bps)) +
         materials_text(plan) + shape_text(plan) + routes_text(plan) + paths_section(plan) +
         addresses_text(plan) + comparison_text(plan);
}

}  // namespace mrclab::lab
