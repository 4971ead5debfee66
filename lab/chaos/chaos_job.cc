#include "lab/chaos/chaos_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "endpoint/workload/workload_entry.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"
#include "faults/draws.h"
#include "job/plan/plan_job.h"
#include "lab/chaos/chaos_transport.h"
#include "scenario/judging/measured_jobs.h"

namespace mrclab::lab {
namespace {

/// The stream behind those of transports, which has faults of the transport behind it too.
constexpr uint32_t kJobDraws = kTransportDraws + 1;
/// Vectors are whole elements for any number of ranks and parts that is drawn.
constexpr int64_t kSizeGrain = 64;

/// What a job is like, but for how many steps it has, and how large they are.
struct JobShape {
  std::vector<std::string> hosts;
  std::string groups, inner;  ///< "tp: 2, dp: 4"; the name of the first of two, or empty
  std::string rest;           ///< further keys, each with ", " before it
  uint32_t microbatches = 1;
  FabricTime compute;      ///< of a forward pass
  int64_t inner_size = 0;  ///< bytes that the inner groups exchange
  int64_t outer_size = 0;  ///< bytes of the gradients
  std::string inner_exchange, outer_exchange, beside;
  uint32_t parts = 1;
  bool barrier = false;
};

class JobDraw {
 public:
  JobDraw(faults::Draws& draws, const Topology& topology) : draws_(draws), topology_(topology) {}

  JobShape draw() {
    draw_ranks();
    draw_groups();
    const FabricTime rtt = topology_.base_rtt;
    shape_.compute = FabricTime::from_ns(draws_.by_magnitude(rtt.ns() / 2 + 1, rtt.ns() * 4 + 2));
    shape_.inner_size = size(8 << 10, 256 << 10);
    shape_.outer_size = size(16 << 10, 1 << 20);
    draw_exchanges();
    shape_.barrier = draws_.one_in(4);
    if (draws_.one_in(2)) shape_.rest += fmt::format(", jitter: {}%", draws_.between(1, 5));
    if (draws_.one_in(4)) shape_.rest += fmt::format(", skew: {}%", draws_.between(1, 3));
    constexpr std::array kCollectives{"", "", ", collective: {all_reduce: tree}",
                                      ", collective: {channels: 2}"};
    shape_.rest += draws_.one_of(std::span<const char* const>(kCollectives));
    return std::move(shape_);
  }

 private:
  int64_t size(int64_t least, int64_t most) {
    return draws_.by_magnitude(least, most) / kSizeGrain * kSizeGrain;
  }

  /// Some hosts, in an order of their own: where ranks are placed.
  void draw_ranks() {
    std::vector<uint32_t> all(topology_.host_count());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const size_t most = std::min<size_t>(kMaxJobRanks, all.size());
    std::vector<uint32_t> chosen = draws_.some_of(all, 2 + draws_.below(most - 1));
    for (size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[draws_.below(i)]);
    for (const uint32_t host : chosen) shape_.hosts.push_back("h" + std::to_string(host));
  }

  void draw_groups() {
    const size_t ranks = shape_.hosts.size();
    std::vector<size_t> divisors;
    for (size_t i = 2; i < ranks; ++i) {
      if (ranks % i == 0) divisors.push_back(i);
    }
    constexpr std::array kInner{"tp", "pp", "ep"};
    const std::string inner = draws_.one_of(std::span<const char* const>(kInner));
    if (divisors.empty() || draws_.one_in(4)) {
      shape_.groups = fmt::format("dp: {}", ranks);
      return;
    }
    const size_t size = draws_.one_of(std::span<const size_t>(divisors));
    shape_.inner = inner;
    shape_.groups = fmt::format("{}: {}, dp: {}", inner, size, ranks / size);
    if (inner == "pp") shape_.microbatches = static_cast<uint32_t>(draws_.between(1, 4));
    if (inner == "tp" && draws_.one_in(4)) {
      shape_.rest += fmt::format(", nodes: {{size: {}, rate: 3.6Tb/s, latency: 1us}}", size);
    }
  }

  void draw_exchanges() {
    constexpr std::array kGradients{"all_reduce", "reduce_scatter", "reduce_scatter", "broadcast"};
    shape_.outer_exchange = draws_.one_of(std::span<const char* const>(kGradients));
    shape_.parts = static_cast<uint32_t>(draws_.between(1, 4));
    shape_.beside = draws_.one_in(3) ? "after: backward" : "beside: backward";
    if (shape_.inner == "ep" && draws_.one_in(2)) shape_.inner_exchange = ", skew: zipf 0.5";
  }

  faults::Draws& draws_;
  const Topology& topology_;
  JobShape shape_;
};

/// The phases of a step: a forward and a backward pass, what groups exchange between them, and gradients.
std::vector<std::string> phases_of(const JobShape& shape) {
  const std::string each = shape.microbatches > 1 ? ", each: microbatch" : "";
  const std::string back = each.empty() ? "" : each + ", pass: backward";
  std::vector<std::string> phases{
      fmt::format("forward: {{compute: {}ns{}}}", shape.compute.ns(), each)};
  const auto add = [&](std::string_view name, std::string_view kind, std::string_view keys,
                       int64_t size, std::string_view more) {
    phases.push_back(fmt::format("{}: {{{}: {{{}, size: {}B}}{}}}", name, kind, keys, size, more));
  };
  const int64_t inner = shape.inner_size, outer = shape.outer_size;
  if (shape.inner == "tp") add("sum", "all_reduce", "group: tp", inner, each);
  if (shape.inner == "ep") {
    add("dispatch", "all_to_all", "group: ep" + shape.inner_exchange, inner, each);
    add("combine", "all_to_all", "group: ep" + shape.inner_exchange, inner, each);
  }
  if (shape.inner == "pp") add("acts", "send", "group: pp, to: next", inner, each);
  phases.push_back(fmt::format("backward: {{compute: {}ns{}}}", shape.compute.ns() * 2, back));
  if (shape.inner == "pp") add("back", "send", "group: pp, to: prev", inner, back);
  add("grads", shape.outer_exchange, fmt::format("group: dp, parts: {}", shape.parts), outer,
      ", " + shape.beside);
  if (shape.outer_exchange == "reduce_scatter") {
    add("params", "all_gather", "group: dp", outer / 2 / kSizeGrain * kSizeGrain, ", after: grads");
  }
  if (shape.barrier) phases.emplace_back("together: {barrier: {group: all}, after: grads}");
  return phases;
}

endpoint::JobWorkload job_of(const JobShape& shape, uint32_t steps, uint64_t seed,
                             const Topology& topology) {
  const std::string text = fmt::format(
      "job: {{hosts: [{}], groups: {{{}}}, steps: {}, microbatches: {}{}, phases: [{{{}}}]}}",
      fmt::join(shape.hosts, ", "), shape.groups, steps, shape.microbatches, shape.rest,
      fmt::join(phases_of(shape), "}, {"));
  NameResolver names(topology, seed);
  return std::get<endpoint::JobWorkload>(
      endpoint::parse_workload(read_yaml_text(text, "chaos").with_rtt(topology.base_rtt), names)
          .front());
}

FabricTime ideal_of(const endpoint::JobWorkload& work, const Topology& topology) {
  FabricTime end;
  for (const job::OpTime& time : job::ideal_times(work.plan->program, ideal_network(topology))) {
    end = std::max(end, time.end);
  }
  return end;
}

}  // namespace

DrawnJob draw_job(uint64_t seed, const Topology& topology, FabricTime until) {
  faults::Draws draws(seed, kJobDraws);
  DrawnJob drawn;
  drawn.alone = draws.one_in(2);
  JobShape shape = JobDraw(draws, topology).draw();
  endpoint::JobWorkload one = job_of(shape, 1, seed, topology);
  // A step at the least, and of two ranks that is few packets: halving ends.
  while (job::packets_of(one.plan->planned.graph) * 2 > kJobPackets &&
         shape.outer_size > 2 * kSizeGrain) {
    shape.inner_size = std::max(shape.inner_size / 2 / kSizeGrain, int64_t{2}) * kSizeGrain;
    shape.outer_size = std::max(shape.outer_size / 2 / kSizeGrain, int64_t{2}) * kSizeGrain;
    one = job_of(shape, 1, seed, topology);
  }
  const uint64_t packets = std::max<uint64_t>(job::packets_of(one.plan->planned.graph), 1);
  const auto in_time =
      static_cast<uint64_t>(until / std::max(ideal_of(one, topology), kPicosecond));
  const auto steps = static_cast<uint32_t>(
      std::clamp<uint64_t>(std::min(in_time, kJobPackets / packets), 2, kMaxJobSteps));
  drawn.work = job_of(shape, steps, seed, topology);
  drawn.ideal = ideal_of(drawn.work, topology);
  if (drawn.ideal < until) {  // it computes longer, so that it still sends when faults are over
    const int64_t passes = int64_t{3} * steps * shape.microbatches;
    shape.compute += (until - drawn.ideal) / passes + topology.base_rtt;
    drawn.work = job_of(shape, steps, seed, topology);
    drawn.ideal = ideal_of(drawn.work, topology);
  }
  return drawn;
}

}  // namespace mrclab::lab
