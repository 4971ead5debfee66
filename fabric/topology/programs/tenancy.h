#pragma once
// Who may send what into a fabric, as its file says it: `authorise` and `tenants`. program_table.h has the rules.

#include <cstdint>
#include <string>
#include <vector>

namespace mrclab {

/// Where what a host sends is held against what it may send: nowhere, in its NIC, in the T0 that it hangs on, in both.
enum class Authorise : uint8_t { kOff, kNic, kT0, kBoth };
constexpr bool at_nic(Authorise where) {
  return where == Authorise::kNic || where == Authorise::kBoth;
}
constexpr bool at_t0(Authorise where) {
  return where == Authorise::kT0 || where == Authorise::kBoth;
}

/// Hosts that may send to one another and to no others.
struct Tenant {
  std::string name;
  std::vector<uint32_t> hosts;  ///< host numbers, ascending
  bool operator==(const Tenant&) const = default;
};

}  // namespace mrclab
