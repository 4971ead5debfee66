#include "job/run/ideal_run.h"

#include <algorithm>
#include <map>
#include <queue>

#include "job/run/job_rank.h"

namespace mrclab::job {
namespace {

/// What happens at an instant; of one instant in this order, and then in that of the operations.
struct Event {
  FabricTime at;
  enum Kind : uint8_t { kArrived, kAcknowledged, kWake } kind = kWake;
  uint32_t index = 0;  ///< of a send; of a rank that is woken
  auto operator<=>(const Event&) const = default;
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

/// A rank, its host's rate, which it may share with others, and its own for copies.
class IdealHost : public RankHost {
 public:
  IdealHost(const JobProgram& program, uint32_t rank, const IdealNetwork& network,
            FabricTime& free_at, Events& events)
      : program_(program),
        rank_(program, rank),
        network_(network),
        free_at_(free_at),
        events_(events) {}

  template <class Step>
  void at(FabricTime now, const Step& step) {
    now_ = now;
    step(rank_);
  }
  const JobRank& rank() const { return rank_; }

  void send(uint32_t op) override {
    if (program_.is_local(op)) return copy(op);
    free_at_ = std::max(free_at_, now_) +
               serialization_time({program_.graph().op(op).bytes}, network_.rate);
    events_.push({free_at_ + network_.latency, Event::kArrived, op});
    events_.push({free_at_ + network_.latency * 2, Event::kAcknowledged, op});
  }
  void wake_at(FabricTime when) override {
    if (when == woken_at_) return;
    woken_at_ = when;
    events_.push({when, Event::kWake, rank_.rank()});
  }

 private:
  void copy(uint32_t op) {
    const RankSites& sites = program_.sites();
    copied_at_ = std::max(copied_at_, now_) + sites.copy_time(program_.graph().op(op).bytes);
    events_.push({copied_at_ + sites.latency, Event::kArrived, op});
    events_.push({copied_at_ + sites.latency, Event::kAcknowledged, op});
  }

  const JobProgram& program_;
  JobRank rank_;
  const IdealNetwork& network_;
  FabricTime& free_at_;  ///< of the host's NIC
  Events& events_;
  FabricTime now_, copied_at_;
  FabricTime woken_at_ = FabricTime::never();  ///< what was asked for last
};

}  // namespace

OpTimes ideal_times(const JobProgram& program, const IdealNetwork& network) {
  Events events;
  std::map<uint32_t, FabricTime> free_at;  // by host
  std::vector<IdealHost> hosts;
  hosts.reserve(program.graph().ranks());
  for (uint32_t rank = 0; rank < program.graph().ranks(); ++rank) {
    const std::vector<uint32_t>& host_of = program.sites().host_of;
    hosts.emplace_back(program, rank, network, free_at[host_of.empty() ? rank : host_of[rank]],
                       events);
  }
  for (IdealHost& host : hosts) {
    host.at({}, [&](JobRank& rank) { rank.start({}, host); });
  }
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    const uint32_t number = event.kind == Event::kWake ? event.index
                            : event.kind == Event::kAcknowledged
                                ? program.graph().op(event.index).rank
                                : program.graph().op(event.index).peer;
    IdealHost& host = hosts[number];
    host.at(event.at, [&](JobRank& rank) {
      switch (event.kind) {
        case Event::kWake: rank.on_wake(event.at, host); break;
        case Event::kArrived: rank.on_arrived(event.index, event.at, host); break;
        case Event::kAcknowledged: rank.on_sent(event.index, event.at, host); break;
      }
    });
  }
  OpTimes all(program.graph().ops().size());
  for (const IdealHost& host : hosts) {
    const auto ops = program.ops_of(host.rank().rank());
    for (size_t i = 0; i < ops.size(); ++i) all[ops[i]] = host.rank().times()[i];
  }
  return all;
}

}  // namespace mrclab::job
