#pragma once
// A route netlink socket that batches: requests are queued with a description, at most kMaxInFlight
// wait for their acknowledgement, and the error of a refused request names it.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "netio/kernel/namespace.h"

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

namespace mrclab::netio {

struct NlMsgDeleter {
  void operator()(nl_msg* message) const;
};
using NlMessage = std::unique_ptr<nl_msg, NlMsgDeleter>;

/// What one call receives at most: the kernel fills up to 32 KiB of a list.
inline constexpr size_t kNetlinkReceiveBytes = 64 << 10;

/// An empty message of `type` with `flags` (NLM_F_REQUEST and NLM_F_ACK are added on sending).
NlMessage make_message(int type, int flags);

/// One socket in one namespace (the one it was created in). Not for several threads.
class NetlinkSocket {
 public:
  /// Acknowledgements must fit the socket's receive buffer; sends are coalesced up to this many.
  static constexpr size_t kMaxInFlight = 64;
  /// How often a request may be refused for lack of memory, a millisecond between two tries.
  static constexpr unsigned kMaxTries = 500;

  explicit NetlinkSocket(const NetworkNamespace& ns);
  NetlinkSocket(NetlinkSocket&&) noexcept;
  NetlinkSocket& operator=(NetlinkSocket&&) noexcept;
  ~NetlinkSocket();

  /// Sends `message` soon. `attempted` is for the error ("add route 5f00:0:100::/48 in mrclab-x").
  /// An error number in `tolerated` (0: none) is no error. A request that is refused for lack of
  /// memory is retried behind the others: the kernel takes some per-processor memory only from a
  /// small reserve that it refills in the background, and some thousand routes with an
  /// encapsulation exhaust it.
  void queue(NlMessage message, std::string attempted, int tolerated = 0);
  /// Waits until everything queued is acknowledged. Throws the first refusal as SystemError; the
  /// other requests have been carried out all the same.
  void flush();
  /// A dump (or a single get): calls `each` for every message that answers.
  void dump(NlMessage request, std::string_view attempted,
            const std::function<void(const nlmsghdr&)>& each);
  nl_sock* handle() { return socket_.get(); }
  /// By this the kernel names the socket to those who watch changes (change_watch.h).
  uint32_t port() const;

 private:
  struct SocketDeleter {
    void operator()(nl_sock* socket) const;
  };
  struct Pending {
    uint32_t sequence;
    NlMessage message;
    std::string attempted;
    int tolerated;
    unsigned tries;
  };
  void send_soon(Pending request);
  void send_outgoing();
  void receive_acknowledgements();
  void acknowledge(const nlmsghdr& header);

  std::unique_ptr<nl_sock, SocketDeleter> socket_;
  uint32_t next_sequence_ = 1;
  std::vector<uint8_t> outgoing_;
  std::deque<Pending> in_flight_;
  std::vector<Pending> again_;  ///< refused for lack of memory
  std::unique_ptr<SystemError> first_error_;
  std::unique_ptr<uint8_t[]> receive_buffer_;  ///< not cleared: few messages fill it
};

}  // namespace mrclab::netio
