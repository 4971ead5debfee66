#include "endpoint/workload/workload_entry.h"

#include <algorithm>
#include <utility>

#include "endpoint/workload/workload_keys.h"
#include "fabric/topology/fare.h"
#include "job/plan/job_keys.h"
#include "job/plan/plan_job.h"
#include "job/serve/plan_serve.h"
#include "job/serve/serve_keys.h"

namespace mrclab::endpoint {
namespace {

/// A kind of workload, as one that says nothing of its own.
struct PlainWorkload {
  WorkloadSpec plain;
  const char* about;
};

const std::vector<PlainWorkload>& kinds() {
  static const std::vector<PlainWorkload> kKinds = [] {
    std::vector<PlainWorkload> kinds;
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
          CollectiveKind::kAllToAll, CollectiveKind::kSendRecv}) {
      CollectiveSpec spec;
      spec.kind = kind;
      kinds.push_back({spec, "a collective of nccl-tests"});
    }
    kinds.push_back({PermutationSpec{}, "each host sends to another, at a load"});
    kinds.push_back({WriteSpec{}, "RDMA writes from hosts to others"});
    kinds.push_back({IncastSpec{}, "many hosts send to one"});
    kinds.push_back({PingPongSpec{}, "two hosts write to each other in turns"});
    kinds.push_back({JobWorkload{}, "hosts compute and exchange, in steps"});
    kinds.push_back({JobWorkload{.spec = {}, .serve = job::ServeSpec{}},
                     "hosts serve requests: prompts here, answers there"});
    return kinds;
  }();
  return kKinds;
}

/// `until: end` or how often, of which there may be one; true if there is one.
bool check_repeats(const YamlValue& body, std::string_view how_often) {
  const bool until = body.get("until").has_value(), repeats = body.get(how_often).has_value();
  if (until && repeats) {
    body.fail_at_key(how_often, "\"until\" and " + in_quotes(how_often), "one of them");
  }
  return until || repeats;
}

/// What no single key says.
void check_whole(const YamlValue& body, CollectiveSpec& spec) {
  if (!spec.slots && spec.size > kMaxReduceBytes) {
    body.require("size").fail_expecting("at most " + exact(kMaxReduceBytes) +
                                        ", or \"slots\", which need no vectors in memory");
  }
  if (!check_repeats(body, "iterations")) {
    body.fail("no \"until\"", "\"until: end\" or \"iterations: ...\"");
  }
}
void check_whole(const YamlValue& body, WriteSpec& spec) {
  if (!check_repeats(body, "count")) spec.count = spec.qps;
  if (spec.arrivals != Arrivals::kEven && spec.rate.bps == 0) {
    body.require("arrivals").fail("arrivals without a rate", "\"rate: 20Gb/s\" beside it");
  }
  if (spec.count != 0 && spec.count < spec.qps) {
    body.require("count").fail_expecting("at least one write for each of " +
                                         std::to_string(spec.qps) + " queue pairs");
  }
}
void check_whole(const YamlValue& body, PingPongSpec&) { check_repeats(body, "count"); }
void check_whole(const YamlValue& body, JobWorkload& job) {
  if (!job.serve) return job::check_job(body, job.spec);
  job::check_serve(body, *job.serve);
  job.spec = job_spec_of(*job.serve);
}
template <class Spec>
void check_whole(const YamlValue&, Spec&) {}

std::shared_ptr<const JobRecovery> recovery_of(const YamlValue& body, const JobWorkload& job,
                                               uint64_t seed) {
  try {
    return make_recovery(job.spec, seed, job.plan);
  } catch (const InputError& error) {
    body.require("on_error").fail(error.what(), "a job that can go on so");
  }
}

/// Where switches find their routes first, workloads begin when these are there.
void settle_start(const YamlValue& body, const Topology& topology, WorkloadSpec& spec) {
  if (routing_of(spec).value_or(topology.routing.by_default) != Routing::kFare) return;
  const auto at = body.get("at");
  if (!at) std::visit([&](auto& any) { any.at = fare_ready(topology); }, spec);
  if (at && start_of(spec) == FabricTime::zero()) {
    at->fail_expecting("a time above 0: at 0 no switch has routes");
  }
}

/// A write for each sender and receiver that are not the same host.
std::vector<WorkloadSpec> for_each_pair(const YamlValue& body, WorkloadSpec spec) {
  auto* const write = std::get_if<WriteSpec>(&spec);
  if (write == nullptr) return {std::move(spec)};
  const std::vector<uint32_t> senders = std::exchange(write->senders, {}),
                              receivers = std::exchange(write->receivers, {});
  std::vector<WorkloadSpec> pairs;
  for (const uint32_t from : senders) {
    for (const uint32_t to : receivers) {
      if (from == to) continue;
      if (pairs.size() == kMaxWorkloads) {
        body.require("from").fail("more pairs of hosts",
                                  "at most " + std::to_string(kMaxWorkloads));
      }
      write->from = from;
      write->to = to;
      pairs.push_back(spec);
    }
  }
  if (pairs.empty()) body.require("to").fail_expecting("a host other than the sender");
  return pairs;
}

}  // namespace

const std::vector<ValueForm::Key>& workload_kinds() {
  static const std::vector<ValueForm::Key> kKeys = [] {
    std::vector<ValueForm::Key> keys;
    for (const PlainWorkload& kind : kinds()) {
      keys.push_back({std::string(name_of(kind.plain)), keys_form(kind.plain), kind.about});
    }
    return keys;
  }();
  return kKeys;
}

std::vector<WorkloadSpec> parse_workload(const YamlValue& entry, NameResolver& names) {
  std::vector<std::string> words;
  for (const PlainWorkload& kind : kinds()) words.emplace_back(name_of(kind.plain));
  if (!entry.is_map()) entry.fail_expecting("a workload such as \"all_reduce: {...}\"");
  const auto members = entry.members();
  for (const auto& [key, body] : members) {
    if (std::find(words.begin(), words.end(), key) == words.end()) {
      entry.fail_at_key(key, "the workload " + in_quotes(key), one_of(key, words));
    }
    if (key != members.front().first) {
      entry.fail_at_key(key, "a second workload " + in_quotes(key), "one workload per entry");
    }
  }
  if (members.empty()) entry.fail_expecting(one_of("", words));
  const std::string& name = members.front().first;
  const YamlValue& body = members.front().second;
  for (const PlainWorkload& kind : kinds()) {
    if (name_of(kind.plain) != name) continue;
    WorkloadSpec spec = kind.plain;
    check_form(body, keys_form(spec));
    read_keys(body, spec, names);
    std::visit([&](auto& any) { check_whole(body, any); }, spec);
    settle_start(body, names.topology(), spec);
    if (auto* const job = std::get_if<JobWorkload>(&spec)) {
      job->plan = job->serve
                      ? std::make_shared<const JobPlan>(plan_serve(*job->serve, names.seed()))
                      : std::make_shared<const JobPlan>(plan_job(job->spec, names.seed()));
      job->recovery = recovery_of(body, *job, names.seed());
    }
    return for_each_pair(body, std::move(spec));
  }
  entry.fail_expecting(one_of("", words));
}

std::vector<WorkloadSpec> parse_workloads(const YamlValue& list, NameResolver& names) {
  std::vector<WorkloadSpec> result;
  for (const YamlValue& entry : list.items()) {
    for (WorkloadSpec& spec : parse_workload(entry, names)) {
      if (result.size() == kMaxWorkloads) {
        entry.fail("more workloads", "at most " + std::to_string(kMaxWorkloads));
      }
      result.push_back(std::move(spec));
    }
  }
  return result;
}

}  // namespace mrclab::endpoint
