#pragma once
// A host's own report of its window towards one destination. No packet carries the window, so
// outputs mark it as the host's word. As a line of events.jsonl it is in window_text.h.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/text/enum_words.h"

namespace mrclab {

/// The quadrants of NSCC: was the answered packet marked, and did it queue for longer than the target?
/// What the rules do then (UEC 1.0 §3.6.13; endpoint/congestion/nscc.h, endpoint/congestion/even_nscc.h):
///
///                  UEC                            even shares
///   clear          proportional, fast increase    the same
///   late           fair increase                  decrease in proportion to the delay
///   marked         nothing                        nothing
///   marked_late    multiplicative decrease        the same; decrease in proportion in a full fabric
enum class WindowQuadrant : uint8_t { kClear, kLate, kMarked, kMarkedLate };
inline constexpr auto kQuadrantWords =
    words_by_value<WindowQuadrant>({{WindowQuadrant::kClear, "clear"},
                                    {WindowQuadrant::kLate, "late"},
                                    {WindowQuadrant::kMarked, "marked"},
                                    {WindowQuadrant::kMarkedLate, "marked_late"}});

/// What made a window smaller.
enum class WindowCut : uint8_t {
  kMarks,         ///< an answer that was marked and late
  kDelay,         ///< an answer that was late without a mark, or its plane
  kTrims,         ///< inside the fabric
  kLastHopTrims,  ///< in front of the receiver
  kLosses,        ///< inferred, from other packets or from silence
  kPenalty,       ///< the receiver asked for less (rcv_cwnd_pen)
  kRefusals,      ///< the receiver lacked resources
  kQuickAdapt,    ///< set to what had arrived
  kPorts,         ///< fewer ports lead to the destination
  kBaseRtt,       ///< a shorter one was measured, so the largest window shrank
};
inline constexpr auto kCutWords =
    words_by_value<WindowCut>({{WindowCut::kMarks, "marked"},
                               {WindowCut::kDelay, "delay"},
                               {WindowCut::kTrims, "trimmed"},
                               {WindowCut::kLastHopTrims, "trimmed_last_hop"},
                               {WindowCut::kLosses, "lost"},
                               {WindowCut::kPenalty, "penalty"},
                               {WindowCut::kRefusals, "refused"},
                               {WindowCut::kQuickAdapt, "quick_adapt"},
                               {WindowCut::kPorts, "ports"},
                               {WindowCut::kBaseRtt, "base_rtt"}});

struct WindowRecord {
  /// Reductions of the window by one cause.
  struct Cuts {
    uint32_t times = 0;
    Bytes taken;
    bool operator==(const Cuts&) const = default;
  };
  FabricTime t;
  NodeId peer;  ///< the destination, over all queue pairs and planes to it
  Bytes window;
  Bytes in_flight;
  std::optional<Bytes> largest;        ///< upper limit of the window
  std::optional<FabricTime> base_rtt;  ///< the least round trip measured
  std::optional<FabricTime> target;    ///< target of the queue delay
  std::optional<FabricTime> delay;     ///< round trip - base RTT of the latest answer
  // Since the record before:
  std::optional<FabricTime> most_delay;
  std::optional<WindowQuadrant> quadrant;                    ///< quadrant of the latest answer
  std::array<uint32_t, kQuadrantWords.size()> answers = {};  ///< number of answers in each quadrant
  std::optional<WindowCut> cut;                              ///< cause of the latest reduction
  std::array<Cuts, kCutWords.size()> cuts = {};              ///< reductions by cause
  bool operator==(const WindowRecord&) const = default;
};

}  // namespace mrclab
