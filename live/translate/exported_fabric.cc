#include "live/translate/exported_fabric.h"

#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {

std::string_view usual_image(SwitchKind kind) {
  switch (kind) {
    case SwitchKind::kMrclab: return "mrclab";
    case SwitchKind::kFrr: return "quay.io/frrouting/frr:10.5.1";
    case SwitchKind::kSonicVs: return "docker-sonic-vs";
    case SwitchKind::kCeos: return "ceos";
  }
  return "";
}

LabTool containerlab_tool() { return {containerlab_names(), 1, kMostLinkMtu}; }
LabTool netlab_tool() { return {netlab_names(), 1, 1500}; }
LabTool kathara_tool() { return {kathara_names(), 0, 1500}; }

namespace {

FabricShape as_planned(FabricShape shape) {
  shape.miscabled.clear();
  return shape;
}

}  // namespace

ExportedFabric::ExportedFabric(const FabricShape& shape, const ExportOptions& options,
                               const LabTool& tool)
    : shape_(as_planned(shape)),
      options_(options),
      tool_(tool),
      topology_(build_topology(shape_)),
      names_(tool_names(topology_, tool.names)) {
  if (options_.switch_image.empty()) {
    options_.switch_image = options_.switches == SwitchKind::kMrclab
                                ? options_.image
                                : std::string(usual_image(options_.switches));
  }
  // So that node_plan.h plans their tables.
  for (NodeSite& site : topology_.nodes) {
    if (site.role == NodeRole::kHost) continue;
    site.forwarding = Forwarding::kKernel;
    site.speaker =
        options_.switches == SwitchKind::kFrr ? SpeakerProgram::kFrr : SpeakerProgram::kBgpd;
  }
}

std::string ExportedFabric::interface(PortRef port) const {
  return "eth" + std::to_string(tool_.first_interface + port.port.value);
}

std::string ExportedFabric::interface_of(NodeId node, const std::string& device) const {
  const Ports ports = topology_.node(node).ports;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name() == device) return interface({node, PortId{i}});
  }
  return device;
}

Ipv6Address ExportedFabric::next_hop(PortRef port) const {
  return link_address(topology_, topology_.port(port).peer);
}

const std::string& ExportedFabric::image(NodeId node) const {
  return is_host(node) ? options_.image : options_.switch_image;
}

uint32_t ExportedFabric::switch_count() const {
  return static_cast<uint32_t>(topology_.nodes.size()) - topology_.host_count();
}

}  // namespace mrclab::lab
