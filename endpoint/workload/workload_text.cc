// Workloads as text: a sentence, and the line of a file.

#include <algorithm>

#include "endpoint/workload/workload_spec.h"
#include "fabric/text/yaml.h"

namespace mrclab::endpoint {
namespace {

std::string host_name(uint32_t number) { return "h" + std::to_string(number); }

std::string host_list(const std::vector<uint32_t>& hosts) {
  std::string text = "[";
  for (size_t i = 0; i < hosts.size(); ++i) text += (i ? ", " : "") + host_name(hosts[i]);
  return text + "]";
}

std::string times_text(uint32_t count) {
  return count == 0 ? "until the end" : std::to_string(count) + " times";
}

/// The keys that differ from their defaults.
template <class Spec>
std::string common_keys(const Spec& spec) {
  std::string text;
  if constexpr (requires { spec.qps; }) {
    if (spec.qps != 1) text += ", qps: " + std::to_string(spec.qps);
  }
  if (spec.at > FabricTime::zero()) text += ", at: " + exact(spec.at);
  if (spec.routing) text += ", routing: " + std::string(name_of(*spec.routing));
  if (spec.transport) text += ", transport: " + std::string(name_of(*spec.transport));
  return text;
}

std::string repeat_key(std::string_view how_often, uint32_t count) {
  return count == 0 ? ", until: end" : ", " + std::string(how_often) + ": " + std::to_string(count);
}

struct Name {
  std::string_view operator()(const CollectiveSpec& spec) const { return name_of(spec.kind); }
  std::string_view operator()(const PermutationSpec&) const { return "permutation"; }
  std::string_view operator()(const WriteSpec&) const { return "write"; }
  std::string_view operator()(const IncastSpec&) const { return "incast"; }
  std::string_view operator()(const PingPongSpec&) const { return "ping_pong"; }
};

struct Sentence {
  std::string operator()(const CollectiveSpec& spec) const {
    return " of " + exact(spec.size) + " over " + std::to_string(spec.hosts.size()) + " hosts, " +
           times_text(spec.iterations);
  }
  std::string operator()(const PermutationSpec& spec) const {
    return " by " + std::to_string(spec.shift) + " of " + std::to_string(spec.hosts.size()) +
           " hosts at " + exact(spec.load) + " load, messages of " + exact(spec.message);
  }
  std::string operator()(const WriteSpec& spec) const {
    return " of " + exact(spec.size) + " from " + host_name(spec.from) + " to " +
           host_name(spec.to) + ", " + times_text(spec.count);
  }
  std::string operator()(const IncastSpec& spec) const {
    const std::string victim = spec.victim ? ", beside it " + host_name(spec.victim->from) +
                                                 " to " + host_name(spec.victim->to)
                                           : "";
    return " of " + std::to_string(spec.from.size()) + " hosts to " + host_name(spec.to) + " at " +
           exact(spec.load) + " load, messages of " + exact(spec.message) + victim;
  }
  std::string operator()(const PingPongSpec& spec) const {
    return " of " + exact(spec.size) + " between " + host_name(spec.from) + " and " +
           host_name(spec.to) + ", " + times_text(spec.count);
  }
};

struct Body {
  std::string operator()(const CollectiveSpec& spec) const {
    return "hosts: " + host_list(spec.hosts) + ", size: " + exact(spec.size) +
           repeat_key("iterations", spec.iterations) + common_keys(spec);
  }
  std::string operator()(const PermutationSpec& spec) const {
    return "hosts: " + host_list(spec.hosts) + ", load: " + exact(spec.load) +
           ", message: " + exact(spec.message) + ", shift: " + std::to_string(spec.shift) +
           common_keys(spec);
  }
  std::string operator()(const WriteSpec& spec) const {
    return "from: " + host_name(spec.from) + ", to: " + host_name(spec.to) +
           ", size: " + exact(spec.size) + repeat_key("count", spec.count) +
           (spec.depth == 0 ? "" : ", depth: " + std::to_string(spec.depth)) + common_keys(spec);
  }
  std::string operator()(const IncastSpec& spec) const {
    const std::string victim = spec.victim ? ", victim: {from: " + host_name(spec.victim->from) +
                                                 ", to: " + host_name(spec.victim->to) + "}"
                                           : "";
    return "from: " + host_list(spec.from) + ", to: " + host_name(spec.to) + victim +
           ", load: " + exact(spec.load) + ", message: " + exact(spec.message) + common_keys(spec);
  }
  std::string operator()(const PingPongSpec& spec) const {
    return "from: " + host_name(spec.from) + ", to: " + host_name(spec.to) +
           ", size: " + exact(spec.size) + repeat_key("count", spec.count) + common_keys(spec);
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
  return std::string(name_of(spec)) + ": {" + std::visit(Body{}, spec) + "}";
}

}  // namespace mrclab::endpoint
