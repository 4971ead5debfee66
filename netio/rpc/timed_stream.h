#pragma once
// A connected stream socket, of a Unix path or of TCP, every operation of which has a deadline: what both
// kinds of clients, the control sockets' and the out-of-band channel's, are made of. On Boost.Asio.
//
// Errors are SystemError: ETIMEDOUT when a deadline has passed, else the kernel's error. After a missed
// deadline what came in so far is kept, but a line that was sent in part makes the stream useless.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mrclab::netio {

class TimedStream {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// To the program that listens at `path`. Retries while that program's queue of connections is full.
  static TimedStream connect_local(const std::filesystem::path& path, Deadline until);
  /// To `host`, a name or an address. Tries again while no program listens there. Throws
  /// std::invalid_argument for a name that cannot be resolved.
  static TimedStream connect_tcp(const std::string& host, uint16_t port, Deadline until);
  /// Is this the first line of the peer that is waited for?
  using IsWanted = std::function<bool(const std::string& line)>;
  /// The first peer that connects to `address` ("::" for any) and whose first line, of at most `limit` bytes, is
  /// valid; receive_line() returns that line again. Others are closed, and at most kMaxCallers may wait without
  /// a line: one more takes the place of the one that has waited longest.
  static TimedStream accept_tcp(const std::string& address, uint16_t port, size_t limit,
                                const IsWanted& is_wanted, Deadline until);
  static constexpr size_t kMaxCallers = 16;

  TimedStream(TimedStream&& other) noexcept;
  ~TimedStream();

  /// Sends all of it. `what` is for the error: "send to the peer".
  void send(std::string_view bytes, const std::string& what, Deadline until);

  enum class Line : uint8_t { kRead, kTimedOut, kTooLong, kClosed };
  /// The next line without its line feed, of at most `limit` bytes.
  Line receive_line(std::string& line, size_t limit, Deadline until);
  /// Would receive_line() return at once? Takes in what has come, up to `limit` bytes.
  bool has_line(size_t limit);

 private:
  struct Impl;
  explicit TimedStream(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace mrclab::netio
