#pragma once
// Addresses of hosts in the management network beside the fabric: what programs use before they have a queue pair (their
// own TCP connections, of IPv4). One rule for all who need it: the live lab, the simulated world, the environment of
// programs.

#include <cstdint>

namespace mrclab::verbs {

/// 10.255.0.0/16, host order.
inline constexpr uint32_t kManagementNetwork = 0x0AFF'0000;
inline constexpr uint8_t kManagementBits = 16;
/// Hosts that have an address there.
inline constexpr uint32_t kMaxManagedHosts = 0xFFFE;
/// Its interface in each host.
inline constexpr const char* kManagementInterface = "mgmt0";

/// h0 is 10.255.0.1, h1 10.255.0.2, h255 10.255.1.0; host order. `host` is below kMaxManagedHosts.
constexpr uint32_t management_address(uint32_t host) { return kManagementNetwork + host + 1; }

/// The host that has the address; UINT32_MAX where none can have it.
constexpr uint32_t managed_host(uint32_t address) {
  const uint32_t place = address - kManagementNetwork;
  return place >= 1 && place <= kMaxManagedHosts ? place - 1 : UINT32_MAX;
}

}  // namespace mrclab::verbs
