#pragma once
// GET /metrics at the port of `mrclab serve`: what the world on the page has counted, as OpenMetrics. The thread of the
// session makes the text when it is asked for one, which it looks for every few milliseconds; the thread of the server
// waits for it, at most kMetricsPatience.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "lab/serve/serve_options.h"
#include "session/fabric_session.h"

namespace mrclab::lab {

inline constexpr std::chrono::milliseconds kMetricsPatience{2000};

/// What the session's branch has counted by the instant that it has reached. Throws InputError where that is not known:
/// in a run that is over; and for a pattern that names no node.
std::string session_metrics(const FabricSession& session, const std::string& only);

class ServedMetrics {
 public:
  /// By the server's thread: the text for "?node=", or the reason why there is none. Empty: the session is busy.
  using Answer = ServeOptions::Metrics;
  std::optional<Answer> ask(const std::string& only);
  /// By the session's thread.
  void answer(const FabricSession& session);

 private:
  std::mutex mutex_;
  std::condition_variable made_;
  std::optional<std::string> asked_;  ///< the pattern
  std::optional<Answer> answer_;
};

}  // namespace mrclab::lab
