#pragma once
// A TCP connection that carries lines of text: the out-of-band channel over which two endpoints exchange
// their parameters before the first packet (as perftest does; port 18515 like it). What
// comes in is bounded in length and time; its meaning is the caller's to judge.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "netio/rpc/timed_stream.h"

namespace mrclab::netio {

inline constexpr uint16_t kOutOfBandPort = 18515;  ///< perftest's, and the MRC API benchmark's
inline constexpr size_t kMaxLineBytes = 64 << 10;

class LineChannel {
 public:
  /// Waits on `address` ("::" for any) and `port` for a peer with a valid first line; receive() returns that line.
  /// Whoever else connects is turned away. Throws SystemError; ETIMEDOUT when no such peer came within `limit`.
  static LineChannel accept(const std::string& address, uint16_t port,
                            std::chrono::milliseconds limit,
                            const TimedStream::IsWanted& is_wanted);
  /// Connects to a server, trying again while it refuses, until `limit` has passed: the two ends
  /// may be started in any order. `host` is a name or an address.
  static LineChannel connect(const std::string& host, uint16_t port,
                             std::chrono::milliseconds limit);

  /// Sends `line`, which has no line feed, and a line feed. Throws SystemError.
  void send(const std::string& line);
  /// The next line without its line feed. Throws SystemError: ETIMEDOUT, EMSGSIZE for one longer
  /// than kMaxLineBytes, ECONNRESET when the peer has gone.
  std::string receive(std::chrono::milliseconds limit);
  /// Has a whole line come, or has the peer gone? Does not block; then receive() does not either.
  bool ready();

 private:
  explicit LineChannel(TimedStream stream) : stream_(std::move(stream)) {}

  TimedStream stream_;
};

}  // namespace mrclab::netio
