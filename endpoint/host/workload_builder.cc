#include "endpoint/host/workload_builder.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "endpoint/launch/job_agent.h"
#include "endpoint/workload/collective.h"
#include "endpoint/workload/job_inbox.h"
#include "endpoint/workload/job_work.h"
#include "endpoint/workload/ping_pong.h"
#include "endpoint/workload/ramp.h"
#include "endpoint/workload/slotted_collective.h"
#include "endpoint/workload/stream.h"
#include "fabric/base/random.h"

namespace mrclab::endpoint {

struct WorkloadBuilder::Context {
  uint32_t workload = 0;
  FabricTime start;
  FabricTime end;
  StreamContents* contents = nullptr;      ///< HostConfig::contents
  std::vector<const ConnectionPlan*> own;  ///< those of this workload that begin or end here
  uint32_t first = 0;                      ///< number of its first connection, wherever that is

  WorkReport report(uint32_t from, uint32_t to, uint32_t queue, Bytes unit) const {
    return {workload, from, to, queue, unit, 0, {}, {}, {}};
  }
};

void WorkloadBuilder::add_applications(const HostConfig& config,
                                       const OwnConnections& connections) {
  const std::vector<ConnectionPlan>& plan = connections.plan();
  const std::span<const uint32_t> places = connections.of(host_.self);
  size_t next = 0;  // both are in the order of workloads
  for (uint32_t w = 0; w < config.workloads.size(); ++w) {
    const WorkloadSpec& spec = config.workloads[w];
    ends_ = ends(spec);
    Context context{
        w, start_of(spec), config.end, config.payload_elided ? nullptr : config.contents, {}};
    while (next < places.size() && plan[places[next]].workload == w) {
      context.own.push_back(&plan[places[next++]]);
    }
    const auto before = [w](const ConnectionPlan& c) { return c.workload < w; };
    context.first = static_cast<uint32_t>(std::partition_point(plan.begin(), plan.end(), before) -
                                          plan.begin());
    const auto paced = [&](Bytes message, Probability load) {
      return message_interval(message, host_.profile.pmtu, host_.topology.host_rate,
                              host_.topology.planes, load);
    };
    if (const auto* collective = std::get_if<CollectiveSpec>(&spec)) {
      add_collective(context, *collective);
    } else if (const auto* permutation = std::get_if<PermutationSpec>(&spec)) {
      add_streams(context, {permutation->message, permutation->qps, 0, 0,
                            paced(permutation->message, permutation->load)});
    } else if (const auto* write = std::get_if<WriteSpec>(&spec)) {
      add_streams(context, {write->size, write->qps, write->count, write->depth,
                            write->rate.bps == 0 ? FabricTime::zero()
                                                 : message_interval(write->size, write->rate),
                            write->arrivals == Arrivals::kPoisson});
    } else if (const auto* incast = std::get_if<IncastSpec>(&spec)) {
      add_streams(context,
                  {incast->message, incast->qps, 0, 0, paced(incast->message, incast->load)});
    } else if (const auto* ping = std::get_if<PingPongSpec>(&spec)) {
      add_ping_pong(context, *ping);
    } else if (const auto* job = std::get_if<JobWorkload>(&spec)) {
      add_job(context, *job);
    }
  }
}

StreamSource* WorkloadBuilder::source_of(const Context& context, const ConnectionPlan& connection,
                                         const StreamLayout& layout) const {
  if (context.contents == nullptr) return nullptr;
  // A receiver of RC with `recovery: placing` copies the payload of packets whose message has not begun there, so the
  // sender has to write that payload.
  const TransportKind transport = connection.transport.value_or(host_.profile.transport);
  const bool stored =
      transport == TransportKind::kRoce && host_.profile.recovery == RcRecovery::kPlacing;
  return stored ? nullptr : &context.contents->source(connection.number, layout);
}

Memory WorkloadBuilder::send_buffer(uint64_t size) {
  if (host_.payload_elided) return Memory::elided(size);
  memory_.send_buffers.push_back(std::make_unique_for_overwrite<uint8_t[]>(size));
  return {memory_.send_buffers.back().get(), size};
}

Memory WorkloadBuilder::region(const RegionPlan& plan) {
  return host_.payload_elided ? memory_.regions.add_elided(plan)
                              : Memory(memory_.regions.register_region(plan));
}

void WorkloadBuilder::add_collective(const Context& context, const CollectiveSpec& spec) {
  const auto me = std::find(spec.hosts.begin(), spec.hosts.end(), host_.self);
  if (me == spec.hosts.end()) return;
  if (spec.slots) return add_slotted(context, spec);
  Collective::Config c(CollectiveSchedule(spec.kind, spec.size, spec.hosts.size(), spec.qps));
  c.rank = static_cast<size_t>(me - spec.hosts.begin());
  c.iterations = spec.iterations;
  c.end = context.end;
  c.seed = mix64(host_.environment.seed ^ mix64(context.workload));
  c.report = context.report(host_.self, host_.self, 0, spec.size);
  c.own = send_buffer(c.schedule.own_size().value);
  c.links.resize(c.schedule.links());
  const auto rank_of = [&](uint32_t host) {
    return static_cast<size_t>(std::find(spec.hosts.begin(), spec.hosts.end(), host) -
                               spec.hosts.begin());
  };
  std::vector<QpHandle> qps;
  for (const ConnectionPlan* const connection : context.own) {
    if (connection->initiator.host == host_.self) {
      const size_t to = rank_of(connection->acceptor.host);
      Collective::Link& link = c.links[c.schedule.link_between(c.rank, to)];
      link.out.push_back(qps.emplace_back(handle_of(connection->initiator)));
      link.remote_va = connection->region.va;
      link.remote_rkey = connection->region.rkey;
    }
    if (connection->acceptor.host == host_.self) {
      const size_t from = rank_of(connection->initiator.host);
      Collective::Link& link = c.links[c.schedule.link_between(from, c.rank)];
      link.in.push_back(qps.emplace_back(handle_of(connection->acceptor)));
      if (connection->queue == 0) link.inbox = region(connection->region);
    }
  }
  add_application(std::make_unique<Collective>(std::move(c)), qps, context.start);
}

void WorkloadBuilder::add_slotted(const Context& context, const CollectiveSpec& spec) {
  const auto rank_of = [&](uint32_t host) {
    return static_cast<size_t>(std::find(spec.hosts.begin(), spec.hosts.end(), host) -
                               spec.hosts.begin());
  };
  SlottedCollective::Config c(SlotProgram(spec.kind, spec.size, spec.hosts.size(), *spec.slots));
  c.rank = rank_of(host_.self);
  c.iterations = spec.iterations;
  c.end = context.end;
  c.seed = mix64(host_.environment.seed ^ mix64(context.workload));
  c.report = context.report(host_.self, host_.self, 0, spec.size);
  c.credit = send_buffer(SlottedCollective::kCreditBytes);
  c.links.resize(c.program.links());
  for (SlottedCollective::Link& link : c.links) {
    link.outgoing = send_buffer(c.program.inbox_size().value);
  }
  std::vector<QpHandle> qps;
  for (const ConnectionPlan* const connection : context.own) {
    const size_t number = c.program.link_between(rank_of(connection->initiator.host),
                                                 rank_of(connection->acceptor.host));
    SlottedCollective::Link& link = c.links[number];
    if (connection->initiator.host == host_.self) {
      link.out.push_back(qps.emplace_back(handle_of(connection->initiator)));
      if (connection->queue == 0) {
        link.remote_va = connection->region.va;
        link.remote_rkey = connection->region.rkey;
        region(*connection->way_back);
      }
    }
    if (connection->acceptor.host == host_.self) {
      link.in.push_back(qps.emplace_back(handle_of(connection->acceptor)));
      if (connection->queue == 0) {
        link.inbox = region(connection->region);
        link.credit_va = connection->way_back->va;
        link.credit_rkey = connection->way_back->rkey;
      }
    }
  }
  add_application(std::make_unique<SlottedCollective>(std::move(c)), qps, context.start);
}

void WorkloadBuilder::add_streams(const Context& context, const StreamPlan& streams) {
  // Each has its share of the count: message n goes to queue pair n modulo qps.
  // A load is that of all of them together (endpoint/workload/stream_pacer.h).
  const uint64_t qps = streams.qps;
  std::map<uint32_t, std::shared_ptr<StreamPacer>> pacers;  // by destination
  for (const ConnectionPlan* const connection : context.own) {
    const StreamLayout layout(streams.message, connection->in_flight);
    const uint64_t seed = mix64(host_.environment.seed ^
                                mix64(uint64_t{context.workload} << 32 | connection->number));
    const uint64_t count =
        streams.count == 0 ? 0 : (streams.count - connection->queue + qps - 1) / qps;
    if (connection->initiator.host == host_.self) {
      StreamSender::Config c(layout);
      c.seed = seed;
      c.qp = handle_of(connection->initiator);
      c.source = source_of(context, *connection, layout);
      c.memory = c.source != nullptr ? c.source->memory() : send_buffer(layout.region_size().value);
      c.remote_va = connection->region.va;
      c.remote_rkey = connection->region.rkey;
      c.count = count;
      c.depth = streams.depth;
      c.arrivals = {context.start, streams.interval, streams.poisson, seed};
      if (qps > 1 && streams.interval > FabricTime::zero()) {
        auto& pacer = pacers[connection->acceptor.host];
        if (!pacer) pacer = std::make_shared<StreamPacer>(c.arrivals, context.end);
        c.pacer = pacer;
      }
      c.end = context.end;
      c.report =
          context.report(host_.self, connection->acceptor.host, connection->queue, streams.message);
      add_application(std::make_unique<StreamSender>(c), std::array{c.qp}, context.start);
    }
    if (connection->acceptor.host == host_.self) {
      StreamReceiver::Config c(layout);
      c.seed = seed;
      c.qp = handle_of(connection->acceptor);
      if (const StreamSource* source = source_of(context, *connection, layout)) {
        memory_.inboxes.push_back(
            std::make_unique<StreamInbox>(layout, host_.profile.pmtu, *source));
        c.inbox = memory_.inboxes.back().get();
        memory_.regions.add_external(connection->region, *memory_.inboxes.back(),
                                     AccessFlags::all(), 0);
      } else {
        c.memory = region(connection->region);
      }
      c.count = count;
      add_application(std::make_unique<StreamReceiver>(c), std::array{c.qp}, context.start);
    }
  }
}

void WorkloadBuilder::add_ping_pong(const Context& context, const PingPongSpec& spec) {
  for (const ConnectionPlan* const connection : context.own) {
    if (!connection->way_back) continue;
    for (const bool pings : {true, false}) {
      const EndPlan& mine = pings ? connection->initiator : connection->acceptor;
      if (mine.host != host_.self) continue;
      const RegionPlan& theirs = pings ? connection->region : *connection->way_back;
      PingPong::Config c;
      c.pings = pings;
      c.size = spec.size;
      c.count = spec.count;
      c.end = context.end;
      c.seed = mix64(host_.environment.seed ^ mix64(context.workload));
      c.qp = handle_of(mine);
      c.memory = send_buffer(theirs.size.value);
      c.inbox = region(pings ? *connection->way_back : connection->region);
      c.remote_va = theirs.va;
      c.remote_rkey = theirs.rkey;
      c.report = context.report(spec.from, spec.to, 0, spec.size);
      add_application(std::make_unique<PingPong>(c), std::array{c.qp}, context.start);
    }
  }
}

struct WorkloadBuilder::JobPart {
  uint32_t attempt = 0;
  uint32_t first = 0;  ///< number of its first connection
  uint32_t rank = 0;   ///< in the job's first attempt, where each rank is a part by itself
  uint32_t ranks = 1;  ///< that a host can have in a later attempt
  std::shared_ptr<const JobPlan> plan;
  const std::vector<JobPair>& pairs;  ///< of ranks in the first attempt, of hosts in later ones
  std::shared_ptr<const std::vector<uint32_t>> slots = nullptr;  ///< JobAttempt::slots
};

void WorkloadBuilder::add_job(const Context& context, const JobWorkload& job) {
  const std::vector<uint32_t>& hosts = job.spec.hosts;
  std::vector<std::vector<JobWork*>> attempts(1);
  std::map<uint32_t, JobWork*> ranks;
  for (uint32_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != host_.self) continue;
    const JobPart part{0, context.first, rank, 1, job.plan, job.plan->pairs};
    ranks[rank] = attempts[0].emplace_back(add_attempt(context, job, part).front());
  }
  for (const auto& [from, work] : ranks) {
    for (const auto& [to, other] : ranks) {
      if (from != to) work->copy_to(to, *other);
    }
  }
  if (!job.recovery) return;
  const JobRecovery& recovery = *job.recovery;
  const auto here = std::find(recovery.hosts.begin(), recovery.hosts.end(), host_.self);
  if (here == recovery.hosts.end()) return;
  auto first = context.first + static_cast<uint32_t>(job.plan->pairs.size()) * job.qps;
  for (const JobAttempt& later : recovery.later) {
    const auto number = static_cast<uint32_t>(attempts.size());
    attempts.push_back(add_attempt(
        context, job,
        {number, first, 0, later.most_on_a_host, later.plan, later.pairs, later.slots}));
    first += static_cast<uint32_t>(later.pairs.size()) * job.qps;
  }
  add_agent(context, job, std::move(attempts));
}

std::vector<JobWork*> WorkloadBuilder::add_attempt(const Context& context, const JobWorkload& job,
                                                   const JobPart& part) {
  const bool later = part.attempt > 0;
  const auto name_of = [&](uint32_t end) {
    const uint32_t host = later ? end : job.spec.hosts[end];
    return host_.topology.node(host_.topology.host(host)).name;
  };
  JobWork::Config common;
  common.plan = part.plan;
  common.rank = part.rank;
  common.attempt = part.attempt;
  common.seed =
      mix64(host_.environment.seed ^ mix64(uint64_t{part.attempt} << 32 | context.workload));
  common.at = context.start;
  common.report = context.report(host_.self, host_.self, 0, {});
  if (const auto& on_error = job.spec.on_error; on_error && on_error->watchdog) {
    common.watchdog = *on_error->watchdog / job.spec.scale;
  }
  if (job.spec.checkpoint) common.checkpoint_every = job.spec.checkpoint->every;
  std::vector<JobWork::Config> ranks(part.ranks, common);
  std::vector<std::vector<QpHandle>> out(part.ranks);
  std::vector<JobInbox::Config> inboxes;
  for (const ConnectionPlan* const connection : context.own) {
    if (connection->control || connection->attempt != part.attempt) continue;
    // Connections of an attempt stand in the order of its pairs, `qps` for each.
    const JobPair& pair = part.pairs[(connection->number - part.first) / job.qps];
    const JobLayout layout(pair, connection->in_flight);
    const auto is_mine = [&](const EndPlan& end, uint32_t rank) {
      return end.host == host_.self && (later || rank == part.rank);
    };
    if (is_mine(connection->initiator, pair.from)) {
      JobWork::Config& sender = ranks.at(pair.slot);
      if (connection->queue == 0) {
        JobWork::Link& link = sender.links.emplace_back(layout);
        link.to = pair.to;
        link.to_host = name_of(pair.to);
        link.remote_va = connection->region.va;
        link.remote_rkey = connection->region.rkey;
        link.memory = send_buffer(connection->region.size.value);
      }
      sender.links.back().qps.push_back(
          out[pair.slot].emplace_back(handle_of(connection->initiator)));
    }
    if (is_mine(connection->acceptor, pair.to)) {
      if (connection->queue == 0) {
        JobInbox::Config& inbox = inboxes.emplace_back(layout);
        inbox.plan = part.plan;
        inbox.from = pair.from;
        inbox.to = pair.to;
        inbox.slots = part.slots;
        inbox.from_host = name_of(pair.from);
        inbox.seed = common.seed;
        inbox.memory = region(connection->region);
      }
      inboxes.back().qps.push_back(handle_of(connection->acceptor));
    }
  }
  std::vector<JobWork*> works;  // applications live as long as their host
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto work = std::make_unique<JobWork>(std::move(ranks[i]));
    works.push_back(work.get());
    add_application(std::move(work), out[i], context.start);
  }
  for (JobInbox::Config& inbox : inboxes) {
    inbox.ranks = works;
    const std::vector<QpHandle> in = inbox.qps;
    add_application(std::make_unique<JobInbox>(std::move(inbox)), in, context.start);
  }
  return works;
}

void WorkloadBuilder::add_agent(const Context& context, const JobWorkload& job,
                                std::vector<std::vector<JobWork*>> attempts) {
  JobAgent::Config c;
  c.spec = job.recovery->spec;
  c.workload = context.workload;
  c.self = host_.self;
  c.launcher = job.recovery->launcher;
  c.later = static_cast<uint32_t>(job.recovery->later.size());
  c.attempts = std::move(attempts);
  std::vector<QpHandle> qps;
  for (const ConnectionPlan* const connection : context.own) {
    if (!connection->control) continue;
    if (connection->initiator.host == host_.self) {
      JobAgent::Line& line = c.out.emplace_back();
      line.host = connection->acceptor.host;
      line.number = connection->queue;
      line.qp = qps.emplace_back(handle_of(connection->initiator));
      line.remote_va = connection->region.va;
      line.remote_rkey = connection->region.rkey;
      line.memory = send_buffer(kLauncherWordBytes);
      fill_ramp(line.memory, 0, {});
    }
    if (connection->acceptor.host == host_.self) {
      JobAgent::Line& line = c.in.emplace_back();
      line.host = connection->initiator.host;
      line.number = connection->queue;
      line.qp = qps.emplace_back(handle_of(connection->acceptor));
      region(connection->region);
    }
  }
  add_application(std::make_unique<JobAgent>(std::move(c)), qps, context.start);
}

QpHandle WorkloadBuilder::handle_of(const EndPlan& end) const {
  return queues_.find(end.qpn)->handle();
}

void WorkloadBuilder::add_application(std::unique_ptr<Application> application,
                                      std::span<const QpHandle> queue_pairs, FabricTime start) {
  runner_.schedule_start(runner_.add_application(std::move(application), queue_pairs, ends_),
                         start);
}

}  // namespace mrclab::endpoint
