#include "live/translate/netlab_export.h"

#include <fmt/format.h>

#include "fabric/text/yaml_write.h"
#include "fabric/topology/path.h"
#include "live/translate/export_notes.h"
#include "live/translate/node_setup.h"
#include "live/translate/switch_config.h"

namespace mrclab::lab {
namespace {

/// Netlab's default limit (defaults.const.MAX_NODE_ID).
constexpr size_t kUsualNodes = 150;

/// An identifier of netlab's: at most 16 characters, a letter first.
std::string lab_name(const std::string& fabric) {
  constexpr size_t kMost = 16;
  const bool letter = fabric[0] >= 'a' && fabric[0] <= 'z';
  return ((letter ? "" : "n") + fabric).substr(0, kMost);
}

std::string end_text(const ExportedFabric& fabric, PortRef port) {
  return fmt::format("{}: {{ifindex: {}, ipv6: \"{}\"}}", yaml_word(fabric.name(port.node)),
                     netlab_tool().first_interface + port.port.value,
                     netio::prefix_text(port_prefix(fabric, port)));
}

netio::Ipv6Prefix link_prefix(const ExportedFabric& fabric, const Link& link) {
  netio::Ipv6Prefix prefix = port_prefix(fabric, link.a);
  prefix.address[15] = 0;
  return prefix;
}

void add_script(const ExportedFabric& fabric, const NodeSite& site, std::string& text) {
  const NodeSetup setup = node_setup(fabric, site.id);
  text += "    config.inline: |\n      #!/bin/sh\n";
  for (const auto& [name, value] : setup.sysctls) {
    text += fmt::format("      sysctl -w {}={}\n", name, value);
  }
  for (const std::string& command : setup.commands) text += "      " + command + "\n";
}

void add_node(const ExportedFabric& fabric, const NodeSite& site, std::string& text) {
  const bool is_host = fabric.is_host(site.id);
  text +=
      fmt::format("  {}:\n    device: {}\n    clab.image: {}\n", yaml_word(fabric.name(site.id)),
                  is_host ? "linux" : "frr", yaml_string(fabric.image(site.id)));
  if (fabric.options().bare) return;
  if (has_static_routes(fabric, site.id)) {
    text += "    module: [ routing ]\n    routing.static:\n";
    for (const netio::Route& route : exported_routes(fabric, site.id, true)) {
      text += fmt::format("    - {{ipv6: \"{}\", nexthop: {{ipv6: \"{}\"}}}}\n",
                          netio::prefix_text(route.destination), to_string(*route.via));
    }
  }
  add_script(fabric, site, text);
}

}  // namespace

ExportedLab export_netlab(const FabricShape& shape, const ExportOptions& options,
                          const std::string& command) {
  const ExportedFabric fabric(shape, options, netlab_tool());
  const Topology& topology = fabric.topology();
  std::vector<std::string> notes = export_notes(fabric, "a netlab topology", command);
  if (topology.routing.is_fare()) {
    notes.emplace_back(
        "BGP (routing: fare) is not configured: netlab's module has no link bandwidth.");
  }
  std::string text = as_comment(notes) + "name: " + yaml_word(lab_name(topology.name)) +
                     "\nprovider: clab\nplugin: [ files ]\ndefaults.device: frr\n";
  if (topology.nodes.size() > kUsualNodes) {
    text += fmt::format("defaults.const.MAX_NODE_ID: {}\n", topology.nodes.size());
  }
  if (options.link_mtu != 0) {
    text += fmt::format("defaults.interfaces.mtu: {}\n", fabric.link_mtu());
  }
  text += "nodes:\n";
  for (const NodeSite& site : topology.nodes) add_node(fabric, site, text);
  text += "links:\n";
  for (const Link& link : topology.links) {
    text +=
        fmt::format("- {}\n  {}\n  type: p2p\n  prefix.ipv6: \"{}\"\n", end_text(fabric, link.a),
                    end_text(fabric, link.b), netio::prefix_text(link_prefix(fabric, link)));
  }
  return {std::move(text), {}};
}

}  // namespace mrclab::lab
