#pragma once
// A stream of messages from one host to another on one queue pair: a pair of a permutation or of an
// incast at an offered load, or a number of writes as fast as they go. The receiver compares every
// byte with a pattern that depends on the message's number, so a stale or misplaced packet shows.
//
// Offered load is paced in whole picoseconds per message: number n may be posted at start + n x
// interval (a token bucket; after a stall it catches up), where interval = what the message's
// frames take on the sum of the host's ports, divided by the load. Frames count with all their
// overhead, so a load of 100 % is line rate. It is the host's: its queue pairs to one destination share it
// (stream_pacer.h). With Poisson arrivals the times between two messages are exponential with
// that interval as mean, drawn by von Neumann's comparisons of uniform numbers, which are exact on every machine.

#include <cstdint>
#include <memory>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/arrival_times.h"
#include "endpoint/workload/ramp.h"
#include "endpoint/workload/stream_contents.h"
#include "endpoint/workload/stream_layout.h"
#include "endpoint/workload/stream_pacer.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// The contents of message `number` of the stream between these queue pairs.
Ramp message_ramp(uint64_t seed, uint64_t number);

class StreamSender : public Application, private PacedSender {
 public:
  struct Config {
    explicit Config(const StreamLayout& where) : layout(where) {}
    StreamLayout layout;
    uint64_t seed = 0;  ///< from the run's seed and this stream, the same at both ends
    QpHandle qp;
    Memory memory;                   ///< region_size() bytes to send from
    StreamSource* source = nullptr;  ///< of `memory`, where contents are noted instead of written
    uint64_t remote_va = 0;
    uint32_t remote_rkey = 0;
    uint64_t count = 0;           ///< 0: until `end`
    uint32_t depth = 0;           ///< writes outstanding at most (perftest: tx depth); 0: all slots
    ArrivalTimes::Rule arrivals;  ///< by itself
    /// Of a host that has several queue pairs to one destination: shared by their senders, whose load it is.
    std::shared_ptr<StreamPacer> pacer;
    FabricTime end = FabricTime::never();
    WorkReport report;  ///< with who and what filled in
  };
  explicit StreamSender(const Config& config)
      : config_(config), times_(config.arrivals), posted_at_(config.layout.slots()) {}

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs&, QpHandle, uint32_t) override {}
  void on_wake(Verbs& verbs) override;
  void on_qp_error(Verbs&, QpHandle, std::string_view) override { dead_ = true; }
  bool finished() const override {
    return dead_ || (config_.count != 0 && completed_ == config_.count);
  }
  const WorkReport* work() const override { return &config_.report; }

 private:
  bool slot_is_free() const;
  void pump(Verbs& verbs);
  // PacedSender
  bool has_room() const override;
  uint64_t open() const override { return posted_ - completed_; }
  bool post_next(Verbs& verbs) override;

  Config config_;
  ArrivalTimes times_;
  std::vector<FabricTime> posted_at_;  ///< by slot
  uint64_t posted_ = 0;
  uint64_t completed_ = 0;
  bool sleeping_ = false;
  bool dead_ = false;
};

class StreamReceiver : public Application {
 public:
  struct Config {
    explicit Config(const StreamLayout& where) : layout(where) {}
    StreamLayout layout;
    uint64_t seed = 0;
    QpHandle qp;
    ConstMemory memory;
    const StreamInbox* inbox = nullptr;  ///< in place of `memory`
    uint64_t count = 0;                  ///< 0: unknown
  };
  explicit StreamReceiver(const Config& config) : config_(config) {}

  void start(Verbs&) override {}
  void on_write_complete(Verbs&, QpHandle, uint64_t) override {}
  /// The immediate is the number of messages sent so far, modulo 2^32.
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  void on_qp_error(Verbs&, QpHandle, std::string_view) override { dead_ = true; }
  /// False: the check stands for the lab, and must look before the sender, which does not wait for
  /// it, writes to the slot again.
  bool stands_still() const override { return false; }
  bool finished() const override {
    return dead_ || (config_.count != 0 && verified_ == config_.count);
  }

 private:
  /// Bytes of the next message that are not what was sent.
  uint64_t count_mismatched_bytes() const;

  Config config_;
  uint64_t verified_ = 0;
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
