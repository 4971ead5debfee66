#pragma once
// What a node or a wire can be made to do at an instant. faults/ compiles faults into these; the
// nodes at both ends of the target execute them at exact fabric time.

#include <cstdint>
#include <variant>
#include <vector>

#include "fabric/ids.h"
#include "fabric/units.h"

namespace mrclab {

/// A directed wire stops or starts to carry light. The sender is not told by this.
struct WireState {
  WireId wire;
  bool up = true;
};

/// A directed wire loses frames at random, without anybody being told. Zero heals it.
struct WireLoss {
  WireId wire;
  Probability loss;
};

/// What a port itself sees: carrier lost or back. A port without carrier does not start frames.
struct PortCarrier {
  PortRef port;
  bool up = true;
};

/// A controller denies an entropy value on a host, or allows it again (MRC API: DENIED, GOOD).
struct EvDenial {
  NodeId host;
  EntropyValue ev;
  NodeId toward;  ///< only toward this host; invalid: toward every one
  bool denied = true;
};

using Effect = std::variant<WireState, WireLoss, PortCarrier, EvDenial>;

/// One line of a fault schedule. Equal instants keep the order of `sequence`.
struct ScheduledEffect {
  FabricTime at;
  Effect effect;
  uint64_t sequence = 0;  ///< unique within a run: the tie-break of the node's event order
  uint32_t fault = 0;     ///< index of the fault (in the run's list) that this belongs to
  bool heals = false;     ///< part of the fault's undo
};

}  // namespace mrclab
