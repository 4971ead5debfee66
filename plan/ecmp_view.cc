#include "plan/ecmp_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "console/terminal.h"
#include "endpoint/paths/ev_set.h"
#include "fabric/paths/ecmp.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/forwarder.h"
#include "fabric/topology/pattern.h"
#include "plan/path_trace.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

class View {
 public:
  View(const Topology& topology, const EcmpQuestion& question)
      : topology_(of_planes(topology)),
        from_(numbered_host(topology, question.from)),
        to_(numbered_host(topology, question.to)),
        down_(question.down ? std::optional(uplink_named(*question.down)) : std::nullopt) {
    const uint32_t row = topology.host_row(from_);
    if (row == topology.host_row(to_)) {
      throw InputError(
          fmt::format("{} and {} are on one T0, where nothing is hashed: expected hosts "
                      "on two",
                      question.from, question.to));
    }
    const auto values = endpoint::entropy_values(topology, from_, to_, question.evs, question.seed,
                                                 chosen_by(topology, Routing::kEcmp));
    json_ = {{"fabric", topology.name},
             {"from", question.from},
             {"to", question.to},
             {"evs", values.size()},
             {"seed", question.seed},
             {"underlay", name_of(topology.routing.underlay)},
             {"group", topology.routing.resilient ? "resilient" : "modulo"},
             {"hash_seed", topology.routing.same_seed ? "same" : "per_switch"},
             {"planes", Json::array()},
             {"values", Json::array()}};
    for (uint32_t plane = 0; plane < topology.planes; ++plane) add_plane(plane, values);
  }

  Json take() { return std::move(json_); }

 private:
  static const Topology& of_planes(const Topology& topology) {
    if (topology.regular()) return topology;
    throw InputError(fmt::format(
        "found the fabric {}, which {}: expected regular planes of two tiers, where "
        "the sender's T0 alone hashes",
        topology.name, topology.has_planes() ? "has three tiers" : "lists its switches"));
  }

  PortRef uplink_named(const std::string& name) const {
    const auto port = topology_.find_port(name);
    const NodeId t0 = port ? port->node : NodeId{};
    const bool ours = port && topology_.node(t0).role == NodeRole::kT0 &&
                      topology_.node(t0).index == topology_.host_row(from_) &&
                      topology_.node(topology_.port(*port).peer.node).role == NodeRole::kT1;
    if (ours && !is_ours(topology_.node(t0))) {
      throw InputError(fmt::format(
          "found {} of a switch that is not ours, whose hash is not published: expected an "
          "uplink of one with \"forwarding: switchd\"",
          name));
    }
    if (ours) return *port;
    throw InputError(
        fmt::format("found {}, which is no uplink of the sender's T0s: expected one "
                    "such as p0.t0-{}:u0",
                    in_quotes(name), topology_.host_row(from_)));
  }

  void add_plane(uint32_t plane, const std::vector<EntropyValue>& values) {
    const NodeId t0 = topology_.t0(plane, topology_.host_row(from_));
    const std::string& name = topology_.node(t0).name;
    if (topology_.node(t0).forwarding != Forwarding::kSwitchd) {
      json_["planes"].push_back({{"plane", plane}, {"switch", name}, {"known", false}});
      return;
    }
    const std::vector<PortId> uplinks = uplinks_of(topology_, t0);
    const EcmpGroup group(uplinks, topology_.routing.resilient);
    EcmpGroup without = group;
    const bool lost = down_ && down_->node == t0;
    if (lost) without.set_live(down_->port, false);
    std::vector<uint32_t> count(uplinks.size());
    std::vector<std::set<uint64_t>> beyond(uplinks.size());
    uint32_t carried = 0, moved_of_others = 0, evs = 0;
    for (const EntropyValue ev : values) {
      if (path_of(ev)->plane != plane) continue;
      ++evs;
      const FlowKey key = flow_of(topology_, from_, to_, ev);
      const uint64_t hash = ecmp_hash(key, ecmp_seed(topology_, t0));
      const PortId port = group.choose(hash);
      const auto place =
          static_cast<size_t>(std::find(uplinks.begin(), uplinks.end(), port) - uplinks.begin());
      ++count[place];
      const NodeId t1 = topology_.port({t0, port}).peer.node;
      beyond[place].insert(ecmp_hash(key, ecmp_seed(topology_, t1)) % uplinks.size());
      Json value{{"ev", fmt::format("0x{:08x}", ev.value)},
                 {"path", to_string(*path_of(ev))},
                 {"uplink", topology_.port_name({t0, port})}};
      if (lost && !without.empty()) {
        const PortId then = without.choose(hash);
        value["without"] = topology_.port_name({t0, then});
        if (port == down_->port) ++carried;
        if (!(port == down_->port) && !(port == then)) ++moved_of_others;
      }
      json_["values"].push_back(std::move(value));
    }
    add_counts(plane, name, evs, count, beyond);
    if (lost) {
      json_["down"] = {{"link", topology_.port_name(*down_)},
                       {"plane", plane},
                       {"evs", evs},
                       {"carried", carried},
                       {"moved_of_others", moved_of_others},
                       {"uplinks_left", without.live().size()}};
    }
  }

  void add_counts(uint32_t plane, const std::string& name, uint32_t evs,
                  const std::vector<uint32_t>& count,
                  const std::vector<std::set<uint64_t>>& beyond) {
    const double mean = static_cast<double>(evs) / static_cast<double>(count.size());
    uint32_t sharing = 0, used = 0;
    size_t members = 0;
    for (size_t i = 0; i < count.size(); ++i) {
      sharing += count[i] > 1 ? count[i] : 0;
      used += count[i] > 0 ? 1 : 0;
      members += beyond[i].size();
    }
    const double busiest = *std::max_element(count.begin(), count.end());
    json_["planes"].push_back({{"plane", plane},
                               {"switch", name},
                               {"known", true},
                               {"uplinks", count},
                               {"busiest_of_mean", mean == 0 ? 0 : busiest / mean},
                               {"idle", count.size() - used},
                               {"sharing", sharing},
                               {"next_tier", used == 0 ? 0 : static_cast<double>(members) / used}});
  }

  const Topology& topology_;
  uint32_t from_, to_;
  std::optional<PortRef> down_;
  Json json_;
};

/// As many columns as 80 characters hold; what is more stands in --json.
constexpr size_t kUplinksShown = 8;

std::vector<std::string> row_of(const Json& plane, size_t uplinks) {
  std::vector<std::string> row{plane.at("switch").get<std::string>()};
  if (!plane.at("known").get<bool>()) {
    row.emplace_back("its own hash: not known");
    return row;
  }
  for (size_t i = 0; i < std::min(uplinks, kUplinksShown); ++i) {
    row.push_back(std::to_string(plane.at("uplinks")[i].get<uint32_t>()));
  }
  if (uplinks > kUplinksShown) row.emplace_back("...");
  row.push_back(fmt::format("{:.2f}", plane.at("busiest_of_mean").get<double>()));
  row.push_back(std::to_string(plane.at("idle").get<uint32_t>()));
  row.push_back(std::to_string(plane.at("sharing").get<uint32_t>()));
  row.push_back(fmt::format("{:.1f}/{}", plane.at("next_tier").get<double>(), uplinks));
  return row;
}

std::string loss_text(const Json& down) {
  const auto carried = down.at("carried").get<uint32_t>();
  const auto others = down.at("moved_of_others").get<uint32_t>();
  const auto evs = down.at("evs").get<uint32_t>();
  if (down.at("uplinks_left").get<size_t>() == 0) {
    return fmt::format("\nwithout {} no uplink is left\n", down.at("link").get<std::string>());
  }
  return fmt::format(
      "\nwithout {}: {} of {} EVs of its plane move:\n"
      "  {:4} that it carried\n  {:4} of other uplinks\n",
      down.at("link").get<std::string>(), carried + others, evs, carried, others);
}

}  // namespace

Json explain_ecmp(const Topology& topology, const EcmpQuestion& question) {
  return View(topology, question).take();
}

std::string ecmp_text(const Json& ecmp) {
  std::string text = fmt::format(
      "fabric  {}, {} to {}, underlay {}\n"
      "hash    {} group, {}\n"
      "EVs     {} of a queue pair, drawn with seed {}\n\n",
      ecmp.at("fabric").get<std::string>(), ecmp.at("from").get<std::string>(),
      ecmp.at("to").get<std::string>(), ecmp.at("underlay").get<std::string>(),
      ecmp.at("group").get<std::string>(),
      ecmp.at("hash_seed").get<std::string>() == "same" ? "one seed for all switches"
                                                        : "a seed of each switch's own",
      ecmp.at("evs").get<size_t>(), ecmp.at("seed").get<uint64_t>());
  size_t uplinks = 0;
  for (const Json& plane : ecmp.at("planes")) {
    if (plane.at("known").get<bool>()) uplinks = plane.at("uplinks").size();
  }
  std::vector<std::vector<std::string>> rows{{"EVs OF"}};
  for (size_t i = 0; i < std::min(uplinks, kUplinksShown); ++i) {
    rows[0].push_back(fmt::format("u{}", i));
  }
  if (uplinks > kUplinksShown) rows[0].emplace_back("...");
  for (const char* head : {"MAX/MEAN", "IDLE", "SHARING", "NEXT TIER"}) rows[0].emplace_back(head);
  for (const Json& plane : ecmp.at("planes")) rows.push_back(row_of(plane, uplinks));
  text += table(rows);
  if (ecmp.contains("down")) text += loss_text(ecmp.at("down"));
  return text +
         "\nSHARING: EVs that have their uplink not for themselves. NEXT TIER: of the\n"
         "members of such a group behind a T1, how many its packets would use; with one\n"
         "seed for all switches 1, which is polarisation. T1s here have one way only.\n";
}

}  // namespace mrclab::lab
