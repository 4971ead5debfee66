#include "fabric/topology/programs/program_table.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "fabric/base/byte_order.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/pattern.h"
#include "fabric/topology/routes.h"

namespace mrclab {
namespace {

constexpr uint64_t key_of(NodeId at, Usid usid) { return uint64_t{at.value} << 16 | usid.value; }
constexpr size_t place_of(uint64_t key, size_t size) {
  return (key * 0x9E37'79B9'7F4A'7C15u) >> (64 - std::countr_zero(size));
}

bool is_host(const Topology& topology, NodeId node) {
  return topology.node(node).role == NodeRole::kHost;
}

bool hangs_on(const Topology& topology, uint32_t host, NodeId of_switch) {
  const NodeId node = topology.host(host);
  for (uint32_t i = 0; i < topology.node(node).ports.size(); ++i) {
    if (topology.planned_peer({node, PortId{i}}).node == of_switch) return true;
  }
  return false;
}

}  // namespace

ProgramTable::ProgramTable(const Topology& topology) {
  size_t entries = 1;
  for (const NodeSite& site : topology.nodes) {
    if (site.role != NodeRole::kHost) entries += 2 * site.ports.size();
  }
  steps_.resize(std::bit_ceil(2 * entries));
  const bool links = topology.segments == Segments::kAdjacency;
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      const NodeId to = topology.planned_peer(port).node;
      if (!is_host(topology, to)) {
        add(site.id, links ? adjacency_usid(topology, port) : topology.node(to).usid, to);
      } else if (topology.decap == Decap::kNic) {
        for (const Usid usid : usids_behind(topology, port)) add(site.id, usid, to);
      }
    }
  }
}

void ProgramTable::add(NodeId at, Usid usid, NodeId to) {
  const uint64_t key = key_of(at, usid);
  size_t place = place_of(key, steps_.size());
  while (steps_[place].key != 0 && steps_[place].key != key) place = (place + 1) % steps_.size();
  steps_[place] = {key, to};
}

const ProgramTable::Step* ProgramTable::find(NodeId at, Usid usid) const {
  const uint64_t key = key_of(at, usid);
  for (size_t place = place_of(key, steps_.size());; place = (place + 1) % steps_.size()) {
    if (steps_[place].key == key) return &steps_[place];
    if (steps_[place].key == 0) return nullptr;
  }
}

/// Where carriers name switches, the first is the sender's own; where they name links, a switch itself is named last.
ProgramTable::Way ProgramTable::follow(const Topology& topology, PortRef nic,
                                       const Ipv6Address& carrier) const {
  const bool links = topology.segments == Segments::kAdjacency;
  NodeId at = topology.planned_peer(nic).node;
  Way way;
  way.switches[way.count++] = at;
  bool named = false;
  uint32_t position = 0;
  const auto usid_at = [&](uint32_t place) {
    return Usid{load_be<uint16_t>(carrier.data() + kUsidBlockBits / 8 + 2 * place)};
  };
  for (; position < kUsidsInCarrier && usid_at(position).value != 0; ++position) {
    const Usid usid = usid_at(position);
    if (way.receiver) return way;  // something behind the NIC
    if (usid == topology.node(at).usid) {
      if (std::exchange(named, true)) return way;
      continue;
    }
    const Step* const step = find(at, usid);
    if (step == nullptr) return way;
    const bool to_host = is_host(topology, step->to);
    if (named != (to_host || !links)) return way;
    if (to_host) {
      way.receiver = topology.node(step->to).index;
    } else {
      way.switches[way.count++] = at = step->to;
    }
  }
  for (; position < kUsidsInCarrier; ++position) {
    if (usid_at(position).value != 0) return way;  // RFC 9800 section 6.3: unused bits are zero
  }
  way.ends = named && (way.receiver.has_value() || topology.decap == Decap::kLeaf);
  return way;
}

Denial ProgramTable::judge(const Topology& topology, PortRef nic, const Ipv6Address& carrier,
                           std::optional<uint32_t> inner) const {
  const Way way = follow(topology, nic, carrier);
  if (!way.ends) return Denial::kProgram;
  const NodeId last = way.switches[way.count - 1];
  const std::optional<uint32_t> receiver = way.receiver ? way.receiver : inner;
  if (!receiver || (!way.receiver && !hangs_on(topology, *receiver, last))) return Denial::kProgram;
  const uint32_t self = topology.node(nic.node).index;
  const uint32_t between = way.count - 1;  // links between switches
  if (*receiver == self) {
    const bool cross = topology.mapper.cross && between == 4 && last == way.switches[0];
    const bool probe = topology.mapper.on && (between == 0 || between == 2 || cross);
    return probe ? Denial::kNone : Denial::kProgram;
  }
  const bool fits = topology.regular()
                        ? between == 0 || between == 2
                        : topology.graph->links_between(last, way.switches[0]) == between;
  if (!fits) return Denial::kProgram;
  return same_tenant(topology, self, *receiver) ? Denial::kNone : Denial::kTenant;
}

bool same_tenant(const Topology& topology, uint32_t a, uint32_t b) {
  const std::vector<uint16_t>& of = topology.tenant_of;
  return of.empty() || of[a] == of[b];
}

void provision(const FabricShape& shape, Topology& topology) {
  topology.authorise = shape.authorise;
  topology.tenants.clear();
  topology.tenant_of.clear();
  NameResolver names(topology, 0);
  for (const ZoneShape& tenant : shape.tenants) {
    Tenant& of = topology.tenants.emplace_back(Tenant{tenant.name, {}});
    topology.tenant_of.resize(topology.hosts, 0);
    for (const std::string& pattern : tenant.nodes) {
      for (const NodeId node : names.hosts(pattern)) {
        const uint32_t host = topology.node(node).index;
        uint16_t& number = topology.tenant_of[host];
        const auto own = static_cast<uint16_t>(topology.tenants.size());
        if (number == own) continue;
        if (number != 0) {
          throw std::invalid_argument(topology.node(node).name + " in the tenants " +
                                      topology.tenants[number - 1].name + " and " + of.name);
        }
        number = own;
        of.hosts.push_back(host);
      }
    }
    std::sort(of.hosts.begin(), of.hosts.end());
  }
  topology.programs = topology.authorise == Authorise::kOff
                          ? nullptr
                          : std::make_shared<const ProgramTable>(topology);
}

}  // namespace mrclab
