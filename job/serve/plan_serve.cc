#include "job/serve/plan_serve.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "job/graph/graph_check.h"
#include "job/plan/compute_time.h"
#include "job/plan/model_shape.h"
#include "job/plan/plan_job.h"
#include "job/serve/cache_size.h"
#include "job/serve/serve_schedule.h"

namespace mrclab::job {
namespace {

/// What operations of a service are for.
enum ServeLabel : uint16_t { kPrefill, kCache, kDecode, kDispatch, kCombine };

class ServeMaker {
 public:
  ServeMaker(const ServeSpec& spec, uint64_t seed)
      : spec_(spec),
        base_(job_spec_of(spec)),
        seed_(seed),
        shape_(model_shape(spec.model.preset)),
        made_{{spec.name, OpGraph(spec.ranks()), {}, {}, {}, 1, 0, {}}, {}},
        computed_(spec.ranks()) {
    made_.job.labels = {
        {"prefill", ""}, {"cache", "kv"}, {"decode", ""}, {"dispatch", "ep"}, {"combine", "ep"}};
  }

  PlannedService make() {
    Requests requests = requests_of(spec_, seed_);
    const ServeSchedule schedule = serve_schedule(spec_, requests.list);
    made_.job.notes = std::move(requests.notes);
    ServePlan& plan = made_.plan;
    plan.prefill_ranks = static_cast<uint32_t>(spec_.prefill.hosts.size());
    plan.batch = spec_.decode.batch;
    plan.compression = compression(spec_);
    if (spec_.objective) {
      plan.objective = ServeObjective{compressed(spec_, spec_.objective->ttft),
                                      compressed(spec_, spec_.objective->tpot)};
    }
    std::vector<std::optional<uint32_t>> before(plan.prefill_ranks);
    for (size_t i = 0; i < requests.list.size(); ++i) {
      add_request(requests.list[i], schedule.served_by[i], before);
    }
    plan.iterations.resize(spec_.decode.hosts.size());
    for (size_t group = 0; group < schedule.iterations.size(); ++group) {
      add_iterations(static_cast<uint32_t>(group), schedule.iterations[group]);
    }
    add_notes(schedule);
    return std::move(made_);
  }

 private:
  uint32_t add(const Op& op, ServeLabel label, const std::vector<Dependency>& waits = {}) {
    made_.job.step_of.push_back(0);
    made_.job.label_of.push_back(label);
    return made_.job.graph.add(op, waits);
  }

  /// `time` is compressed.
  Op computation(uint32_t rank, FabricTime time) {
    Op op;
    op.rank = rank;
    op.duration =
        compute_time(base_, seed_, std::max(time, kPicosecond), {rank, 0, computed_[rank]++});
    return op;
  }

  /// In whole elements.
  uint64_t scaled(uint64_t bytes) const {
    const uint64_t unit = uint64_t{spec_.scale} * kElementBytes;
    return (bytes + unit - 1) / unit * kElementBytes;
  }

  void add_request(const Request& request, const ServedBy& by,
                   std::vector<std::optional<uint32_t>>& before) {
    PlannedRequest planned;
    planned.request = request;
    planned.prefill_rank = by.prefill;
    planned.decode_rank = made_.plan.prefill_ranks + by.decode;
    const uint32_t parts = spec_.kv_by_layer ? spec_.model.blocks : 1;
    const uint32_t layers = spec_.model.blocks / parts;
    const FabricTime whole = compressed(spec_, spec_.prefill.token * request.input);
    for (uint32_t part = 0; part < parts; ++part) {
      Op compute = computation(planned.prefill_rank, whole / parts);
      compute.not_before = request.arrival;
      std::optional<uint32_t>& last = before[by.prefill];
      last = add(compute, kPrefill,
                 last ? std::vector<Dependency>{{*last}} : std::vector<Dependency>{});
      if (part == 0) planned.first_compute = *last;
      planned.last_compute = *last;
      Op send;
      send.kind = OpKind::kSend;
      send.rank = planned.prefill_rank;
      send.peer = planned.decode_rank;
      send.tag = tag_++;
      send.bytes = scaled(cache_bytes(shape_, spec_.model) * request.input * layers);
      planned.sends.push_back(add(send, kCache, {{*last}}));
      Op receive = send;
      receive.kind = OpKind::kReceive;
      std::swap(receive.rank, receive.peer);
      planned.receives.push_back(add(receive, kCache));
      planned.cache_bytes += send.bytes;
    }
    made_.plan.requests.push_back(std::move(planned));
  }

  void add_iterations(uint32_t number, const std::vector<ScheduledIteration>& iterations) {
    const uint32_t ep = spec_.decode.ep, first_rank = made_.plan.prefill_ranks + number * ep;
    uint32_t group = 0;
    if (ep > 1) {
      std::vector<uint32_t> ranks(ep);
      for (uint32_t i = 0; i < ep; ++i) ranks[i] = first_rank + i;
      group = made_.job.graph.add_group("ep", ranks);
    }
    std::vector<std::optional<uint32_t>> last(ep);
    for (const ScheduledIteration& iteration : iterations) {
      for (uint32_t i = 0; i < ep; ++i) {
        PlannedIteration planned;
        planned.first = static_cast<uint32_t>(made_.job.graph.ops().size());
        add_iteration(first_rank + i, group, iteration, last[i]);
        planned.end = static_cast<uint32_t>(made_.job.graph.ops().size());
        made_.plan.iterations[number * ep + i].push_back(planned);
      }
    }
  }

  void add_iteration(uint32_t rank, uint32_t group, const ScheduledIteration& iteration,
                     std::optional<uint32_t>& last) {
    const FabricTime step = compressed(spec_, spec_.decode.step);
    const auto chain = [&](Op op, ServeLabel label) {
      last = add(op, label, last ? std::vector<Dependency>{{*last}} : std::vector<Dependency>{});
    };
    const uint32_t parts = spec_.decode.ep == 1 ? 1 : 2 * spec_.model.blocks;
    for (uint32_t part = 0; part < parts; ++part) {
      Op compute = computation(rank, step / parts);
      if (part == 0) compute.not_before = iteration.not_before;
      chain(compute, kDecode);
      if (spec_.decode.ep == 1) continue;
      const ServeLabel label = part % 2 == 0 ? kDispatch : kCombine;
      Op exchange;
      exchange.kind = OpKind::kCollective;
      exchange.collective = Collective::kAllToAll;
      exchange.rank = rank;
      exchange.group = group;
      const uint64_t bytes = label == kDispatch
                                 ? dispatch_bytes(shape_, spec_.model, iteration.most_tokens)
                                 : combine_bytes(shape_, iteration.most_tokens);
      // Each rank gets an element at least, so that all wait for all.
      exchange.bytes = std::max<uint64_t>(scaled(bytes), kElementBytes * spec_.decode.ep);
      chain(exchange, label);
    }
  }

  void add_notes(const ServeSchedule& schedule) {
    std::vector<std::string>& notes = made_.job.notes;
    const ServePlan& plan = made_.plan;
    notes.push_back(
        fmt::format("{}: {:.1f} KiB of keys and values a token", shape_.name,
                    static_cast<double>(cache_bytes(shape_, spec_.model)) * shape_.layers / 1024));
    if (spec_.model.blocks < shape_.layers) {
      notes.push_back(fmt::format(
          "{} of {} layers: times and bytes of all are {:.2f} times as much", spec_.model.blocks,
          shape_.layers, static_cast<double>(shape_.layers) / spec_.model.blocks));
    }
    if (spec_.scale > 1) {
      notes.push_back(fmt::format(
          "bytes, computing and the time between requests are 1/{} of the service's", spec_.scale));
    }
    size_t iterations = 0;
    for (const auto& list : schedule.iterations) iterations += list.size();
    notes.push_back(fmt::format("{}, {} of decode ranks planned",
                                counted_noun(plan.requests.size(), "request"),
                                counted_noun(iterations, "iteration")));
  }

  const ServeSpec& spec_;
  const JobSpec base_;
  const uint64_t seed_;
  const ModelShape& shape_;
  PlannedService made_;
  std::vector<uint32_t> computed_;  ///< by rank
  uint32_t tag_ = 0;
};

}  // namespace

JobSpec job_spec_of(const ServeSpec& spec) {
  JobSpec job;
  job.name = spec.name;
  job.hosts = spec.hosts();
  job.jitter = spec.jitter;
  return job;
}

PlannedService plan_serve(const ServeSpec& spec, uint64_t seed) {
  PlannedService made = ServeMaker(spec, seed).make();
  check_graph(made.job.graph);
  const uint64_t packets = packets_of(made.job.graph);
  if (packets > kMaxPlanPackets) {
    throw InputError(
        fmt::format("a service of {:.1f} million packets: expected at most {} million; "
                    "fewer requests or a smaller \"scale\"",
                    static_cast<double>(packets) / 1e6, kMaxPlanPackets / 1'000'000));
  }
  return made;
}

}  // namespace mrclab::job
