#pragma once
// Rounds of calls side by side, as of parallel.h, by threads that stay.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <memory>

#include "netio/system/parallel.h"

namespace mrclab::netio {

/// Threads that stay, for many rounds of calls: starting them anew would take as long as a short round does.
class ThreadCrew {
 public:
  /// `threads`: how many make calls at once, the caller of run() among them; at least 1.
  explicit ThreadCrew(size_t threads) : others_(threads - 1), pool_(others_) {}
  /// Does what in_parallel() does. Several threads may call it at once, and so may a call that it makes.
  template <class Fn>
  void run(size_t count, Fn&& fn) {
    const auto calls = std::make_shared<SharedCalls>(count, fn);
    for (size_t i = 1; i < std::min(count, others_ + 1); ++i) {
      boost::asio::post(pool_, [calls] { calls->work(); });
    }
    calls->work();
    calls->wait();
  }

 private:
  size_t others_;
  boost::asio::thread_pool pool_;
};

}  // namespace mrclab::netio
