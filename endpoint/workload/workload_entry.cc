#include "endpoint/workload/workload_entry.h"

#include <array>
#include <tuple>

#include "endpoint/workload/workload_form.h"
#include "fabric/topology/fare.h"

namespace mrclab::endpoint {
namespace {

constexpr uint64_t kMaxReduceBytes = 256u << 20;
constexpr uint64_t kMaxMessageBytes = 256u << 20;

std::vector<uint32_t> read_hosts(const YamlValue& body, NameResolver& names) {
  const YamlValue value = body.require("hosts");
  std::vector<uint32_t> hosts;
  for (const NodeId id : names.hosts(value)) hosts.push_back(names.topology().node(id).index);
  if (hosts.size() < 2) value.fail_expecting("at least two hosts");
  return hosts;
}

uint32_t read_host(const YamlValue& value, NameResolver& names) {
  const std::vector<NodeId> hosts = names.hosts(value);
  if (hosts.size() != 1) value.fail_expecting("one host");
  return names.topology().node(hosts.front()).index;
}

Bytes read_size(const YamlValue& value, uint64_t max) {
  const Bytes size = value.as_bytes();
  if (size.value == 0 || size.value > max) {
    value.fail_expecting("a size from 1B to " + exact(Bytes{max}));
  }
  return size;
}

/// `until: end` or how often; 0 for the former.
uint32_t read_repeats(const YamlValue& body, std::string_view how_often,
                      std::optional<uint32_t> otherwise) {
  const auto until = body.get("until");
  const auto repeats = body.get(how_often);
  if (until && repeats) {
    body.fail_at_key(how_often, "\"until\" and " + in_quotes(how_often), "one of them");
  }
  if (until && (!until->is_scalar() || until->as_string() != "end")) {
    until->fail_expecting("end");
  }
  if (until) return 0;
  if (repeats) return static_cast<uint32_t>(repeats->as_integer(1, kMaxRepeats));
  if (!otherwise) {
    body.fail("no \"until\"", "\"until: end\" or \"" + std::string(how_often) + ": ...\"");
  }
  return *otherwise;
}

/// The keys that every kind of workload has.
template <class Spec>
void read_start(const YamlValue& body, const Topology& topology, Spec& spec) {
  if (const auto routing = body.get("routing")) {
    spec.routing =
        static_cast<Routing>(routing->as_word({kRoutingWords.begin(), kRoutingWords.end()}));
  }
  const bool fare = spec.routing.value_or(topology.routing.by_default) == Routing::kFare;
  if (const auto at = body.get("at")) {
    spec.at = at->as_time();
    if (fare && spec.at == FabricTime::zero()) {
      at->fail_expecting("a time above 0: at 0 no switch has routes");
    }
  } else if (fare) {
    spec.at = fare_ready(topology);
  }
  if (const auto transport = body.get("transport")) {
    spec.transport =
        transport->as_word({"mrc", "roce"}) == 0 ? TransportKind::kMrc : TransportKind::kRoce;
  }
}

template <class Spec>
void read_qps_and_start(const YamlValue& body, const Topology& topology, Spec& spec) {
  if (const auto qps = body.get("qps")) {
    spec.qps = static_cast<uint32_t>(qps->as_integer(1, kMaxQps));
  }
  read_start(body, topology, spec);
}

Probability read_load(const YamlValue& body) {
  const YamlValue value = body.require("load");
  const Probability load = value.as_probability();
  if (load.ppb == 0) value.fail_expecting("a load above 0%");
  return load;
}

/// `from` and `to` of one flow.
std::pair<uint32_t, uint32_t> read_pair(const YamlValue& body, NameResolver& names) {
  const uint32_t from = read_host(body.require("from"), names);
  const YamlValue value = body.require("to");
  const uint32_t to = read_host(value, names);
  if (to == from) value.fail_expecting("a host other than the sender");
  return {from, to};
}

WorkloadSpec parse_collective(const YamlValue& body, NameResolver& names, CollectiveKind kind) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.hosts = read_hosts(body, names);
  const YamlValue size = body.require("size");
  spec.size = read_size(size, kMaxReduceBytes);
  if (spec.size.value % kReduceElementBytes != 0) {
    size.fail_expecting("a multiple of 4B: 32-bit elements");
  }
  spec.iterations = read_repeats(body, "iterations", std::nullopt);
  read_qps_and_start(body, names.topology(), spec);
  return spec;
}

template <CollectiveKind kind>
WorkloadSpec parse_one_collective(const YamlValue& body, NameResolver& names) {
  return parse_collective(body, names, kind);
}

WorkloadSpec parse_permutation(const YamlValue& body, NameResolver& names) {
  PermutationSpec spec;
  spec.hosts = read_hosts(body, names);
  spec.load = read_load(body);
  spec.message = read_size(body.require("message"), kMaxMessageBytes);
  if (const auto shift = body.get("shift")) {
    const auto last = static_cast<int64_t>(spec.hosts.size()) - 1;
    spec.shift = static_cast<uint32_t>(shift->as_integer(1, last));
  }
  read_qps_and_start(body, names.topology(), spec);
  return spec;
}

WorkloadSpec parse_write(const YamlValue& body, NameResolver& names) {
  WriteSpec spec;
  std::tie(spec.from, spec.to) = read_pair(body, names);
  spec.size = read_size(body.require("size"), kMaxMessageBytes);
  read_qps_and_start(body, names.topology(), spec);
  spec.count = read_repeats(body, "count", spec.qps);
  if (spec.count != 0 && spec.count < spec.qps) {
    body.require("count").fail_expecting("at least one write for each of " +
                                         std::to_string(spec.qps) + " queue pairs");
  }
  if (const auto depth = body.get("depth")) {
    spec.depth = static_cast<uint32_t>(depth->as_integer(1, kMaxRepeats));
  }
  return spec;
}

WorkloadSpec parse_incast(const YamlValue& body, NameResolver& names) {
  IncastSpec spec;
  const YamlValue from = body.require("from");
  spec.to = read_host(body.require("to"), names);
  for (const NodeId id : names.hosts(from)) {
    spec.from.push_back(names.topology().node(id).index);
    if (spec.from.back() == spec.to) from.fail_expecting("hosts other than the receiver");
  }
  if (spec.from.empty()) from.fail_expecting("at least one host");
  if (const auto victim = body.get("victim")) {
    const auto [sender, receiver] = read_pair(*victim, names);
    spec.victim = IncastSpec::Flow{sender, receiver};
    if (receiver == spec.to) {
      victim->require("to").fail_expecting("a host other than the incast's receiver");
    }
  }
  spec.load = read_load(body);
  spec.message = read_size(body.require("message"), kMaxMessageBytes);
  read_qps_and_start(body, names.topology(), spec);
  return spec;
}

WorkloadSpec parse_ping_pong(const YamlValue& body, NameResolver& names) {
  PingPongSpec spec;
  std::tie(spec.from, spec.to) = read_pair(body, names);
  spec.size = read_size(body.require("size"), kMaxMessageBytes);
  spec.count = read_repeats(body, "count", 1);
  read_start(body, names.topology(), spec);
  return spec;
}

struct Word {
  std::string_view name;
  WorkloadSpec (*parse)(const YamlValue& body, NameResolver& names);
};
constexpr std::array kWords{
    Word{name_of(CollectiveKind::kAllReduce), parse_one_collective<CollectiveKind::kAllReduce>},
    Word{name_of(CollectiveKind::kAllGather), parse_one_collective<CollectiveKind::kAllGather>},
    Word{name_of(CollectiveKind::kReduceScatter),
         parse_one_collective<CollectiveKind::kReduceScatter>},
    Word{name_of(CollectiveKind::kAllToAll), parse_one_collective<CollectiveKind::kAllToAll>},
    Word{name_of(CollectiveKind::kSendRecv), parse_one_collective<CollectiveKind::kSendRecv>},
    Word{"permutation", parse_permutation},
    Word{"write", parse_write},
    Word{"incast", parse_incast},
    Word{"ping_pong", parse_ping_pong}};

}  // namespace

WorkloadSpec parse_workload(const YamlValue& entry, NameResolver& names) {
  std::vector<std::string> words;
  words.reserve(kWords.size());
  for (const Word& word : kWords) words.emplace_back(word.name);
  if (!entry.is_map()) entry.fail_expecting("a workload such as \"all_reduce: {...}\"");
  const auto members = entry.members();
  for (const auto& [key, body] : members) {
    bool known = false;
    for (const std::string& word : words) known = known || word == key;
    if (!known) {
      entry.fail_at_key(key, "the workload " + in_quotes(key), one_of(key, words));
    }
    if (key != members.front().first) {
      entry.fail_at_key(key, "a second workload " + in_quotes(key), "one workload per entry");
    }
  }
  if (members.empty()) entry.fail_expecting(one_of("", words));
  const auto& [name, body] = members.front();
  for (const ValueForm::Key& kind : workload_kinds()) {
    if (kind.name == name) check_form(body, kind.form);
  }
  for (const Word& word : kWords) {
    if (word.name == name) return word.parse(body, names);
  }
  entry.fail_expecting(one_of("", words));
}

std::vector<WorkloadSpec> parse_workloads(const YamlValue& list, NameResolver& names) {
  std::vector<WorkloadSpec> result;
  for (const YamlValue& entry : list.items()) {
    if (result.size() >= kMaxWorkloads) {
      entry.fail("more workloads", "at most " + std::to_string(kMaxWorkloads));
    }
    result.push_back(parse_workload(entry, names));
  }
  return result;
}

}  // namespace mrclab::endpoint
