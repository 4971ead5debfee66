#pragma once
// A stream of messages from one host to another on one queue pair: a pair of a permutation or of an
// incast at an offered load, or a number of writes as fast as they go. The receiver compares every
// byte with a pattern that depends on the message's number, so a stale or misplaced packet shows.
//
// Offered load is paced in whole picoseconds per message: number n may be posted at start + n x
// interval (a token bucket; after a stall it catches up), where interval = what the message's
// frames take on the sum of the host's ports, divided by the load. Frames count with all their
// overhead, so a load of 100 % is line rate. With Poisson arrivals the times between two messages are exponential with
// that interval as mean, drawn by von Neumann's comparisons of uniform numbers, which are exact on every machine.

#include <cstdint>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/ramp.h"
#include "endpoint/workload/stream_layout.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

/// Time that one message of `size` takes at `load` of all `ports` of this rate; rounded up.
FabricTime message_interval(Bytes size, uint32_t pmtu, BitRate port_rate, uint32_t ports,
                            Probability load);

/// The time that a message of `size` takes at a rate of its bytes; rounded up.
FabricTime message_interval(Bytes size, BitRate rate);

/// An exponential time with this mean, the `number`-th of a seed (J. von Neumann, Various techniques used in connection
/// with random digits, 1951).
FabricTime exponential_time(FabricTime mean, uint64_t seed, uint64_t number);

/// The contents of message `number` of the stream between these queue pairs.
Ramp message_ramp(uint64_t seed, uint64_t number);

class StreamSender : public Application {
 public:
  struct Config {
    explicit Config(const StreamLayout& where) : layout(where) {}
    StreamLayout layout;
    uint64_t seed = 0;  ///< from the run's seed and this stream, the same at both ends
    QpHandle qp;
    Memory memory;  ///< region_size() bytes to send from
    uint64_t remote_va = 0;
    uint32_t remote_rkey = 0;
    uint64_t count = 0;    ///< 0: until `end`
    uint32_t depth = 0;    ///< writes outstanding at most (perftest: tx depth); 0: all slots
    FabricTime first;      ///< when message 0 may be posted, if paced
    FabricTime interval;   ///< zero: as fast as they go
    bool poisson = false;  ///< the interval is a mean
    FabricTime end = FabricTime::never();
    WorkReport report;  ///< with who and what filled in
  };
  explicit StreamSender(const Config& config)
      : config_(config), posted_at_(config.layout.slots()) {}

  void start(Verbs& verbs) override { pump(verbs); }
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
  FabricTime due() const;
  void pump(Verbs& verbs);

  Config config_;
  std::vector<FabricTime> posted_at_;  ///< by slot
  FabricTime waited_;  ///< of Poisson arrivals: from `first` to the last message that was posted
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
    uint64_t count = 0;  ///< 0: unknown
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
  Config config_;
  uint64_t verified_ = 0;
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
