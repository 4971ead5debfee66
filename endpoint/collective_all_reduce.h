#pragma once
// Ring all-reduce of 32-bit sums on real bytes: reduce-scatter, then all-gather, n hosts, n - 1
// steps each. Host i sends to host i + 1; each step is a Write-with-Immediate per lane.
//
//   reduce-scatter step s:  send chunk (i - s), receive chunk (i - s - 1) into scratch slot s, add
//   it all-gather step s:      send chunk (i + 1 - s), receive chunk (i - s) into the vector
//
// Why a fast neighbour cannot overwrite what is in use (all per lane, lanes are independent):
//   - vectors alternate between iterations; iteration k + 1 starts when the last send of k is
//   posted
//     and (a) all writes of iteration k - 1, which used the same vector, and (b) all reduce-scatter
//     writes of iteration k, which used the same scratch slots, are acknowledged: then the right
//     neighbour has received them, and it consumes at the instant it is told; and (c) all lanes
//     have finished iteration k - 1, so that at most two iterations are under way
//   - an all-gather chunk can only exist after every host contributed to it, hence after the
//     receiver has started this iteration and stopped using the vector of two iterations ago
//   - a receive that comes before this host has started the iteration waits (only counted: its data
//     lies in scratch)
//
// The input is seed(host, iteration) + index * step(host, iteration) modulo 2^32, so the right sum
// is known to every host in closed form, and every lane of every finished iteration is compared.

#include <vector>

#include "endpoint/application.h"
#include "endpoint/collective_layout.h"
#include "endpoint/ramp.h"

namespace mrclab::endpoint {

class AllReduce : public Application {
 public:
  struct Config {
    explicit Config(const CollectiveLayout& where) : layout(where) {}
    CollectiveLayout layout;
    size_t rank = 0;
    uint32_t iterations = 0;  ///< 0: until `end`
    FabricTime end = FabricTime::never();
    uint64_t seed = 0;          ///< of the run and this workload, the same on all hosts
    QpHandle right;             ///< to rank + 1
    QpHandle left;              ///< from rank - 1
    std::span<uint8_t> memory;  ///< this host's registered region
    uint64_t remote_va = 0;     ///< of the right neighbour's region
    uint32_t remote_rkey = 0;
  };
  explicit AllReduce(const Config& config);

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  bool finished() const override {
    return dead_ || (config_.iterations != 0 && finished_iterations_ == config_.iterations);
  }

  Ramp input_of(size_t rank, uint32_t iteration) const;
  Ramp sum_of(uint32_t iteration) const;

 private:
  struct Lane {
    uint32_t iteration = 0;   ///< the newest one started
    uint32_t receiving = 0;   ///< iteration that the next receive belongs to
    uint32_t step = 0;        ///< next receive within it, 0 .. 2(n - 1) - 1
    uint32_t waiting = 0;     ///< receives that came before their iteration was started
    bool wants_next = false;  ///< all sends posted: starts the next iteration when it may
    uint32_t unacknowledged[2] = {0, 0};  ///< writes by parity of their iteration
    uint32_t unacknowledged_scatter = 0;  ///< of these, reduce-scatter writes of `iteration`
  };

  uint32_t scatter_steps() const { return static_cast<uint32_t>(config_.layout.hosts() - 1); }
  size_t chunk(size_t minus) const;
  bool may_start(const Verbs& verbs, const Lane& lane) const;
  void begin(Verbs& verbs, uint32_t lane, uint32_t iteration);
  void start_lanes(Verbs& verbs);
  void receive_step(Verbs& verbs, uint32_t lane);
  void send_scatter(Verbs& verbs, uint32_t lane, uint32_t step);
  void send_gather(Verbs& verbs, uint32_t lane, uint32_t step);
  void post(Verbs& verbs, uint32_t lane, ReduceChunk from, uint64_t to, bool scatter);
  void finish_lane(Verbs& verbs, uint32_t lane, uint32_t iteration);
  ReduceChunk part(uint32_t iteration, size_t chunk, uint32_t lane) const;
  std::span<uint8_t> bytes(ReduceChunk part) const {
    return config_.memory.subspan(part.offset, part.length);
  }

  Config config_;
  std::vector<Lane> lanes_;
  struct Progress {
    size_t begun = 0;     ///< lanes
    size_t finished = 0;  ///< lanes
    FabricTime started;
  };
  Progress progress_[2];  ///< of the two iterations that may be under way, by parity
  uint32_t finished_iterations_ = 0;
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
