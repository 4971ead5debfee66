#pragma once
// What the device of a host is called and known by, to the verbs and in /sys.

#include <cstdint>

namespace mrclab::verbs {

/// "mrc0", or "roce0" where the fabric has RC.
constexpr const char* device_name(bool has_rc) { return has_rc ? "roce0" : "mrc0"; }

/// An EUI-64 of ours, locally administered, with the host's number. Value in host order.
constexpr uint64_t node_guid(uint32_t host) { return 0x0200'00FF'FE00'0000u + host + 1; }

}  // namespace mrclab::verbs
