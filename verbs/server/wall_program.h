#pragma once
// A program in this machine's time: its connection and its session, served whenever the daemon has a moment. Nothing
// here waits for the program; what it sends is handled in the order in which it came.

#include <array>
#include <cstdint>
#include <memory>

#include "netio/system/message_socket.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::verbs {

class WallProgram {
 public:
  /// Messages that one call of receive() handles; the rest waits in the socket.
  static constexpr int kMaxMessages = 64;

  WallProgram(HostPrograms& programs, netio::MessageSocket connection);

  /// Takes what the program posted. False: it posted nothing.
  bool take_work() { return session_.take_work(FabricTime::never()); }
  /// Handles and answers the messages that are there; `rate` goes with the answers. False: there were none.
  bool receive(uint64_t rate);
  /// Its connection is at its end: it is to be destroyed.
  bool gone() const { return gone_ || session_.broken(); }
  bool greeted() const { return session_.greeted(); }
  int fd() const { return connection_.fd(); }
  VerbsSession& session() { return session_; }

 private:
  bool answer(std::span<const uint8_t> message, std::vector<netio::FileDescriptor> descriptors);
  bool send(const VerbsSession::Answer& answer);

  netio::MessageSocket connection_;
  VerbsSession session_;
  bool gone_ = false;
};

}  // namespace mrclab::verbs
