#include "live/bringup/node_container_files.h"

#include "fabric/topology/path.h"
#include "live/bringup/management_network.h"
#include "netio/kernel/open_vswitch.h"

namespace mrclab::lab {

void write_hosts_file(const Topology& topology, const std::filesystem::path& lab_directory) {
  std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
  // Of a name with addresses of both kinds the C library gives that of IPv6 first: `ping h5` goes over the fabric. What
  // asks for IPv4 alone, as perftest does, gets the management network.
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const std::string& name = topology.node(topology.host(host)).name;
    text += to_string(host_address(topology, host)) + " " + name + "\n";
  }
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const std::string& name = topology.node(topology.host(host)).name;
    text += management_address_text(host) + " " + name + " " + name + ".mgmt\n";
  }
  netio::write_file(lab_directory / "hosts", text);
}

netio::NodeContainer node_container(const std::filesystem::path& lab_directory,
                                    std::string_view node) {
  netio::NodeContainer container;
  container.hostname = node;
  container.run_directory = lab_directory / "nodes" / node / "run";
  container.hosts_file = lab_directory / "hosts";
  std::error_code failed;
  std::filesystem::create_directories(container.run_directory, failed);
  if (!failed && netio::is_ovs_switch(lab_directory, node)) {
    container.ovs_directory = netio::ovs_folder(lab_directory);
    std::filesystem::create_directories(container.run_directory / "openvswitch", failed);
  }
  if (failed) {
    throw netio::SystemError("make folder " + container.run_directory.string(), failed.value());
  }
  return container;
}

}  // namespace mrclab::lab
