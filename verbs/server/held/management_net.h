#pragma once
// The network beside the fabric that programs exchange addresses and keys over, in fabric time. Real sockets carry the
// bytes; this says when they are there. Every way from a host to any host, itself included, takes kOneWay, however much
// it carries, so that no two of the world's hosts depend on each other within less. What each message of a program
// means stands in protocol/messages.h (SocketOp).
//
//   h0 connects at t        -- request -->      t + 20 us: h1 listens? a connection waits, half made
//   t + 40 us: the answer   <-- answer --
//   kConnected              -- confirmed -->    t + 60 us: kAccept gives it
//   sent at s               -- bytes -->        s + 20 us: kReceive gives them
//   s + 40 us: room again   <-- taken --
//
// What arrives at one host is in the order (time, host it is from, number that it had there): no history depends on
// which host ran first. One thread at a time. Bounds: sockets of a program, connections that wait in a listener, letters
// under way; what exceeds one is refused with its errno.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "verbs/protocol/messages.h"

namespace mrclab::verbs {

/// A socket of a program: the program's number, and its own number for the socket.
struct SocketName {
  uint32_t program = 0;
  uint32_t socket = 0;
  auto operator<=>(const SocketName&) const = default;
};

class ManagementNet {
 public:
  static constexpr FabricTime kOneWay =
      FabricTime::from_ps(static_cast<int64_t>(kManagementDelayPs));
  static constexpr size_t kMaxSockets = 4096;             ///< of a program
  static constexpr uint64_t kMaxWaiting = 4096;           ///< connections in a listener
  static constexpr size_t kMaxLetters = size_t{1} << 20;  ///< under way to one host

  /// `arrives(host, at)` is called when something for that host is under way: it is to call deliver() at `at`.
  using Arrives = std::function<void(uint32_t host, FabricTime at)>;
  ManagementNet(uint32_t hosts, Arrives arrives);

  /// Everything that has arrived at the host by `now` takes effect.
  void deliver(uint32_t host, FabricTime now);

  struct Answer {
    int status = 0;
    SocketReply reply{};
  };
  /// A message of a program of `host`, at `now` of that host. Nothing in it is believed.
  Answer handle(uint32_t host, uint32_t program, const SocketRequest& request, FabricTime now);
  /// Would a program that waits for this socket go on?
  bool ready(uint32_t host, SocketName name) const;
  /// The program is gone: all of its sockets, in the order of their numbers.
  void close_all(uint32_t host, uint32_t program, FabricTime now);

 private:
  /// The end of a connection, by its host and its number there.
  struct End {
    uint32_t host = 0;
    uint64_t number = 0;
  };
  struct Socket {
    enum class State : uint8_t { kListening, kAsking, kAnswered, kConnected, kRefused } state;
    uint16_t port = 0, local_port = 0;  ///< the peer's, ours
    End peer;
    uint64_t unread = 0;  ///< bytes that came and were not received
    uint64_t sent = 0;    ///< bytes that the peer has not received, as far as is known here
    bool wants_room = false;
    bool came_to_end = false;  ///< the peer sends no more
    bool peer_gone = false;    ///< nor does it read
    bool shut_down = false;    ///< we send no more
    uint64_t backlog = 0;
    std::optional<uint64_t> listener;  ///< of a connection that is half made
    std::deque<uint64_t> waiting;      ///< kListening: connections to accept, oldest first
    std::optional<SocketName> name;    ///< empty: not accepted yet
  };
  struct Letter {
    enum class What : uint8_t { kRequest, kAnswer, kConfirmed, kBytes, kTaken, kEnd } what;
    End from;
    uint64_t to = 0;  ///< number of an end; kRequest: the port
    uint64_t bytes = 0;
    uint16_t port = 0;  ///< kRequest: of the one who asks
    bool no = false;    ///< kAnswer: refused; kEnd: nor does it read any more
  };
  struct Order {
    FabricTime at;
    uint32_t source = 0;
    uint64_t number = 0;
    auto operator<=>(const Order&) const = default;
  };
  struct Host {
    std::map<SocketName, uint64_t> numbers;
    std::map<uint64_t, Socket> sockets;
    std::map<uint16_t, uint64_t> listeners;  ///< by port
    std::map<Order, Letter> inbox;
    uint64_t next_socket = 1, next_letter = 1;
  };

  std::optional<uint64_t> number_of(uint32_t host, SocketName name) const;
  Socket* at(uint32_t host, uint64_t number);
  std::optional<uint64_t> add(uint32_t host, SocketName name);
  bool post(uint32_t to, const Letter& letter, FabricTime now);
  void take_letter(uint32_t host, const Letter& letter, FabricTime now);
  void take_request(uint32_t host, const Letter& letter, FabricTime now);
  void take_answer(uint32_t host, const Letter& letter, FabricTime now);
  void take_confirmed(uint32_t host, const Letter& letter, FabricTime now);
  void remove(uint32_t host, uint64_t number, FabricTime now);

  int listen(uint32_t host, SocketName name, const SocketRequest& request);
  int connect(uint32_t host, SocketName name, const SocketRequest& request, FabricTime now);
  int confirm(uint32_t host, uint64_t number, FabricTime now);
  Answer accept(uint32_t host, uint32_t program, Socket& listener, uint64_t as);
  Answer send(uint32_t host, uint64_t number, uint64_t bytes, FabricTime now);
  Answer receive(uint32_t host, uint64_t number, uint64_t bytes, FabricTime now);
  int shut_down(uint32_t host, uint64_t number, FabricTime now);

  std::vector<Host> hosts_;
  Arrives arrives_;
};

}  // namespace mrclab::verbs
