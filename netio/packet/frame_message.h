#pragma once
// The message header (msghdr) of a frame that leaves by a packet socket, whichever system call sends it.

#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>

#include "fabric/packet/whole_frame.h"

namespace mrclab::netio {

/// Address and pieces of one message. It is prepared once and set for each frame that is sent with it.
class FrameMessage {
 public:
  /// Points `header` at the address and the pieces. Neither `header` nor this may move afterwards.
  void prepare(msghdr& header) {
    address_ = {};
    address_.sll_family = AF_PACKET;
    header = {};
    header.msg_name = &address_;
    header.msg_namelen = sizeof address_;
    header.msg_iov = vectors_.data();
  }
  /// The bytes are not copied: the kernel reads them when it sends the frame.
  void set(msghdr& header, uint32_t ifindex, const FramePieces& frame) {
    address_.sll_ifindex = static_cast<int>(ifindex);
    header.msg_iovlen = 0;
    for (const std::span<const uint8_t> piece : {frame.head, frame.payload, frame.tail}) {
      if (piece.empty() && header.msg_iovlen > 0) continue;
      // sendmsg never writes through iov_base.
      vectors_[header.msg_iovlen++] = {const_cast<uint8_t*>(piece.data()), piece.size()};
    }
  }

 private:
  sockaddr_ll address_;
  std::array<iovec, 3> vectors_;
};

}  // namespace mrclab::netio
