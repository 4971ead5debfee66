#pragma once
// A call every few milliseconds, while other things (control clients, signals) wait on the same io_context.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace mrclab::netio {

class Heartbeat {
 public:
  /// When the next beat is due, counted from the end of this one; empty: there is none.
  using Next = std::optional<std::chrono::microseconds>;

  /// After it has died `io` must not run the handlers that are left.
  explicit Heartbeat(boost::asio::io_context& io) : io_(io), timer_(io) {}
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Calls `beat` at once and then when it is due, and serves what else waits on the io_context in between.
  /// Returns after the last beat. Throws what `beat` or a handler throws.
  void run(const std::function<Next()>& beat);
  /// From a handler: the next beat is due now.
  void hurry() { timer_.cancel(); }

 private:
  void expect(std::chrono::microseconds after);

  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  bool due_ = false;
};

/// Calls `beat` as Heartbeat does, where nothing else waits.
void keep_looking(const std::function<Heartbeat::Next()>& beat);

}  // namespace mrclab::netio
