#pragma once
// The address plan of one node, computed from a fabric's outline: what it answers to, and what it
// reaches through which port. Works for fabrics of which no graph could be made.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// What a node does with packets to a prefix.
enum class AddressAction : uint8_t {
  kInner,   ///< a host's own address, which inner headers carry
  kEnd,     ///< a switch's own uSID: End with NEXT-CSID
  kVia,     ///< forwards through `port` to `to`
  kMrc,     ///< the NIC takes MRC packets for this host
  kEndDt6,  ///< the host's kernel takes ordinary traffic
};
std::string_view name_of(AddressAction action);

struct AddressRow {
  AddressAction action = AddressAction::kVia;
  Ipv6Address prefix{};
  uint8_t bits = 0;
  std::string port;  ///< empty: the node itself
  std::string to;    ///< port at the other end, "p2.t1-7:d5"; only of kVia
  MacAddress mac{}, peer_mac{};
};

/// Rows of the node named "h70000", "p2.t0-5" or "p2.t1-7", its own first, then by port. Throws
/// InputError for a name that this fabric lacks. `outline` may lack its graph.
std::vector<AddressRow> node_addresses(const Topology& outline, std::string_view node);

std::string prefix_text(const AddressRow& row);  ///< "5f00:0:4005::/48"

/// node,port,prefix,action,to,mac,peer_mac with a line of these names.
std::string addresses_csv(std::string_view node, const std::vector<AddressRow>& rows);
/// The same for people.
std::string addresses_table(const std::vector<AddressRow>& rows);

}  // namespace mrclab::lab
