#pragma once
// What a node reports of pauses at its ports on request (`inspect --pauses`), and the clock behind it. The
// judge uses none of this: it goes by the pause frames of captures.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/text/report_table.h"

namespace mrclab {

/// Until when RoCE's data stands at a port, and how long it has stood there in all. Of the past it can be read
/// at any instant that is not before the last set().
class PauseClock {
 public:
  /// The neighbour asks for a pause until then, which takes the place of what it asked for before.
  void set(FabricTime until, FabricTime now) {
    stood_ = stood(now);
    from_ = now;
    until_ = until;
  }
  FabricTime until() const { return until_; }
  bool in_force(FabricTime now) const { return now < until_; }
  FabricTime stood(FabricTime now) const {
    return stood_ + std::max(std::min(now, until_) - from_, FabricTime::zero());
  }

 private:
  FabricTime from_, until_, stood_;
};

/// Counts are of pause frames about RoCE's data, by their order: stop, and go on.
struct PortPauses {
  std::string port;       ///< "d4"
  uint32_t priority = 0;  ///< of 802.1Q; RoCE's data has one
  uint64_t xoff_sent = 0, xon_sent = 0, xoff_received = 0, xon_received = 0;
  bool stands = false;    ///< a pause is in force: the neighbour has asked for it
  FabricTime stood;       ///< how long one has been, in all
  bool asks = false;      ///< the neighbour is asked to stand
  bool storm = false;     ///< the watchdog has the port
  uint64_t storms = 0;    ///< how often it took it
  Bytes held, most_held;  ///< that came in here and are still in the switch; NICs: 0
  Bytes headroom_held,
      headroom;  ///< what of it is in the room for frames behind XOFF, and that room
};

/// What a switch, or a NIC, counts of the pauses at its ports.
struct NodePauses {
  std::string watchdog;  ///< a switch's, as a fabric's file has it, or "off"; a NIC has none: empty
  Bytes buffer;          ///< a switch's, all ports together; a NIC's before its memory
  Bytes shared, shared_held;  ///< a switch's pool: its size, and what is used of it
  Bytes held;                 ///< in the buffer, of all ports
  Bytes xoff_above;           ///< a port (of a NIC: all of them) with so much asks to stop
  std::vector<PortPauses> ports;
};

template <>
inline constexpr auto kReportTable<PortPauses> = report_table<PortPauses>(
    entry("port", &PortPauses::port), entry("priority", &PortPauses::priority),
    entry("xoff_sent", &PortPauses::xoff_sent), entry("xon_sent", &PortPauses::xon_sent),
    entry("xoff_received", &PortPauses::xoff_received),
    entry("xon_received", &PortPauses::xon_received), entry("stands", &PortPauses::stands),
    entry("stood_ps", &PortPauses::stood), entry("asks", &PortPauses::asks),
    entry("storm", &PortPauses::storm), entry("storms", &PortPauses::storms),
    entry("held_bytes", &PortPauses::held), entry("most_held_bytes", &PortPauses::most_held),
    entry("headroom_held_bytes", &PortPauses::headroom_held),
    entry("headroom_bytes", &PortPauses::headroom));

template <>
inline constexpr auto kReportTable<NodePauses> = report_table<NodePauses>(
    entry("watchdog", &NodePauses::watchdog), entry("buffer_bytes", &NodePauses::buffer),
    entry("shared_bytes", &NodePauses::shared),
    entry("shared_held_bytes", &NodePauses::shared_held), entry("held_bytes", &NodePauses::held),
    entry("xoff_above_bytes", &NodePauses::xoff_above), entry("ports", &NodePauses::ports));

}  // namespace mrclab
