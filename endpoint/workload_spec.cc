#include "endpoint/workload_spec.h"

#include <array>

namespace mrclab::endpoint {
namespace {

constexpr uint64_t kMaxReduceBytes = 256u << 20;
constexpr uint64_t kMaxMessageBytes = 256u << 20;
constexpr int64_t kMaxRepeats = 1'000'000;

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

WorkloadSpec parse_all_reduce(const YamlValue& body, NameResolver& names) {
  body.only_keys({"hosts", "size", "until", "iterations"});
  AllReduceSpec spec;
  spec.hosts = read_hosts(body, names);
  const YamlValue size = body.require("size");
  spec.size = read_size(size, kMaxReduceBytes);
  const uint64_t smallest = kReduceElementBytes * spec.hosts.size();
  if (spec.size.value % kReduceElementBytes != 0 || spec.size.value < smallest) {
    size.fail_expecting("a multiple of 4B of at least " + std::to_string(smallest) +
                        "B: one 32-bit element per host");
  }
  const auto until = body.get("until");
  const auto iterations = body.get("iterations");
  if (until && iterations) {
    body.fail_at_key("iterations", "\"until\" and \"iterations\"", "one of them");
  }
  if (until && (!until->is_scalar() || until->as_string() != "end")) {
    until->fail_expecting("end");
  }
  if (!until && !iterations) {
    body.fail("no \"until\"", "\"until: end\" or \"iterations: ...\"");
  }
  if (iterations) spec.iterations = static_cast<uint32_t>(iterations->as_integer(1, kMaxRepeats));
  return spec;
}

WorkloadSpec parse_permutation(const YamlValue& body, NameResolver& names) {
  body.only_keys({"hosts", "load", "message", "shift"});
  PermutationSpec spec;
  spec.hosts = read_hosts(body, names);
  const YamlValue load = body.require("load");
  spec.load = load.as_probability();
  if (spec.load.ppb == 0) load.fail_expecting("a load above 0%");
  spec.message = read_size(body.require("message"), kMaxMessageBytes);
  if (const auto shift = body.get("shift")) {
    const auto last = static_cast<int64_t>(spec.hosts.size()) - 1;
    spec.shift = static_cast<uint32_t>(shift->as_integer(1, last));
  }
  return spec;
}

WorkloadSpec parse_write(const YamlValue& body, NameResolver& names) {
  body.only_keys({"from", "to", "size", "count"});
  WriteSpec spec;
  spec.from = read_host(body.require("from"), names);
  const YamlValue to = body.require("to");
  spec.to = read_host(to, names);
  if (spec.to == spec.from) to.fail_expecting("a host other than the sender");
  spec.size = read_size(body.require("size"), kMaxMessageBytes);
  if (const auto count = body.get("count")) {
    spec.count = static_cast<uint32_t>(count->as_integer(1, kMaxRepeats));
  }
  return spec;
}

struct Word {
  std::string_view name;
  WorkloadSpec (*parse)(const YamlValue& body, NameResolver& names);
};
constexpr std::array kWords{Word{"all_reduce", parse_all_reduce},
                            Word{"permutation", parse_permutation}, Word{"write", parse_write}};

WorkloadSpec parse_entry(const YamlValue& entry, NameResolver& names) {
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
  for (const Word& word : kWords) {
    if (word.name == members.front().first) return word.parse(members.front().second, names);
  }
  entry.fail_expecting(one_of("", words));
}

std::string host_list(const std::vector<uint32_t>& hosts) {
  std::string text = "[";
  for (size_t i = 0; i < hosts.size(); ++i) text += (i ? ", h" : "h") + std::to_string(hosts[i]);
  return text + "]";
}

}  // namespace

std::string_view name_of(const WorkloadSpec& spec) { return kWords.at(spec.index()).name; }

std::string describe(const WorkloadSpec& spec) {
  if (const auto* reduce = std::get_if<AllReduceSpec>(&spec)) {
    return "all_reduce of " + exact(reduce->size) + " over " +
           std::to_string(reduce->hosts.size()) + " hosts, " +
           (reduce->iterations == 0 ? "until the end"
                                    : std::to_string(reduce->iterations) + " times");
  }
  if (const auto* shuffle = std::get_if<PermutationSpec>(&spec)) {
    return "permutation by " + std::to_string(shuffle->shift) + " of " +
           std::to_string(shuffle->hosts.size()) + " hosts at " + exact(shuffle->load) +
           " load, messages of " + exact(shuffle->message);
  }
  const auto& write = std::get<WriteSpec>(spec);
  return "write of " + exact(write.size) + " from h" + std::to_string(write.from) + " to h" +
         std::to_string(write.to) + ", " + std::to_string(write.count) + " times";
}

std::vector<WorkloadSpec> parse_workloads(const YamlValue& list, NameResolver& names) {
  std::vector<WorkloadSpec> result;
  for (const YamlValue& entry : list.items()) {
    if (result.size() >= kMaxWorkloads) {
      entry.fail("more workloads", "at most " + std::to_string(kMaxWorkloads));
    }
    result.push_back(parse_entry(entry, names));
  }
  return result;
}

std::string to_yaml(const WorkloadSpec& spec) {
  const std::string head = std::string(name_of(spec)) + ": {";
  if (const auto* reduce = std::get_if<AllReduceSpec>(&spec)) {
    return head + "hosts: " + host_list(reduce->hosts) + ", size: " + exact(reduce->size) +
           (reduce->iterations == 0 ? ", until: end}"
                                    : ", iterations: " + std::to_string(reduce->iterations) + "}");
  }
  if (const auto* shuffle = std::get_if<PermutationSpec>(&spec)) {
    return head + "hosts: " + host_list(shuffle->hosts) + ", load: " + exact(shuffle->load) +
           ", message: " + exact(shuffle->message) + ", shift: " + std::to_string(shuffle->shift) +
           "}";
  }
  const auto& write = std::get<WriteSpec>(spec);
  return head + "from: h" + std::to_string(write.from) + ", to: h" + std::to_string(write.to) +
         ", size: " + exact(write.size) + ", count: " + std::to_string(write.count) + "}";
}

}  // namespace mrclab::endpoint
