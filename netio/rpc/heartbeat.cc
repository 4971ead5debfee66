#include "netio/rpc/heartbeat.h"

namespace mrclab::netio {

void Heartbeat::run(const std::function<Next()>& beat) {
  while (const Next next = beat()) {
    expect(*next);
    io_.restart();  // it stops whenever nothing waits on it
    while (!due_) io_.run_one();
  }
}

void Heartbeat::expect(std::chrono::microseconds after) {
  due_ = false;
  timer_.expires_after(after);
  // hurry() cancels the timer.
  timer_.async_wait([this](const boost::system::error_code&) { due_ = true; });
}

void keep_looking(const std::function<Heartbeat::Next()>& beat) {
  boost::asio::io_context io(1);
  Heartbeat(io).run(beat);
}

}  // namespace mrclab::netio
