#pragma once
// The channels (netio/packet/frame_channel.h) between the processes of a lab with fast wires: one from each process to
// each other that it has wires to. They lie one behind the other in a page that all of them map, in an order that
// follows from the fabric and from who runs which node.
//
// Bounds: kMostBytes for all channels of a lab, and for each what may wait on its wires. A frame for which there is no
// room goes over its veth.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"
#include "netio/packet/frame_channel.h"
#include "netio/runtime/process_map.h"
#include "netio/runtime/shared_page.h"

namespace mrclab::netio {

class FrameChannels {
 public:
  static constexpr size_t kMostBytes = 256 << 20;

  /// Bytes of the page; 0: these wires need none.
  static size_t bytes_for(const Topology& topology, const std::vector<uint32_t>& process_of_node,
                          FrameRoom room);
  /// `page`: bytes_for() bytes at least, zero before the first process uses it. Throws SystemError where it has fewer.
  FrameChannels(SharedPage page, const Topology& topology, const ProcessMap& processes,
                FrameRoom room);

  /// Puts a frame of this process in the channel to the other end of its wire. False if there is no room.
  bool put(WireId wire, const FramePieces& frame) {
    FrameChannel* const channel = out_[wire.value];
    return channel != nullptr && channel->put(wire, frame);
  }
  /// Hands what has come from other processes to callback(WireId, std::span<const uint8_t>). False if a channel held
  /// what no process of ours can have put.
  template <class Callback>
  bool drain(Callback&& callback) {
    bool whole = true;
    for (FrameChannel* const channel : in_) whole &= channel->drain(callback);
    return whole;
  }

 private:
  SharedPage page_;
  std::vector<std::unique_ptr<FrameChannel>> channels_;
  std::vector<FrameChannel*>
      out_;  ///< by WireId; null: the wire does not lead from here to another process
  std::vector<FrameChannel*> in_;
};

}  // namespace mrclab::netio
