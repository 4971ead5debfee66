#include "standalone/endpoint.h"

#include <sys/random.h>

#include <algorithm>
#include <stdexcept>

#include "fabric/topology/path.h"
#include "standalone/peer_messages.h"

namespace mrclab::standalone {
namespace {

/// Outer and inner IPv6, UDP, BTH, METH, TSETH, RETH, immediate, ICRC.
constexpr uint32_t kHeaderBytes = 132;

netio::NetworkNamespace namespace_of(const EndpointConfig& config) {
  return config.network_namespace.empty() ? netio::NetworkNamespace::current()
                                          : netio::NetworkNamespace::open(config.network_namespace);
}

netio::WallDriver::Config driver_config(const EndpointConfig& config, bool server) {
  netio::WallDriver::Config driver;
  driver.self = NodeId{server ? 0u : 1u};
  for (const PlaneConfig& plane : config.planes) driver.interfaces.push_back(plane.interface);
  driver.dilation = {config.dilation};
  driver.socket.ring_bytes = config.ring_bytes;
  driver.socket.qdisc_bypass = config.qdisc_bypass;
  return driver;
}

endpoint::PlainModel model_of(const EndpointConfig& config) {
  endpoint::PlainModel model;
  model.planes = static_cast<uint32_t>(config.planes.size());
  model.evs_per_plane = std::max(config.evs_per_plane, 1u);
  for (const PlaneConfig& plane : config.planes) {
    model.evs_per_plane =
        std::max(model.evs_per_plane, static_cast<uint32_t>(plane.carriers.size()));
  }
  model.port_rate = config.port_rate;
  model.base_rtt = config.base_rtt;
  model.pmtu = config.pmtu;
  model.dscps = config.dscps;
  return model;
}

uint64_t seed_of(const EndpointConfig& config) {
  if (config.seed != 0) return config.seed;
  uint64_t seed = 0;
  netio::check_system_call("get random bytes", ::getrandom(&seed, sizeof seed, 0));
  return seed;
}

void check_mtu(const netio::WallDriver& driver, const EndpointConfig& config) {
  const uint32_t needed = config.pmtu + kHeaderBytes;
  for (size_t i = 0; i < config.planes.size(); ++i) {
    if (driver.mtu(i) >= needed) continue;
    throw std::invalid_argument("interface " + config.planes[i].interface + " has MTU " +
                                std::to_string(driver.mtu(i)) + "; a PMTU of " +
                                std::to_string(config.pmtu) + " needs " + std::to_string(needed));
  }
}

}  // namespace

void check_interfaces(const EndpointConfig& config) {
  FramePool frames;
  try {
    const netio::WallDriver driver(namespace_of(config), driver_config(config, true), frames);
    check_mtu(driver, config);
  } catch (const netio::SystemError& error) {
    // A name that nothing has is bad input, not a machine that cannot do it.
    if (error.error_number() != ENODEV && error.error_number() != ENOENT) throw;
    throw std::invalid_argument(error.what());
  }
}

StandaloneEndpoint::StandaloneEndpoint(const EndpointConfig& config, netio::LineChannel& channel,
                                       bool server)
    : driver_(namespace_of(config), driver_config(config, server), frames_),
      paths_(meet(config, channel, server)),
      topology_(endpoint::plain_topology(model_of(config))) {
  endpoint::HostConfig host;
  host.transport = endpoint::wall_profile(topology_);
  host.transport.icrc = config.icrc;
  host.transport.congestion_control = config.congestion_control;
  host.transport.max_psn_range = config.max_psn_range;
  host.paths = &paths_;
  host.payload_lent = true;  // the driver gathers a frame when it leaves, in the same poll()
  offer_ = endpoint::offer_of(host.transport);
  host_ = std::make_unique<endpoint::HostNode>(
      NodeEnvironment{topology_, NodeId{server ? 0u : 1u}, seed_of(config), frames_, observer_},
      host);
  driver_.run(*host_);
}

endpoint::ExplicitPathsConfig StandaloneEndpoint::meet(const EndpointConfig& config,
                                                       netio::LineChannel& channel, bool server) {
  Hello mine{config.address, {}, config.pmtu};
  check_mtu(driver_, config);
  for (size_t i = 0; i < config.planes.size(); ++i) mine.macs.push_back(driver_.mac(i));
  const Hello theirs = exchange_hello(channel, mine);
  remote_ = theirs.address;
  endpoint::ExplicitPathsConfig paths;
  paths.self = server ? 0 : 1;
  paths.local = config.address;
  paths.remote = theirs.address;
  paths.udp_port = config.udp_port;
  paths.ev_format = config.ev_format;
  paths.one_path = model_of(config).evs_per_plane == 1;
  for (size_t i = 0; i < config.planes.size(); ++i) {
    const PlaneConfig& plane = config.planes[i];
    paths.planes.push_back(
        {mine.macs[i], plane.next_hop.value_or(theirs.macs[i]), plane.carriers, plane.accepted});
  }
  return paths;
}

}  // namespace mrclab::standalone
