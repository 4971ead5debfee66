#include "live/bringup/bring_up.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "fabric/topology/path.h"
#include "live/bringup/management_network.h"
#include "live/bringup/node_container_files.h"
#include "live/bringup/node_plan.h"
#include "netio/kernel/link.h"
#include "netio/kernel/route.h"
#include "netio/system/descriptor_room.h"
#include "netio/system/parallel.h"

namespace mrclab::lab {
namespace {

using netio::NamespaceNetlink;
using netio::NetworkNamespace;

/// The place of our first rule: behind the kernel's rule for the local table (0) and before its
/// rule for the main one (32766).
constexpr uint32_t kFirstRule = 1000;

/// What the kernel does for different namespaces it does side by side only between its locks, so more threads than
/// these gain nothing. (Links are made under one lock from beginning to end.)
constexpr size_t kThreads = 2;

/// Two descriptors per node, two others for who watches it, and some for everything else.
void make_room_for_nodes(size_t nodes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  netio::make_room_for_descriptors(4 * nodes + 64);
}

std::vector<std::string> node_names(const Topology& topology) {
  std::vector<std::string> names;
  for (const NodeSite& site : topology.nodes) names.push_back(site.name);
  return names;
}

}  // namespace

class LiveFabric::Impl {
 public:
  Impl(const Topology& topology, std::string lab, LabPaths paths)
      : topology_(topology),
        lab_(std::move(lab)),
        paths_(std::move(paths)),
        instance_(random_instance()),
        link_up_(topology.links.size(), true) {}

  void make_namespaces(const BringUpProgress& progress) {
    LabRecord record{lab_,
                     topology_.name,
                     instance_,
                     boot_id(),
                     mark_of(::getpid(), "mrclab"),
                     node_names(topology_)};
    require_lab_name(lab_);
    for (const NodeSite& site : topology_.nodes) plans_.push_back(plan_node(topology_, site.id));
    make_room_for_nodes(topology_.nodes.size());
    create_record(paths_, record);
    recorded_ = true;
    write_hosts_file(topology_, paths_.lab_directory(lab_));
    create_namespaces(progress);
  }

  void connect(const BringUpProgress& progress) {
    create_links(progress);
    set_all_up(progress);
    configure_all(progress);
  }

  void set_link(LinkId id, bool up) {
    const Link& link = topology_.link(id);
    for (const PortRef& end : {link.a, link.b}) {
      if (up) {
        netlink(end.node).queue_up(device(end));
      } else {
        netlink(end.node).queue_down(device(end));
      }
    }
    link_up_[id.value] = up;  // the wanted state: NodeLinks compares the kernel's with it
    flush_both(link);
    if (!up) return;
    for (const PortRef& end : {link.a, link.b}) confirm_carrier(end);
    for (const PortRef& end : {link.a, link.b}) {
      const NodePlan& plan = plans_[end.node.value];
      if (!plan.ipv6) continue;
      netio::RouteBatch batch(netlink(end.node));
      configure_port(batch, plan.ports[end.port.value]);
      // The kernel dropped this way from the routes over the port, and
      // removed a route with its last way.
      for (const netio::Route& route : plan.peer_routes) {
        if (leads_over(route, device(end))) queue_peer_route(batch, end.node, route);
      }
      batch.commit();
    }
  }

  /// Sends what is queued for both ends, for the second one even if the first no longer exists.
  void flush_both(const Link& link) {
    try {
      netlink(link.a.node).flush();
    } catch (const netio::SystemError&) {
      netlink(link.b.node).flush();
      throw;
    }
    netlink(link.b.node).flush();
  }

  void replace_peer_route(uint32_t from, uint32_t to, netio::Route route) {
    const NodeId node = topology_.host(from);
    netio::Route& known = plans_[node.value].peer_routes[to];
    known = std::move(route);
    netio::RouteBatch batch(netlink(node));
    queue_peer_route(batch, node, known);
  }

  void make_management_network() {
    if (management_) return;
    const std::string name = lab::namespace_name(lab_, kManagementName);
    management_.emplace(name, topology_, namespaces_, netlinks_,
                        [&](uint64_t cookie) { record_namespace(paths_, lab_, name, cookie); });
  }

  void tear_down() {
    if (!recorded_) return;
    management_.reset();
    netlinks_.clear();
    namespaces_.clear();
    const CleanUpReport report = clean_up(lab_, paths_);
    if (!report.problems.empty()) {
      throw std::runtime_error("lab '" + lab_ +
                               "' could not be removed completely: " + report.problems.front());
    }
    recorded_ = false;
  }

  void queue_shaper(PortRef port, const netio::Shaper& shaper) {
    netio::queue_shaper(netlink(port.node), device(port), shaper);
  }

  NamespaceNetlink& netlink(NodeId node) { return netlinks_[node.value]; }
  const std::string& device(PortRef port) const {
    return plans_[port.node.value].ports[port.port.value].interface;
  }

  const Topology& topology_;
  std::string lab_;
  LabPaths paths_;
  uint64_t instance_;
  bool recorded_ = false;
  std::vector<NodePlan> plans_;               ///< by NodeId
  std::vector<NetworkNamespace> namespaces_;  ///< by NodeId
  std::vector<NamespaceNetlink> netlinks_;    ///< by NodeId
  std::vector<bool> link_up_;                 ///< by LinkId
  std::optional<ManagementNetwork> management_;

 private:
  void create_namespaces(const BringUpProgress& progress) {
    struct Made {
      std::optional<NetworkNamespace> ns;
      std::optional<NamespaceNetlink> netlink;
    };
    const auto& nodes = topology_.nodes;
    std::vector<Made> made(nodes.size());  // where one fails, those that are there go again
    StepCount count(progress, "namespaces", nodes.size());
    const auto make = [&](const NodeSite& site, const NetworkNamespace* shared) {
      const NodePlan& plan = plans_[site.id.value];
      const std::string name = lab::namespace_name(lab_, site.name);
      const auto record = [&](uint64_t cookie) { record_namespace(paths_, lab_, name, cookie); };
      Made& own = made[site.id.value];
      own.ns = shared ? shared->with_name(name, record)
                      : NetworkNamespace::create(name, plan.sysctls, plan.ipv6, record);
      own.netlink.emplace(*own.ns);
      count.add();
    };
    netio::in_parallel(nodes.size(), kThreads, [&](size_t i) {
      if (!shares_namespace(nodes[i])) make(nodes[i], nullptr);
    });
    const NetworkNamespace* shared = nullptr;
    for (const NodeSite& site : nodes) {
      if (!shares_namespace(site)) continue;
      make(site, shared);
      if (shared == nullptr) shared = &*made[site.id.value].ns;
    }
    for (Made& own : made) {
      namespaces_.push_back(std::move(*own.ns));
      netlinks_.push_back(std::move(*own.netlink));
    }
  }

  netio::VethEnd veth_end(PortRef ref) const {
    const Port& port = topology_.port(ref);
    return {&namespaces_[ref.node.value], device(ref), port.mac, {}};
  }

  void create_links(const BringUpProgress& progress) {
    std::vector<netio::VethPair> pairs;
    for (const Link& link : topology_.links) {
      pairs.push_back({veth_end(link.a), veth_end(link.b), port_mtu()});
    }
    for (const NodeSite& site : topology_.nodes) {
      if (!plans_[site.id.value].needs_stub) continue;
      const NetworkNamespace* ns = &namespaces_[site.id.value];
      const uint32_t mtu = plans_[site.id.value].stub_mtu;
      pairs.push_back({{ns, kStubInterface, kStubMac, {}}, {ns, kStubPeer, kStubPeerMac, {}}, mtu});
    }
    // In portions, so that a big fabric shows its progress.
    constexpr size_t kPortion = 64;
    const std::span<const netio::VethPair> all(pairs);
    StepCount count(progress, "links", all.size());
    for (size_t first = 0; first < all.size(); first += kPortion) {
      const auto portion = all.subspan(first, std::min(kPortion, all.size() - first));
      netio::create_veths(portion);
      count.add(portion.size());
    }
  }

  void set_all_up(const BringUpProgress& progress) {
    const auto& nodes = topology_.nodes;
    StepCount count(progress, "interfaces", nodes.size());
    netio::in_parallel(nodes.size(), kThreads, [&](size_t i) {
      set_node_up(nodes[i]);
      count.add();
    });
    netio::in_parallel(nodes.size(), kThreads, [&](size_t i) {
      for (uint32_t port = 0; port < nodes[i].ports.size(); ++port) {
        confirm_carrier({nodes[i].id, PortId{port}});
      }
      if (!plans_[i].needs_stub) return;
      for (const char* end : {kStubInterface, kStubPeer}) confirm_carrier(nodes[i].id, end);
    });
  }

  void set_node_up(const NodeSite& site) {
    NamespaceNetlink& node = netlink(site.id);
    const NodePlan& plan = plans_[site.id.value];
    std::vector<std::string> names;
    for (uint32_t i = 0; i < plan.ports.size(); ++i) {
      names.push_back(plan.ports[i].interface);
      node.queue_altname(names.back(), topology_.port_name({site.id, PortId{i}}));
    }
    if (plan.needs_stub) names.insert(names.end(), {kStubInterface, kStubPeer});
    if (plan.ipv6) netio::disable_offloads(namespaces_[site.id.value], names);
    for (const std::string& name : names) node.queue_up(name);
    node.flush();
  }

  /// After a carrier change a veth drops frames without a counter until the kernel's link watch has
  /// run, which may be a second later; asking for the link makes it run now.
  void confirm_carrier(PortRef port) { confirm_carrier(port.node, device(port)); }

  void confirm_carrier(NodeId node, const std::string& interface) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (netlink(node).link(interface).carrier) return;
    }
    throw std::runtime_error(topology_.node(node).name + ": " + interface +
                             " has no carrier although it is up");
  }

  static bool leads_over(const netio::Route& route, const std::string& device) {
    return std::any_of(route.ways.begin(), route.ways.end(),
                       [&](const netio::RouteWay& way) { return way.dev == device; });
  }

  /// Queues the route with those of its ways whose link is up, because the
  /// kernel refuses the others.
  void queue_peer_route(netio::RouteBatch& batch, NodeId host, const netio::Route& wanted) const {
    const NodeSite& site = topology_.node(host);
    netio::Route route = wanted;
    std::erase_if(route.ways, [&](const netio::RouteWay& way) {
      return std::any_of(site.ports.begin(), site.ports.end(), [&](const Port& port) {
        return port.name() == way.dev && !link_up_[port.link.value];
      });
    });
    if (route.ways.empty()) {
      batch.remove_route(route);
    } else {
      batch.route(route, ENETDOWN);
    }
  }

  static void configure_port(netio::RouteBatch& batch, const PortPlan& port) {
    for (const netio::Ipv6Prefix& address : port.addresses) batch.address(port.interface, address);
    batch.neighbour(port.interface, other_end(), port.peer_mac);
    for (const Ipv6Address& address : port.neighbours) {
      batch.neighbour(port.interface, address, port.peer_mac);
    }
    for (const netio::Route& route : port.routes) batch.route(route);
  }

  void configure_all(const BringUpProgress& progress) {
    const auto& nodes = topology_.nodes;
    StepCount count(progress, "addresses and routes", nodes.size());
    std::vector<netio::RouteBatch> batches;
    for (const NodeSite& site : nodes) batches.emplace_back(netlink(site.id));
    netio::in_parallel(nodes.size(), kThreads, [&](size_t i) {
      if (plans_[i].ipv6) configure_node(plans_[i], batches[i]);
      count.add();
    });
    // The kernel makes an address usable some time later, without a report: all are waited for together.
    netio::in_parallel(nodes.size(), kThreads, [&](size_t i) { batches[i].commit(); });
  }

  static void configure_node(const NodePlan& plan, netio::RouteBatch& batch) {
    for (const netio::Ipv6Prefix& address : plan.loopback_addresses) batch.address("lo", address);
    for (uint32_t i = 0; i < plan.rules.size(); ++i) batch.rule(plan.rules[i], kFirstRule + i);
    if (!plan.rules.empty()) batch.neighbour(kStubInterface, other_end(), kStubPeerMac);
    for (const netio::Route& route : plan.fixed_routes) batch.route(route);
    for (const PortPlan& port : plan.ports) configure_port(batch, port);
    for (const netio::Route& route : plan.peer_routes) {
      if (!route.ways.empty()) batch.route(route);
    }
    batch.flush();
  }
};

LiveFabric::LiveFabric(const Topology& topology, std::string lab, const BringUpProgress& progress,
                       LabPaths paths)
    : LiveFabric(NamespacesAlone{}, topology, std::move(lab), progress, std::move(paths)) {
  connect(progress);
}

LiveFabric::LiveFabric(NamespacesAlone, const Topology& topology, std::string lab,
                       const BringUpProgress& progress, LabPaths paths)
    : impl_(std::make_unique<Impl>(topology, std::move(lab), std::move(paths))) {
  try {
    impl_->make_namespaces(progress);
  } catch (...) {
    try {
      impl_->tear_down();
    } catch (const std::exception&) {
      // The reason why it did not come up matters more; `down` removes what is left.
    }
    throw;
  }
}

void LiveFabric::connect(const BringUpProgress& progress) { impl_->connect(progress); }

LiveFabric::~LiveFabric() {
  try {
    tear_down();
  } catch (const std::exception&) {
    // The record is still there, so that `down` can finish.
  }
}

const Topology& LiveFabric::topology() const { return impl_->topology_; }
const std::string& LiveFabric::lab() const { return impl_->lab_; }
const LabPaths& LiveFabric::paths() const { return impl_->paths_; }
std::filesystem::path LiveFabric::run_directory() const {
  return impl_->paths_.lab_directory(impl_->lab_);
}
uint64_t LiveFabric::instance() const { return impl_->instance_; }
uint32_t LiveFabric::lab_id() const { return static_cast<uint32_t>(impl_->instance_); }

std::string LiveFabric::namespace_name(NodeId node) const {
  return lab::namespace_name(impl_->lab_, impl_->topology_.node(node).name);
}
const netio::NetworkNamespace& LiveFabric::network_namespace(NodeId node) const {
  return impl_->namespaces_.at(node.value);
}
int LiveFabric::interface_index(PortRef port) const {
  return static_cast<int>(impl_->netlink(port.node).ifindex(impl_->device(port)));
}

const NodePlan& LiveFabric::plan(NodeId node) const { return impl_->plans_.at(node.value); }
netio::NamespaceNetlink& LiveFabric::netlink(NodeId node) { return impl_->netlink(node); }

void LiveFabric::queue_shaper(PortRef port, const netio::Shaper& shaper) {
  impl_->queue_shaper(port, shaper);
}

void LiveFabric::queue_peer_route(uint32_t from, uint32_t to, netio::Route route) {
  impl_->replace_peer_route(from, to, std::move(route));
}
void LiveFabric::set_link(LinkId link, bool up) { impl_->set_link(link, up); }
bool LiveFabric::link_is_up(LinkId link) const { return impl_->link_up_[link.value]; }

void LiveFabric::make_management_network() { impl_->make_management_network(); }
bool LiveFabric::has_management_network() const { return impl_->management_.has_value(); }

void LiveFabric::record_process(const ProcessMark& process) {
  lab::record_process(impl_->paths_, impl_->lab_, process);
}

void LiveFabric::tear_down() { impl_->tear_down(); }

}  // namespace mrclab::lab
