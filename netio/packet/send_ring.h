#pragma once
// Sends the frames of many packet sockets with one system call, by io_uring. The nodes of a daemon have a frame or two
// each in a tick, and a system call for each node costs as much as its frames do (tests/bench/README.md).
//
// Frames of one socket leave in the order in which they were put. Nothing waits: a frame for which the kernel has no
// room is refused with EAGAIN.
//
// Threading: one thread.

#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/packet/whole_frame.h"

namespace mrclab::netio {

class SendRing {
 public:
  /// Throws SystemError where the kernel has no io_uring or does not let this process have one. Each packet socket can
  /// send by itself then.
  SendRing();
  SendRing(SendRing&&) noexcept;
  ~SendRing();

  /// Puts a frame in line, to leave the packet socket `socket` by the interface `ifindex`. The bytes are not copied:
  /// they must stay until send(). `tag` is the caller's.
  void queue_frame(int socket, uint32_t ifindex, const FramePieces& frame, uint64_t tag);
  /// Sends what is in line. Reports each frame that did not leave once, with its tag and an errno. Throws SystemError
  /// if the ring itself fails; then some frames have left, and it is open which.
  using Refused = std::function<void(uint64_t tag, int error_number)>;
  void send(const Refused& refused);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrclab::netio
