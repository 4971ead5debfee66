#pragma once
// The frames that the nodes of one process have started to send: numbered for each wire, with the time
// trailer behind them, in line until the driver hands them to the kernel.
//
// A frame for a neighbour that is not ours (a kernel, Open vSwitch) is held back: that neighbour does not
// read the trailer, so the frame leaves physically when its last bit does, not when its first bit does.
//
// The driver calls put() while nodes run. Then it calls announce(), hands every line's due() frames to the
// kernel, and calls publish(): in this order, which gate.h needs. Bounds: the frame pool's.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/packet/whole_frame.h"
#include "netio/runtime/gate.h"
#include "netio/runtime/process_map.h"

namespace mrclab::netio {

class EgressQueue {
 public:
  /// A frame whose turn it is.
  struct Outgoing {
    uint32_t ifindex = 0;
    WireId wire;
    Frame frame;
    bool bundled = false;  ///< it may be in a bundle
    /// The frame and its trailer. Valid as long as the frame is, and the payload that it may be lent.
    FramePieces pieces();
  };

  /// The references outlive the queue. `incarnation`: of this process.
  EgressQueue(GatePage& page, const Topology& topology, const ProcessMap& processes,
              uint32_t incarnation, FramePool& frames);
  /// Adds a line for one more node, and returns its number: 0, 1, ...
  size_t add_line();
  /// For a successor: `node` goes on with the numbers that its predecessor has published, and the
  /// process with its count of frames.
  void resume(NodeId node);

  /// Numbers what starts to leave at `port`, and puts it in line for the interface of that port. A
  /// transmission that the wire will lose becomes a void frame.
  void queue_transmission(size_t line, const Port& port, uint32_t ifindex,
                          Transmission&& transmission);
  /// The next number of a wire whose frame is handed over inside the process.
  uint64_t take_sequence(WireId wire) { return sequence_[wire.value]++; }

  /// Publishes to the lab how many frames the other processes get. Called before the kernel gets the frames, or
  /// a receiver could count a frame as taken that does not count as sent yet.
  void announce();
  /// All that may leave by `clock`, in order: valid, with its bytes, until clear(), queue_transmission() or due().
  std::span<Outgoing> due(size_t line, FabricTime clock);
  void clear(size_t line) { lines_[line].ready.clear(); }
  /// Publishes to the receivers how many frames each wire has been given. Called when the kernel has them.
  void publish();

  uint64_t frames() const { return frames_numbered_; }  ///< ever put

 private:
  struct Held {
    FabricTime end;
    Outgoing outgoing;
  };
  struct Line {
    std::vector<Held> held;  ///< in the order of queuing
    std::vector<Outgoing> ready;
  };

  GatePage& page_;
  const Topology& topology_;
  const ProcessMap& processes_;
  uint32_t incarnation_;
  FramePool& frames_;
  std::vector<Line> lines_;
  std::vector<uint64_t> sequence_;  ///< by WireId: the next frame's
  std::vector<WireId> unpublished_;
  uint64_t frames_numbered_ = 0;
  uint64_t to_processes_ = 0;
};

}  // namespace mrclab::netio
