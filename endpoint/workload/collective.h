#pragma once
// A collective on real bytes, as one host of it: runs the steps of a CollectiveSchedule, lane by
// lane, iteration after iteration. Every step is a Write-with-Immediate per lane.
//
// Memory that a write was sent from keeps its bytes until the write is acknowledged, because the NIC
// may have to send it again; and memory that a neighbour writes to keeps them until they are used.
// All per lane, lanes are independent:
//   - an acknowledgement means that the neighbour's NIC has placed the data, not that the neighbour
//     has used it: it may be paused
//   - own memory alternates between iterations; iteration k + 1 starts when k has finished here and
//     (a) all writes of k - 1, which were sent from the same memory, are acknowledged, and (b) all
//     lanes have finished k - 1, so that at most two iterations are under way
//   - a host that has finished k has received data of k from every host that it sends to: directly in
//     sendrecv and all_to_all, by way of others in a ring. So those hosts have started k, hence finished
//     k - 1, and have used up what k + 1 will overwrite in an inbox that alternates, too
//   - a ring passes on what it gathers from the results in its inbox. A host that has started k has
//     the acknowledgements of k - 2, by (a), but perhaps not those of k - 1: results that k + 1
//     overwrites must be those of k - 2, so there are three
//   - in a ring, a receive that comes before this host has started the iteration waits (only
//     counted: its data lies in scratch, or among results that no host writes until it was passed on)
//
// The input of host r is start(r, iteration) + index * step(r, iteration) modulo 2^32, so every
// result, sums too, has a closed form; every byte of every finished iteration is compared.

#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/collective_data.h"
#include "endpoint/workload/collective_schedule.h"

namespace mrclab::endpoint {

class Collective : public Application {
 public:
  /// A link to one other host and a link from one (CollectiveSchedule names the hosts).
  struct Link {
    std::vector<QpHandle> out;  ///< queue pairs, lane l uses out[l modulo size]
    std::vector<QpHandle> in;
    uint64_t remote_va = 0;  ///< address of the inbox at the other end
    uint32_t remote_rkey = 0;
    Memory inbox;  ///< registered memory that the other host writes to
  };
  struct Config {
    explicit Config(const CollectiveSchedule& what) : schedule(what) {}
    CollectiveSchedule schedule;
    size_t rank = 0;
    uint32_t iterations = 0;  ///< 0: until `end`
    FabricTime end = FabricTime::never();
    uint64_t seed = 0;  ///< from the run's seed and this workload, the same on all hosts
    std::vector<Link> links;
    Memory own;         ///< own_size() bytes
    WorkReport report;  ///< members that name the work are filled in
  };
  explicit Collective(Config config);

  void start(Verbs& verbs) override;
  void on_write_complete(Verbs& verbs, QpHandle qp, uint64_t id) override;
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  void on_qp_error(Verbs&, QpHandle, std::string_view) override { dead_ = true; }
  bool finished() const override {
    return dead_ || (config_.iterations != 0 && finished_iterations_ == config_.iterations);
  }
  const WorkReport* work() const override { return &config_.report; }

  Ramp input_of(size_t rank, uint32_t iteration) const { return data().input_of(rank, iteration); }
  Ramp sum_of(uint32_t iteration) const { return data().sum_of(iteration); }

 private:
  CollectiveData data() const { return {config_.seed, config_.schedule.hosts()}; }
  struct Lane {
    uint32_t iteration = 0;  ///< the newest one started
    uint32_t finished = 0;   ///< iterations
    uint32_t step = 0;       ///< chained: next receive within iteration `finished`
    uint32_t waiting = 0;    ///< chained: receives that came before their iteration was started
    std::vector<uint32_t> received;       ///< not chained: iterations received, by link
    uint32_t unacknowledged[2] = {0, 0};  ///< writes by parity of their iteration
  };
  struct Progress {
    size_t begun = 0;     ///< lanes
    size_t finished = 0;  ///< lanes
    FabricTime started;
  };

  bool may_start(const Verbs& verbs, const Lane& lane) const;
  void start_lanes(Verbs& verbs);
  void begin(Verbs& verbs, uint32_t lane, uint32_t iteration);
  void fill(uint32_t lane, uint32_t iteration);
  void receive_in_chain(Verbs& verbs, uint32_t lane);
  void receive_apart(Verbs& verbs, uint32_t lane, size_t link);
  void finish_if_all_received(Verbs& verbs, uint32_t lane);
  void finish_lane(Verbs& verbs, uint32_t lane);
  void use(Verbs& verbs, const CollectiveSchedule::Receive& received, uint32_t iteration);
  void post(Verbs& verbs, uint32_t lane, uint32_t step);

  Config config_;
  std::vector<Lane> lanes_;
  Progress progress_[2];  ///< the two iterations that may be under way, by parity
  uint32_t finished_iterations_ = 0;
  bool dead_ = false;
};

}  // namespace mrclab::endpoint
