#pragma once
// A run for trace viewers of others: what the captures show, the nodes' events and the
// faults, in order of time. The exporters (qlog.h, perfetto_trace.h) are made from this.

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frame/seen_headers.h"
#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "analysis/measure/queue_depth.h"

namespace mrclab::analysis {

/// A line of events.jsonl as it stands there.
struct RunEvent {
  FabricTime t;
  std::string node, port, kind, cause, detail;  ///< empty: not recorded
  std::optional<uint32_t> qp, ev, psn;
};

struct RunEvents {
  static constexpr size_t kMax = 1u << 21;
  std::vector<RunEvent> list;  ///< in the order of the file
  uint64_t malformed = 0;      ///< lines that cannot be read
  uint64_t left_out = 0;       ///< lines beyond kMax
};
/// A file that is not there has no events.
RunEvents read_run_events(const std::filesystem::path& file);

/// A SACK or NACK that reaches the host whose packet it answers.
struct RunAnswer {
  FabricTime t;
  NodeId node;
  uint32_t qp = 0;  ///< queue pair of the host that it reaches
  SeenAnswer said;
};

struct RunAnswers {
  static constexpr size_t kMax = 1u << 21;
  std::vector<RunAnswer> list;
  uint64_t left_out = 0;  ///< beyond kMax
};
/// Adds those that arrive at hosts in one capture. Throws CaptureError.
void add_answers(const Topology& topology, const std::filesystem::path& capture,
                 RunAnswers& answers);

/// What somebody in the run did for a time (a rank of a job, an operation), drawn in a lane of a process of its own.
struct TraceBar {
  std::string process, lane;  ///< "job llama rank 3", "compute"; bars of one lane do not overlap
  std::string name;
  const char* category = "";  ///< of the program text, not a copy
  FabricTime begin, end;
  std::string step;  ///< of the job; empty: of none
};

/// All borrowed.
struct RunTrace {
  const Topology& topology;
  const PacketHistory& packets;
  const RunEvents& events;
  const RunAnswers& answers;
  const QueueDepths& queues;  ///< over equal parts of the run; may be unknown
  std::span<const FaultSpan> faults;
  FabricTime end;
  std::string title;
  std::span<const TraceBar> bars = {};  ///< in order of process and lane
};

enum class MomentKind : uint8_t {
  kFaultStarts,   ///< index into faults
  kFaultHealed,   ///< likewise
  kSent,          ///< index into attempts()
  kEnded,         ///< likewise: delivered, trimmed or dropped
  kAcknowledged,  ///< index into packets()
  kAnswer,        ///< index into answers: a SACK or NACK arrives
  kEvent,         ///< index into events
};
struct Moment {
  FabricTime t;
  MomentKind kind;
  uint32_t index;
};
/// Everything that happens up to the end, in order of time; equal instants in the order of the kinds.
std::vector<Moment> moments_of(const RunTrace& trace);

/// "h0 > h5 qp 0x12"
std::string flow_name(const RunTrace& trace, const Flow& flow);
/// Where its fate was recorded: "p0.t0-0:u1", a node, or empty.
std::string place_of(const RunTrace& trace, const Attempt& attempt);
std::string_view name_of(Fate fate);

/// A file that is written piece by piece and never becomes longer than `limit` bytes. What no longer
/// fits is counted.
class BoundedOutput {
 public:
  BoundedOutput(std::ostream& out, uint64_t limit) : out_(out), limit_(limit) {}
  /// A piece is written whole or not at all; nothing follows one that was left out.
  void put(std::string_view piece, FabricTime t);
  /// As put, but beyond the limit: how the file ends.
  void finish(std::string_view piece);
  uint64_t bytes() const { return bytes_; }
  uint64_t pieces() const { return pieces_; }
  uint64_t left_out() const { return left_out_; }
  /// Everything that happened before is in the file.
  FabricTime complete_until() const { return complete_until_; }

 private:
  std::ostream& out_;
  uint64_t limit_, bytes_ = 0, pieces_ = 0, left_out_ = 0;
  FabricTime complete_until_ = FabricTime::never();
};

}  // namespace mrclab::analysis
