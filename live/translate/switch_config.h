#pragma once
// A switch's part of the uSID fabric in the words of the program that stands in its place: its address on each
// link, its own uSID (uN), its links (uA, with `segments: adjacency`), routes to its neighbours' uSIDs. Where a
// program has no words for something, `unsaid` lists it.

#include <string>
#include <vector>

#include "live/bgpd/speaker_plan.h"
#include "live/translate/exported_fabric.h"

namespace mrclab::lab {

/// With `routing: fare`: what the switch's BGP speaker is to be, by that lab's interfaces.
SpeakerPlan exported_speaker(const ExportedFabric& fabric, NodeId switch_node);

/// A uSID as an address: the block, the uSID, zeros.
std::string usid_address(Usid usid);
/// SONiC's name of a switch's port by its number there: four lanes each.
std::string sonic_port(uint32_t port);

/// FRR 8.4 and later: static routes, and BGP with `routing: fare`. The uSIDs themselves are the kernel's, by
/// node_setup(): FRR can set them only from 10.3 on (staticd, `static-sids`).
std::string frr_config_of(const ExportedFabric& fabric, NodeId switch_node);
/// The file /etc/frr/daemons.
std::string frr_daemons(const ExportedFabric& fabric);

/// SONiC: lines for sh that fill CONFIG_DB (SRV6_MY_LOCATORS and SRV6_MY_SIDS of the static SRv6 design) and give
/// FRR its static routes. Throws InputError for more ports than the virtual switch has.
std::vector<std::string> sonic_commands(const ExportedFabric& fabric, NodeId switch_node);

/// EOS 4.34.2F and later.
std::string eos_config(const ExportedFabric& fabric, NodeId switch_node);

/// What of this fabric the program in the place of switches does not do or cannot express, a sentence each.
std::vector<std::string> unsaid(const ExportedFabric& fabric);

}  // namespace mrclab::lab
