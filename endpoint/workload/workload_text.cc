// Workloads as text: a sentence, and the line of a file.

#include <algorithm>

#include "endpoint/workload/workload_keys.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::endpoint {
namespace {

std::string times_text(uint32_t count) {
  return count == 0 ? "until the end" : std::to_string(count) + " times";
}

struct Name {
  std::string_view operator()(const CollectiveSpec& spec) const { return name_of(spec.kind); }
  std::string_view operator()(const PermutationSpec&) const { return "permutation"; }
  std::string_view operator()(const WriteSpec&) const { return "write"; }
  std::string_view operator()(const IncastSpec&) const { return "incast"; }
  std::string_view operator()(const PingPongSpec&) const { return "ping_pong"; }
  std::string_view operator()(const JobWorkload& spec) const {
    return spec.serve ? "serve" : "job";
  }
};

struct Sentence {
  std::string operator()(const CollectiveSpec& spec) const {
    const std::string slots = spec.slots ? " in slots of " + std::to_string(spec.slots->channels) +
                                               " x " + exact(spec.slots->buffer)
                                         : "";
    return " of " + exact(spec.size) + " over " + std::to_string(spec.hosts.size()) + " hosts" +
           slots + ", " + times_text(spec.iterations);
  }
  std::string operator()(const PermutationSpec& spec) const {
    return " by " + std::to_string(spec.shift) + " of " + std::to_string(spec.hosts.size()) +
           " hosts at " + exact(spec.load) + " load, messages of " + exact(spec.message);
  }
  std::string operator()(const WriteSpec& spec) const {
    return " of " + exact(spec.size) + " from " + host_text(spec.from) + " to " +
           host_text(spec.to) + (spec.rate.bps == 0 ? "" : " at " + exact(spec.rate)) +
           (spec.arrivals == Arrivals::kPoisson ? ", Poisson arrivals" : "") + ", " +
           times_text(spec.count);
  }
  std::string operator()(const IncastSpec& spec) const {
    const std::string victim = spec.victim ? ", beside it " + host_text(spec.victim->from) +
                                                 " to " + host_text(spec.victim->to)
                                           : "";
    return " of " + std::to_string(spec.from.size()) + " hosts to " + host_text(spec.to) + " at " +
           exact(spec.load) + " load, messages of " + exact(spec.message) + victim;
  }
  std::string operator()(const PingPongSpec& spec) const {
    return " of " + exact(spec.size) + " between " + host_text(spec.from) + " and " +
           host_text(spec.to) + ", " + times_text(spec.count);
  }
  std::string operator()(const JobWorkload& spec) const {
    if (spec.serve) {
      const size_t requests = spec.plan && spec.plan->serve ? spec.plan->serve->requests.size() : 0;
      return " " + spec.serve->name + " of " + spec.serve->model.preset + ", " +
             counted_noun(spec.serve->prefill.hosts.size(), "prefill rank") + " and " +
             counted_noun(spec.serve->decode.hosts.size(), "decode rank") +
             (requests == 0 ? "" : ", " + counted_noun(requests, "request"));
    }
    const uint32_t steps = spec.plan ? spec.plan->planned.steps : spec.spec.steps;
    return " " + spec.spec.name + " of " + counted_noun(spec.spec.hosts.size(), "rank") + ", " +
           counted_noun(steps, "step");
  }
};

}  // namespace

std::string_view name_of(const WorkloadSpec& spec) { return std::visit(Name{}, spec); }

std::string describe(const WorkloadSpec& spec) {
  const std::optional<Routing> routing = routing_of(spec);
  const std::optional<TransportKind> transport = transport_of(spec);
  return std::string(name_of(spec)) + std::visit(Sentence{}, spec) +
         (routing ? ", by " + std::string(name_of(*routing)) : "") +
         (transport ? ", over " + std::string(name_of(*transport)) : "");
}

std::optional<Routing> routing_of(const WorkloadSpec& spec) {
  return std::visit([](const auto& any) { return any.routing; }, spec);
}

std::optional<TransportKind> transport_of(const WorkloadSpec& spec) {
  return std::visit([](const auto& any) { return any.transport; }, spec);
}

void set_default_qps(std::vector<WorkloadSpec>& workloads, uint32_t qps) {
  for (WorkloadSpec& spec : workloads) {
    std::visit(
        [qps](auto& any) {
          if constexpr (requires { any.qps; }) {
            if (any.qps == 1) any.qps = qps;
            if constexpr (requires { any.count; }) {
              if (any.count > 0) any.qps = std::min(any.qps, any.count);
            }
          }
        },
        spec);
  }
}

bool ends(const WorkloadSpec& spec) {
  return std::visit(
      [](const auto& any) {
        if constexpr (requires { any.plan; }) return true;
        if constexpr (requires { any.iterations; }) return any.iterations > 0;
        if constexpr (requires { any.count; }) return any.count > 0;
        return false;
      },
      spec);
}

FabricTime start_of(const WorkloadSpec& spec) {
  return std::visit([](const auto& any) { return any.at; }, spec);
}

std::string to_yaml(const WorkloadSpec& spec) {
  return std::string(name_of(spec)) + ": " + keys_text(spec);
}

}  // namespace mrclab::endpoint
