#pragma once
// Puts the frames that a node sends in one tick by the same interface into bundles (fabric/packet/bundle.h), which cost
// as much to send as one frame. In front of a packet socket: what is given to add() is queued there by the time finish()
// returns, in the order of each interface. A frame that is alone in its tick is sent as it is.
//
// Bounds: a bundle is no longer than the longest frame, so it has a place wherever one of its frames would have had one.

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/packet/bundle.h"
#include "fabric/packet/whole_frame.h"
#include "netio/packet/packet_port.h"

namespace mrclab::netio {

class FrameBundler {
 public:
  /// `longest`: bytes of the longest bundle; too few for two frames: there are none. `socket` outlives this.
  FrameBundler(PacketSocket& socket, size_t longest);

  /// The pieces stay until the socket has sent. `alone`: not in a bundle.
  void add(uint32_t ifindex, const FramePieces& frame, bool alone);
  /// All that was added is in line at the socket. Bundles stay as they are until the next add().
  void finish();
  /// How many frames are in the message that was queued as number `index` (SendFailure::index) since the last finish().
  uint32_t frames_of(size_t index) const { return index < sizes_.size() ? sizes_[index] : 1; }

 private:
  struct Open {
    uint32_t ifindex = 0;
    uint32_t frames = 0;
    size_t bytes = 0;
    FramePieces first;  ///< what is sent where no other frame follows it
    uint8_t* memory = nullptr;
  };

  Open* find(uint32_t ifindex);
  void open(uint32_t ifindex, const FramePieces& frame);
  void append(Open& bundle, const FramePieces& frame);
  void close(Open& bundle);
  void queue(uint32_t ifindex, const FramePieces& frame, uint32_t frames);
  uint8_t* take_memory();

  PacketSocket& socket_;
  size_t longest_;
  std::vector<Open> open_;  ///< at most one for each interface
  std::vector<std::unique_ptr<uint8_t[]>> memory_;
  size_t used_ = 0;  ///< of memory_, in this tick
  std::vector<uint32_t> sizes_;
  bool finished_ = true;
};

}  // namespace mrclab::netio
