#pragma once
// The forwarding table of a switch of a running lab, in one form for every forwarder: our daemon is
// asked, the kernel's routes are read, or Open vSwitch's rules, each with its counters.

#include <nlohmann/json.hpp>
#include <string>

#include "fabric/topology/topology.h"
#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// {"node", "forwarding", "rows": [{"usid"? or "hosts"?, "action", "port"?, "packets"?, "bytes"?,
/// "errors"?}]}. Actions: "End" (the own uSID: shift), "End.X", "End.DT6", "via" (leaves by `port`),
/// "hash" (by one of the ports "u0,u1"; of Open vSwitch, of those that have carrier), "weigh" (by
/// "u0*5,u1*4", each with its share; then "speaker" has the routes behind it, as in switchd/table_json.h), "drop".
/// "hosts" such as "h4-h7" are where packets without a carrier go. A counter that the forwarder does
/// not have is left out. Bytes: of our switches and Open vSwitch whole Ethernet frames (there with the
/// time trailer), of the kernel IP packets. Throws for a lab that does not answer.
nlohmann::json switch_table(const Topology& topology, const LabRecord& record, NodeId node);

}  // namespace mrclab::lab
