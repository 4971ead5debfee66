#include "lab/twin/twin_losses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/verdict/story_losses.h"
#include "lab/twin/answer_losses.h"

namespace mrclab::lab {
namespace {

using StepPlace = std::pair<size_t, size_t>;  // work, step

/// The step of each work that was going on; of a service all requests that waited for their first token.
std::vector<StepPlace> steps_at(const std::vector<WorkSteps>& works, FabricTime t) {
  std::vector<StepPlace> steps;
  for (size_t work = 0; work < works.size(); ++work) {
    const std::vector<FabricTime>& ends = works[work].ends;
    if (!works[work].begins.empty()) {
      for (size_t step = 0; step < ends.size(); ++step) {
        if (t >= works[work].begins[step] && t <= ends[step]) steps.emplace_back(work, step);
      }
      continue;
    }
    const auto end = std::lower_bound(ends.begin(), ends.end(), t);
    if (end == ends.end() || t < works[work].begin) continue;
    steps.emplace_back(work, static_cast<size_t>(end - ends.begin()));
  }
  return steps;
}

/// The queue pair that data goes by: from host, to host, the number at the receiver.
using QueuePairKey = std::tuple<uint32_t, uint32_t, uint32_t>;

/// Adds up what one group of faults took.
class TollCounter {
 public:
  explicit TollCounter(const std::vector<WorkSteps>& works) : works_(works) {}

  void add(const QueuePairKey& key, FabricTime t, bool answer) {
    const auto count = [&](auto& of) { ++(answer ? of.answers : of.packets); };
    count(toll_);
    count(by_queue_pair_[key]);
    for (const StepPlace& place : steps_at(works_, t)) {
      OfStep& step = by_step_[place];
      count(step);
      step.queue_pairs.insert(key);
    }
  }

  FaultToll take() {
    toll_.queue_pairs = by_queue_pair_.size();
    for (const auto& [key, lost] : by_queue_pair_) {
      const auto& [from, to, qp] = key;
      toll_.most.push_back({from, to, Qpn{qp}, lost.packets, lost.answers});
    }
    std::sort(toll_.most.begin(), toll_.most.end(), [](const auto& a, const auto& b) {
      return std::tuple(b.packets, b.answers, a.from, a.to, a.qp.value) <
             std::tuple(a.packets, a.answers, b.from, b.to, b.qp.value);
    });
    if (toll_.most.size() > FaultToll::kMaxListed) toll_.most.resize(FaultToll::kMaxListed);
    for (const auto& [place, step] : by_step_) {
      if (toll_.by_step.size() == FaultToll::kMaxListed) break;
      toll_.by_step.push_back(
          {place.first, place.second, step.packets, step.answers, step.queue_pairs.size()});
    }
    return std::move(toll_);
  }

 private:
  struct Counts {
    uint64_t packets = 0, answers = 0;
  };
  struct OfStep : Counts {
    std::set<QueuePairKey> queue_pairs;
  };

  const std::vector<WorkSteps>& works_;
  std::map<QueuePairKey, Counts> by_queue_pair_;
  std::map<StepPlace, OfStep> by_step_;
  FaultToll toll_;
};

/// An answer goes to the sender of data, a probe to its receiver.
class AnsweredQueuePairs {
 public:
  explicit AnsweredQueuePairs(const std::vector<QueuePairEnd>& ends) {
    for (const QueuePairEnd& end : ends) {
      peer_of_[{end.host, end.peer_host, end.qpn.value}] = end.peer_qpn.value;
    }
  }
  /// Empty for what two hosts send each other beside their queue pairs: probes of paths.
  std::optional<QueuePairKey> key_of(const LostAnswer& answer) const {
    const auto peer = peer_of_.find({answer.destination, answer.source, answer.qp.value});
    if (peer == peer_of_.end()) return std::nullopt;
    if (answer.probe) return QueuePairKey{answer.source, answer.destination, answer.qp.value};
    return QueuePairKey{answer.destination, answer.source, peer->second};
  }

 private:
  std::map<QueuePairKey, uint32_t> peer_of_;  ///< by host, peer, number at the host
};

}  // namespace

std::vector<FaultToll> fault_tolls(const Topology& topology, const RunLosses& run,
                                   const std::vector<analysis::FaultSpan>& faults,
                                   const std::vector<std::vector<size_t>>& groups,
                                   const std::vector<WorkSteps>& works) {
  std::vector<analysis::StruckWires> struck;
  for (const analysis::FaultSpan& fault : faults) struck.emplace_back(topology, fault);
  const analysis::PacketHistory& packets = run.packets;
  const analysis::StoryLosses losses =
      analysis::story_losses(topology, packets, topology.base_rtt, faults, struck);
  std::vector<std::vector<const LostAnswer*>> answers(faults.size());
  for (const LostAnswer& answer : run.answers) {
    const auto fault = fault_of_answer(topology, answer, faults, struck);
    if (fault) answers[*fault].push_back(&answer);
  }
  const AnsweredQueuePairs answered(run.queue_pairs);
  std::vector<FaultToll> tolls;
  for (const std::vector<size_t>& group : groups) {
    TollCounter toll(works);
    for (const size_t i : group) {
      for (const auto* list : {&losses.lost[i], &losses.refused[i]}) {
        for (const uint32_t index : *list) {
          const analysis::Attempt& attempt = packets.attempts()[index];
          const analysis::Flow& flow = packets.flows()[packets.packets()[attempt.packet].flow];
          toll.add({flow.source, flow.destination, flow.destination_qp.value}, attempt.ended,
                   false);
        }
      }
      for (const LostAnswer* answer : answers[i]) {
        if (const auto key = answered.key_of(*answer)) toll.add(*key, answer->t, true);
      }
    }
    tolls.push_back(toll.take());
  }
  return tolls;
}

}  // namespace mrclab::lab
