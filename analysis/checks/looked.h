#pragma once
// What a check looked at: how many of which things, over which window, by which evidence. No check passes
// without it (check_result.h), and none passes with a count of zero: what was not seen has not held.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/base/units.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/enum_words.h"

namespace mrclab::analysis {

/// The evidence that showed the things that were counted.
enum class Source : uint8_t {
  kPackets,     ///< packets at hosts, their drops and trims: captures, or nodes that are watched
  kRecords,     ///< every packet at every port
  kEvents,      ///< what nodes recorded as events
  kReports,     ///< what hosts reported at the end
  kTaps,        ///< what libpcap saw beside the captures
  kProgram,     ///< how a program ended
  kOperations,  ///< when ranks of jobs began and ended their operations
  kBaseline,    ///< the verdict of another run
};
inline constexpr auto kSourceNames =
    words_by_value<Source>({{Source::kPackets, "packets"},
                            {Source::kRecords, "packet records"},
                            {Source::kEvents, "events"},
                            {Source::kReports, "host reports"},
                            {Source::kTaps, "taps"},
                            {Source::kProgram, "program"},
                            {Source::kOperations, "operation times"},
                            {Source::kBaseline, "baseline"}});

class Looked {
 public:
  /// `what`: one of them, with what was selected: "packet", "ping", "queue pair in error".
  Looked(uint64_t count, Noun what, FabricTime from, FabricTime until, Source source)
      : count_(count), what_(std::move(what)), from_(from), until_(until), source_(source) {}

  uint64_t count() const { return count_; }
  const Noun& what() const { return what_; }
  FabricTime from() const { return from_; }
  FabricTime until() const { return until_; }  ///< never(): to the end, wherever that is
  Source source() const { return source_; }
  bool operator==(const Looked&) const = default;

 private:
  uint64_t count_;
  Noun what_;
  FabricTime from_, until_;
  Source source_;
};

/// "90 pings by packets, 0ps to 1.2ms"
std::string to_string(const Looked& looked);
/// "no pings from 600us to 1.2ms, by packets": why a check that looked at nothing is inconclusive.
std::string nothing_in(const Looked& looked);

}  // namespace mrclab::analysis
