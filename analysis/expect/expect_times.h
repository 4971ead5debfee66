#pragma once
// Expectations of how long operations take: messages, pings, iterations of collectives. What is not finished has
// taken the time so far (open_work.h).

#include "analysis/expect/expectation_parts.h"

namespace mrclab::analysis {

/// Mean latency of a ping-pong from `source` to `destination`: half of the time from the first
/// packet of one ping to that of the next (perftest's write_lat: half of a round trip), over the
/// pings that begin in [from, until). Only for a pair whose next ping waits for the last pong, which its packets
/// have to show. A ping without an answer by then counts with the time so far, once that is longer than any
/// other took.
struct ExpectLatency {
  static constexpr ExpectationWord kWord{
      "latency", Measure::kTime, "\"latency: {source: h0, destination: h4, at_most: 7us}\""};
  static constexpr bool kBounded = true;
  std::string source;
  std::string destination;
  FabricTime at_least = {};                  ///< zero: no such bound
  FabricTime at_most = FabricTime::never();  ///< at least one of the two
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectLatency&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("source", e.source, Need::kRequired);
    visit("destination", e.destination, Need::kRequired);
    visit("at_least", e.at_least, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptionalPositive);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  }
};
const Rules<ExpectLatency>& rules_of(const ExpectLatency&);

/// Iterations of collectives that end in [from, until) take, on the average over hosts and
/// iterations, at most so much longer than those that ended before the first fault. An iteration that is open
/// at `until` counts with the time so far, once that is longer than any other took.
struct ExpectCompletionTime {
  static constexpr ExpectationWord kWord{"completion_time", Measure::kShare,
                                         "\"completion_time: {slower_by: 1%}\""};
  Probability slower_by;
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  bool operator==(const ExpectCompletionTime&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("slower_by", e.slower_by, Need::kRequired);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
  }
};
const Rules<ExpectCompletionTime>& rules_of(const ExpectCompletionTime&);

enum class MessageTimeMeasure : uint8_t { kMax, kP999, kP99, kP50 };
/// 500 of the median, 1000 of the longest.
constexpr size_t thousandths_of(MessageTimeMeasure by) {
  switch (by) {
    case MessageTimeMeasure::kP999: return 999;
    case MessageTimeMeasure::kP99: return 990;
    case MessageTimeMeasure::kP50: return 500;
    case MessageTimeMeasure::kMax: break;
  }
  return 1000;
}
/// The time that messages take which begin in [from, until): from when the first packet of a message begins to
/// leave its host to when the last missing one has arrived whole. Waiting in the host before its first packet is
/// not seen. A message that is open at the end of the run counts with the time so far.
struct ExpectMessageTime {
  static constexpr ExpectationWord kWord{"message_time", Measure::kTime,
                                         "\"message_time: {by: p99, at_most: 20us}\""};
  FabricTime at_most;
  MessageTimeMeasure by = MessageTimeMeasure::kMax;
  std::optional<Bytes> min_size = std::nullopt,
                       max_size = std::nullopt;  ///< of messages, both included
  FabricTime from = {};
  FabricTime until = FabricTime::never();
  FlowSelection flows = {};
  bool operator==(const ExpectMessageTime&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("at_most", e.at_most, Need::kPositive);
    visit("by", e.by, Need::kOptional);
    visit("min_size", e.min_size, Need::kOptional);
    visit("max_size", e.max_size, Need::kOptional);
    visit("from", e.from, Need::kOptional);
    visit("until", e.until, Need::kOptional);
    FlowSelection::fields(e.flows, visit);
  }
  /// Throws InputError for what no single field shows to be wrong.
  void check_whole(const YamlValue& body) const;
};
const Rules<ExpectMessageTime>& rules_of(const ExpectMessageTime&);

}  // namespace mrclab::analysis
