#pragma once
// HTTP for a scraper: GET /metrics, and nothing else. Everything from outside is bounded: kMaxScrapers connections at
// once (one more is closed), kMaxScrapeBytes of a request, kScrapeTime for a whole exchange.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace mrclab::lab {

inline constexpr size_t kMaxScrapers = 16;
inline constexpr uint32_t kMaxScrapeBytes = 8192;
inline constexpr std::chrono::seconds kScrapeTime{5};

/// Makes the text; `only` is the "?node=" of the request, a pattern of names, or empty. What it throws of InputError is
/// answered with 400 and its words, anything else with 503.
using MakeMetrics = std::function<std::string(const std::string& only)>;

class MetricsServer {
 public:
  /// Listens. Throws InputError for an address or port that cannot be had.
  MetricsServer(const std::string& address, uint16_t port, MakeMetrics make);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// "http://127.0.0.1:9464/metrics"
  std::string link() const;
  /// Answers whoever asks, for so long.
  void serve_for(std::chrono::milliseconds time);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrclab::lab
