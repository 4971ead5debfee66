#pragma once
// Turns the bytes that a ring holds into arrivals. A frame with the trailer of its wire arrives at the
// instant that it carries; every other frame is a foreign one, and arrives at the kernel's timestamp, or with
// the wire's last such frame if the clock has stepped back since: a wire does not reorder.
//
// The driver calls begin_tick() and then read() for each frame of the tick. Frames of ours go into
// the ingress ledger on the way. A frame that cannot be one is counted and dropped.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/packet/trailer.h"
#include "netio/runtime/ingress_ledger.h"
#include "netio/runtime/unmodelled_latency.h"

namespace mrclab::netio {

struct ArrivalCounts {
  uint64_t carried = 0;  ///< with a trailer of their wire, duplicates included
  uint64_t late = 0;     ///< of those: they were needed before they came
  uint64_t foreign = 0;
  uint64_t unknown = 0;  ///< a trailer that is not this wire's, or a duplicate: dropped
};

class ArrivalReader {
 public:
  /// All of them outlive the reader.
  ArrivalReader(GatePage& page, const Topology& topology, uint32_t process, FramePool& frames,
                IngressLedger& ledger);

  /// `now`: lab time of the tick; `clock`: fabric time by the lab's clock then; `committed`: the instant that this
  /// process has committed.
  void begin_tick(LabTime now, FabricTime clock, FabricTime committed);
  /// The frame that a ring of node `at.node` received on port `at.port`; empty if it is dropped.
  std::optional<Arrival> read(PortRef at, std::span<const uint8_t> bytes, LabTime received);
  /// The same of a frame that came in a bundle, which only our nodes send: without its trailer it is dropped.
  std::optional<Arrival> read_bundled(PortRef at, std::span<const uint8_t> bytes);
  /// Counts one that could not be read at all.
  void note_unknown() { ++counts_.unknown; }

  /// When the first of this tick's carried frames is needed; never() if there is none.
  FabricTime earliest_need() const { return earliest_need_; }
  const ArrivalCounts& counts() const { return counts_; }

 private:
  bool is_accepted(const Port& port, const TimeTrailer& trailer) const;
  std::optional<Arrival> read_carried(NodeId node, const TimeTrailer& trailer,
                                      std::span<const uint8_t> bytes);
  std::optional<Arrival> read_foreign(const Port& port, std::span<const uint8_t> bytes,
                                      LabTime received);

  GatePage& page_;
  const Topology& topology_;
  ProcessSlot& slot_;
  FramePool& frames_;
  IngressLedger& ledger_;
  UnmodelledLatency untaken_time_;
  uint64_t foreign_sequence_ = 0;
  std::vector<FabricTime> last_foreign_;  ///< when the last one came by each wire
  LabTime now_;
  FabricTime clock_;
  FabricTime committed_;
  FabricTime earliest_need_ = FabricTime::never();
  ArrivalCounts counts_;
};

}  // namespace mrclab::netio
