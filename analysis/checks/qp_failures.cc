#include "analysis/checks/qp_failures.h"

#include <algorithm>

#include "analysis/history/path_wires.h"

namespace mrclab::analysis {

QpFailureJudge::QpFailureJudge(const JudgedRun& run)
    : run_(run),
      outages_(run.topology, run.faults, run.schedule),
      pauses_(run.topology, run.history.pauses(), run.schedule, run.measurements.end) {
  for (const HostReport& host : run.hosts.hosts) {
    const auto node = run.topology.find_node(host.host);
    if (!node) continue;
    for (const QueueReport& queue : host.queues) {
      remotes_[{run.topology.node(*node).index, queue.qp}] = {queue.peer, queue.remote};
    }
  }
  if (run.rc_retry_span == FabricTime::zero()) return;
  for (const Attempt& attempt : run.history.attempts()) {
    const Flow& flow = run.history.flows()[run.history.packets()[attempt.packet].flow];
    evs_.try_emplace({flow.source, flow.destination, flow.destination_qp}, attempt.ev);
  }
}

std::optional<Path> QpFailureJudge::flow_path(const QpFailure& failure) const {
  const auto remote = remotes_.find({failure.host, failure.qp});
  if (remote == remotes_.end()) return std::nullopt;
  const auto ev = evs_.find({failure.host, remote->second.peer, remote->second.qp});
  if (ev == evs_.end()) return std::nullopt;
  const std::optional<Path> path = path_of(ev->second);
  return path && path->chosen == Chosen::kByFlow ? path : std::nullopt;
}

FabricTime QpFailureJudge::since(const QpFailure& failure) const {
  return failure.t - (flow_path(failure) ? run_.rc_retry_span : run_.retry_span);
}

QpFailureJudge::Finding QpFailureJudge::find_reason(const QpFailure& failure) {
  if (!failure.peer) return Finding::kWrongly;
  if (had_to(failure, *failure.peer)) {
    rightly_.insert({failure.host, *failure.peer});
    rightly_of_flows_.insert({failure.host, failure.qp});
    return Finding::kRightly;
  }
  const auto remote = remotes_.find({failure.host, failure.qp});
  const bool seen = remote != remotes_.end() &&
                    evs_.contains({failure.host, remote->second.peer, remote->second.qp});
  return run_.rc_retry_span == FabricTime::zero() || seen ? Finding::kWrongly : Finding::kUnknown;
}

bool QpFailureJudge::had_to(const QpFailure& failure, uint32_t peer) const {
  if (run_.lost_power(failure.host, failure.t) || run_.lost_power(peer, failure.t)) return true;
  if (const std::optional<Path> flow = flow_path(failure)) {
    return flow_was_dead(failure, peer, *flow);
  }
  // A peer whose QP failed before answers with a fatal NACK: then ours has to fail as well.
  return rightly_.contains({peer, failure.host}) ||
         !outages_.path_lives(failure.host, peer, since(failure), failure.t) ||
         !outages_.path_lives(peer, failure.host, since(failure), failure.t);
}

bool QpFailureJudge::flow_was_dead(const QpFailure& failure, uint32_t peer, Path flow) const {
  const FabricTime from = since(failure);
  // A queue pair in error drops what comes, and its peer gets no more answers.
  if (rightly_of_flows_.contains({peer, remotes_.at({failure.host, failure.qp}).qp})) return true;
  return !outages_.flow_lives(failure.host, peer, flow, from, failure.t,
                              run_.topology.lossless.adaptive) ||
         !outages_.flow_lives(peer, failure.host, flow, from, failure.t, false) ||
         outages_.receiver_slowed(peer, from, failure.t) ||
         stood_paused(failure.host, peer, flow, from, failure.t);
}

/// For half of the time that it tried, or longer: our choice. What gets through between pauses is answered
/// and begins the count of retries again.
bool QpFailureJudge::stood_paused(uint32_t from, uint32_t to, Path flow, FabricTime since,
                                  FabricTime until) const {
  const std::optional<Path> built = built_path(run_.topology, from, to, ev_of(flow));
  if (!built) return false;
  const std::vector<PortRef> ports = exits_of(run_.topology, from, to, *built);
  return std::any_of(ports.begin(), ports.end(), [&](PortRef port) {
    return pauses_.paused(port, since, until) * 2 >= until - since;
  });
}

}  // namespace mrclab::analysis
