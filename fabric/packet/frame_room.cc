#include "fabric/packet/frame_room.h"

#include <algorithm>

namespace mrclab {
namespace {

/// Messages of BGP are longer than the headers of data.
constexpr FrameRoom kRoutingRoom{1600, 0};

/// Our choice: four times what neighbour discovery takes.
constexpr size_t kKernelFrameBytes = 448;

}  // namespace

FrameRoom frame_room(const Topology& topology, bool payload_elided) {
  if (!payload_elided) return {};
  return topology.routing.is_fare() ? kRoutingRoom : kHeaderRoom;
}

FrameRoom room_on_wires(const Topology& topology, bool payload_elided) {
  FrameRoom room = frame_room(topology, payload_elided);
  room.frame = std::max(room.frame, kKernelFrameBytes);
  room.trailer = kTrailerReserve;
  room.short_frame = 0;  // a trailer is written behind a frame of any length
  return room;
}

}  // namespace mrclab
