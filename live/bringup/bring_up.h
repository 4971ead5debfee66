#pragma once
// A topology as namespaces, veths, addresses and routes of this machine, owned by one object: the
// order of its members is the order of tearing down, in reverse.
//
//   namespace mrclab-<lab>-<node> per node; a veth per link, both ends born inside, with the short
//   port names and MAC addresses of the topology; nothing is ever in the root namespace.
//   Hosts:    fd00:<row>::<host> on lo; to each other host a route that spreads flows over ways with
//             encap.red and the carrier of a path, one out of each port; End.DT6 for the host's own
//             f uSIDs; its e uSIDs (MRC) fall into a blackhole, so that the kernel never answers for
//             the transport. IPv6 is on, but silent.
//   The network beside the fabric, once somebody needs it: management_network.h.
//   Switches: IPv6 off. With `forwarding: kernel` on, with seg6local End (next-csid) and routes.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/topology.h"
#include "live/bringup/lab_record.h"
#include "live/bringup/node_plan.h"
#include "live/bringup/step_count.h"
#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"
#include "netio/kernel/shaper.h"

namespace mrclab::lab {

class LiveFabric {
 public:
  /// Brings it up; throws InputError (the name is taken) or netio::SystemError (rights,
  /// kernel features), leaving nothing behind. Needs root. The calling thread's namespace is
  /// unchanged afterwards. The topology must outlive it.
  LiveFabric(const Topology& topology, std::string lab, const BringUpProgress& progress = {},
             LabPaths paths = {});
  /// The record and the namespaces alone, for who has something to start in them while connect() makes the rest.
  struct NamespacesAlone {};
  LiveFabric(NamespacesAlone, const Topology& topology, std::string lab,
             const BringUpProgress& progress = {}, LabPaths paths = {});
  /// Makes links, addresses and routes. Throws as the constructors do; what is there goes with this object.
  void connect(const BringUpProgress& progress = {});
  /// Tears down what is left.
  ~LiveFabric();
  LiveFabric(const LiveFabric&) = delete;
  LiveFabric& operator=(const LiveFabric&) = delete;

  const Topology& topology() const;
  const std::string& lab() const;
  const LabPaths& paths() const;
  /// /run/mrclab/<lab>: everything put here goes away with the lab.
  std::filesystem::path run_directory() const;
  /// Random, also in the environment of every child (instance_variable()).
  uint64_t instance() const;
  /// The low half of instance(), never 0: what time trailers carry as lab id.
  uint32_t lab_id() const;

  std::string namespace_name(NodeId node) const;
  const netio::NetworkNamespace& network_namespace(NodeId node) const;
  /// The kernel's index of a port's interface, inside its node's namespace.
  int interface_index(PortRef port) const;

  const NodePlan& plan(NodeId node) const;
  netio::NamespaceNetlink& netlink(NodeId node);

  /// Shapes what leaves a port; flush() of its node's netlink waits.
  void queue_shaper(PortRef port, const netio::Shaper& shaper);

  /// Sets both ends of a link down, or up again with addresses, neighbours and routes as they were.
  void set_link(LinkId link, bool up);
  bool link_is_up(LinkId link) const;
  /// Queues another route for ordinary traffic from one host to another; a route without ways
  /// removes it. The kernel gets the ways whose link is up, and each of the others when its link
  /// comes up. The flush() of the host's netlink sends it and waits for the answer.
  void queue_peer_route(uint32_t from, uint32_t to, netio::Route route);

  /// Makes the management network (management_network.h), once; `mgmt0` of each host is there afterwards. Throws
  /// SystemError; then there is none, and a later call tries again.
  void make_management_network();
  bool has_management_network() const;

  /// Writes a child down, for clean-up after a crash.
  void record_process(const ProcessMark& process);

  /// Removes namespaces (and with them all links and routes), files and record; kills recorded
  /// processes that still run. Idempotent; reports what could not be removed by throwing last.
  void tear_down();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a clean-up removed, for the user to read.
struct CleanUpReport {
  size_t namespaces = 0;
  size_t processes = 0;
  size_t files = 0;
  std::vector<std::string> problems;  ///< what could not be removed, with the reason
  /// What looks like a lab's and is none that was recorded: "namespace mrclab-x-h0", a folder.
  std::vector<std::string> left_alone = {};
};

/// Removes everything of one lab from its record alone: processes first, then namespaces, then
/// files, the record last. Touches nothing that is not recorded as that lab's, whatever its name.
CleanUpReport clean_up(std::string_view lab, const LabPaths& paths = {});
/// Every recorded lab.
CleanUpReport clean_up_all(const LabPaths& paths = {});

}  // namespace mrclab::lab
