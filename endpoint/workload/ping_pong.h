#pragma once
// Ping-pong of messages between two hosts on one queue pair, as perftest's write_lat does it: half
// of a round trip is the latency.
//
// Each ping and pong is a Write-with-Immediate, and the immediate signals that it is there. perftest
// polls the last byte of the memory instead; MRC places packets out of order, so that is no sign
// of a message of several packets. Up to one PMTU both are the same instant.

#include <cstdint>

#include "endpoint/base/application.h"
#include "endpoint/workload/ramp.h"

namespace mrclab::endpoint {

class PingPong : public Application {
 public:
  /// Slots at either end, so that the next message may be written while the last one's ACK is due.
  static constexpr uint64_t kSlots = 2;

  struct Config {
    bool pings = false;  ///< this end begins; the other one answers
    Bytes size;
    uint64_t count = 0;  ///< 0: until `end`
    FabricTime end = FabricTime::never();
    uint64_t seed = 0;  ///< from the run's seed and this workload, the same at both ends
    QpHandle qp;
    Memory memory;  ///< kSlots x size to send from
    ConstMemory inbox;
    uint64_t remote_va = 0;
    uint32_t remote_rkey = 0;
    WorkReport report;  ///< with who and what filled in; used by the end that pings
  };
  explicit PingPong(const Config& config) : config_(config) {}

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  void on_qp_error(Verbs&, QpHandle, std::string_view) override { dead_ = true; }
  bool finished() const override {
    return dead_ || (config_.count != 0 && received_ == config_.count && acked_ == posted_);
  }
  const WorkReport* work() const override { return config_.pings ? &config_.report : nullptr; }

  /// The contents of ping or pong `number`.
  Ramp contents(bool ping, uint64_t number) const;

 private:
  void post_if_due(Verbs& verbs);
  uint64_t slot(uint64_t number) const { return number % kSlots * config_.size.value; }

  Config config_;
  uint64_t posted_ = 0;
  uint64_t acked_ = 0;
  uint64_t received_ = 0;
  FabricTime posted_at_;  ///< when the newest message was posted
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
