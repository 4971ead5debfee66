#pragma once
// How long the frames of a world are.

#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Room for every frame that the nodes of this fabric make. Where the payload is elided that is little, and nothing
/// is reserved behind a frame: more of them are in a cache at once.
FrameRoom frame_room(const Topology& topology, bool payload_elided);

/// The same for frames on veths: behind each there is room for its trailer, and short frames that a kernel sends of
/// its own accord, such as neighbour discovery, have room, too.
FrameRoom room_on_wires(const Topology& topology, bool payload_elided);

}  // namespace mrclab
