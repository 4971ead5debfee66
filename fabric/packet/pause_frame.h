#pragma once
// Priority-based flow control (IEEE 802.1Qbb): a frame to the neighbour that stops one or several of its
// traffic classes for a time, or lets them go on. It is consumed by the port that it arrives at.
//
//   01:80:c2:00:00:01 | source MAC | 0x8808 | opcode 0x0101 | class vector 2 | 8 x quanta 2 | pad to 60
//
// One quantum is 512 bit times of the link. Data of RoCE has priority 3 here, as in most public
// configurations; frames carry no VLAN tag, the DSCP names the class.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab {

inline constexpr uint16_t kPauseEthertype = 0x8808;
inline constexpr size_t kPauseFrameBytes = 60;
inline constexpr uint8_t kLosslessPriority = 3;
/// What we ask for: the longest time. Who asked repeats it after half of that.
inline constexpr uint16_t kPauseQuanta = 0xFFFF;

struct PauseFrame {
  uint8_t classes = 0;  ///< bit n: the frame is about priority n
  std::array<uint16_t, 8> quanta{};
  bool operator==(const PauseFrame&) const = default;
};

/// Has it the ethertype of MAC control frames?
bool is_mac_control(std::span<const uint8_t> ethernet_frame);
/// Parses any bytes at all; empty for anything but a whole frame of priority-based flow control.
std::optional<PauseFrame> parse_pause(std::span<const uint8_t> ethernet_frame);
void write_pause(const PauseFrame& pause, const MacAddress& source,
                 std::span<uint8_t, kPauseFrameBytes> out);
/// A frame about RoCE's data alone; 0 quanta let it go on. Empty if the pool is exhausted.
Frame make_pause(FramePool& pool, const MacAddress& source, uint16_t quanta);

/// The quanta that a frame asks for of RoCE's data; empty if that class is not enabled in it.
std::optional<uint16_t> lossless_quanta(std::span<const uint8_t> ethernet_frame);
/// How long so many quanta are on a link of this rate.
FabricTime pause_time(uint16_t quanta, BitRate rate);

/// The room that a port of a switch keeps for what still comes after it has asked its neighbour to stop: what
/// is under way on both directions of the cable, what waits in the pipelines of both nodes, and a frame that
/// each of the two is sending (IEEE 802.1Qbb annex O, with our nodes' latencies as reaction times).
Bytes pause_headroom(const Topology& topology, WireId in);

}  // namespace mrclab
