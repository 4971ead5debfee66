#pragma once
// Pause frames in captures from anywhere: who paused whom, for how long, and below which other pause.
//
// A pause frame goes to a reserved address, so it names its sender alone. Its neighbour is the one port that frames of the
// same place go to from that sender, or come from; several (a switch that bridges) leave it unknown, unless the name of the
// interface has it. A port stands paused from the first frame with quanta to one with none; where the rate of the link is
// known (if_speed of pcapng, or the fabric's) also no longer than the quanta of the last one last.
//
//   t0-1 pauses t1-0 | t1-0 pauses t0-0 a little later, because its queue fills | t0-0 pauses h0:  a tree, by time and port

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab::analysis {

/// What a pause of IEEE 802.3x, which stops the whole link, has in place of a priority.
inline constexpr uint8_t kAllPriorities = 8;

/// A pause frame and the port that sent it.
struct PauseSeenAt {
  MacAddress asked_by{};
  bool whole_link = false;  ///< IEEE 802.3x: its quanta are those of priority 0
  PauseFrame frame;
};
/// Either kind; empty for anything else.
std::optional<PauseSeenAt> pause_seen_in(std::span<const uint8_t> ethernet_frame);

/// All pauses of one port by one neighbour, of one priority.
struct PausedNeighbour {
  static constexpr uint32_t kRoot = 0xFFFF'FFFF;
  std::string asked_by,
      paused;  ///< names, or MAC addresses; `paused` is empty where it is not known
  uint8_t priority = 0;
  uint64_t asks = 0, ends = 0, times = 0;
  FabricTime first, last, stood;
  bool open = false;       ///< the last one was not ended in the capture
  uint32_t above = kRoot;  ///< the pause that made its asker ask
  uint32_t depth = 0;
};

class PauseWatch {
 public:
  /// `place`: the capture interface. `rate`: of its link, if known.
  void add_pause(const PauseSeenAt& seen, FabricTime t, uint32_t point, const std::string& place,
                 bool leaving, bool arriving, std::optional<BitRate> rate);
  /// Every other frame, for who is whose neighbour.
  void add_frame(uint32_t point, const MacAddress& source, const MacAddress& destination);
  /// Each below the one that caused it. `last`: when the capture ends.
  std::vector<PausedNeighbour> tree(FabricTime last);

 private:
  static constexpr size_t kMaxSpans = 1u << 12, kMaxLinks = 1u << 14;
  using Mac = MacAddress;
  struct Span {
    PausedNeighbour sum;
    Mac asker{};
    uint32_t point = 0;
    std::string device;  ///< of the asker or of the paused one, by the interface's name
    bool asker_is_device = false, paused_is_device = false;
    std::optional<FabricTime> since, expires;
  };
  void end(Span& span, FabricTime t);
  std::string neighbour_of(const Span& span) const;

  std::map<std::tuple<Mac, uint8_t>, Span> spans_;
  std::map<std::tuple<uint32_t, Mac, Mac>, uint64_t>
      links_;  ///< (point, one end, other end): frames
  std::tuple<uint32_t, Mac, Mac> recent_{};
};

}  // namespace mrclab::analysis
