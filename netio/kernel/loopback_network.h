#pragma once
// A network of one namespace without a name, in which every address of an IPv4 network is this machine's own: for
// programs that are to reach each other by addresses of many hosts, and nobody else. It dies with its last descriptor.

#include <cstdint>

#include "netio/kernel/namespace.h"

namespace mrclab::netio {

/// All of `address`/`bits` (host order) on loopback. Made by a thread of its own, so that this process stays where it is. Throws
/// SystemError: EPERM without the right to make namespaces.
NetworkNamespace make_loopback_network(uint32_t address, uint8_t bits);

}  // namespace mrclab::netio
