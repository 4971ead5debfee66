#include "lab/chaos/reductions.h"
#include "fabric/topology/fabric_shape.h"

#include <algorithm>
#include <map>
#include <regex>

#include "faults/shrink.h"

namespace mrclab::lab {
namespace {

using endpoint::WorkloadSpec;
using Scenarios = std::vector<Scenario>;

void offer(Scenarios& offers, const Scenario& scenario) {
  if (auto valid = read_back(scenario)) offers.push_back(std::move(*valid));
}

/// The scenario without one of its workloads, for each of them.
Scenarios fewer_workloads(const Scenario& scenario) {
  Scenarios offers;
  for (size_t i = 0; scenario.workload.size() > 1 && i < scenario.workload.size(); ++i) {
    Scenario smaller = scenario;
    smaller.workload.erase(smaller.workload.begin() + static_cast<std::ptrdiff_t>(i));
    offer(offers, smaller);
  }
  return offers;
}

/// The first and second half, then all but one.
std::vector<std::vector<uint32_t>> fewer(const std::vector<uint32_t>& hosts, size_t at_least) {
  std::vector<std::vector<uint32_t>> lists;
  const size_t half = hosts.size() / 2;
  if (half > 1 && half >= at_least) {
    lists.emplace_back(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(half));
    lists.emplace_back(hosts.begin() + static_cast<std::ptrdiff_t>(half), hosts.end());
  }
  for (size_t i = hosts.size(); hosts.size() > at_least && i > 0; --i) {
    lists.push_back(hosts);
    lists.back().erase(lists.back().begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
  return lists;
}

struct SimplerWorkload {
  std::vector<WorkloadSpec>& out;

  void operator()(const endpoint::CollectiveSpec& spec) const {
    for (auto& hosts : fewer(spec.hosts, 2)) changed(spec).hosts = std::move(hosts);
    one_qp(spec);
  }
  void operator()(const endpoint::PermutationSpec& spec) const {
    for (auto& hosts : fewer(spec.hosts, 2)) {
      auto& with = changed(spec);
      with.shift = std::min(with.shift, static_cast<uint32_t>(hosts.size()) - 1);
      with.hosts = std::move(hosts);
    }
    one_qp(spec);
    if (spec.load.ppb > Probability::kOne / 50) changed(spec).load.ppb /= 2;
  }
  void operator()(const endpoint::IncastSpec& spec) const {
    for (auto& from : fewer(spec.from, 1)) changed(spec).from = std::move(from);
    if (spec.victim) changed(spec).victim.reset();
    one_qp(spec);
    if (spec.load.ppb > Probability::kOne / 50) changed(spec).load.ppb /= 2;
  }
  void operator()(const endpoint::WriteSpec& spec) const {
    one_qp(spec);
    if (spec.depth > 1) changed(spec).depth /= 2;
  }
  void operator()(const endpoint::PingPongSpec&) const {}
  /// What is no job any more is not offered: its plan is made when it is read back.
  void operator()(const endpoint::JobWorkload& job) const {
    const job::JobSpec& spec = job.spec;
    if (spec.steps > 1) {
      job::JobSpec& fewer = changed(job).spec;
      fewer.steps /= 2;
      fewer.warmup = std::min(fewer.warmup, fewer.steps - 1);
    }
    fewer_ranks(job);
    for (size_t i = spec.phases.size(); spec.phases.size() > 1 && i > 0; --i) {
      std::vector<job::Phase>& phases = changed(job).spec.phases;
      phases.erase(phases.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    if (spec.microbatches > 1) changed(job).spec.microbatches = 1;
    if (spec.jitter.ppb > 0) changed(job).spec.jitter = {};
    if (spec.skew.ppb > 0) changed(job).spec.skew = {};
    if (spec.nodes) changed(job).spec.nodes.reset();
    if (spec.collective != job::CollectiveChoice{}) changed(job).spec.collective = {};
    one_qp(job);
  }

 private:
  template <class Spec>
  Spec& changed(const Spec& spec) const {
    out.emplace_back(spec);
    return std::get<Spec>(out.back());
  }
  /// Half of a dimension, and so of the ranks, for each dimension that has a half.
  void fewer_ranks(const endpoint::JobWorkload& job) const {
    for (size_t i = 0; i < job.spec.groups.size(); ++i) {
      if (job.spec.groups[i].size < 2 || job.spec.groups[i].size % 2 != 0) continue;
      job::JobSpec& fewer = changed(job).spec;
      fewer.groups[i].size /= 2;
      fewer.hosts.resize(fewer.hosts.size() / 2);
    }
  }
  template <class Spec>
  void one_qp(const Spec& spec) const {
    if (spec.qps > 1) changed(spec).qps = 1;
  }
};

/// No more steps are expected than there are.
void expect_fewer_steps(Scenario& scenario, const WorkloadSpec& spec) {
  const auto* job = std::get_if<endpoint::JobWorkload>(&spec);
  if (job == nullptr) return;
  for (analysis::Expectation& each : scenario.expect) {
    auto* done = std::get_if<analysis::ExpectStepsDone>(&each);
    if (done != nullptr && done->at_least.value > job->spec.steps) {
      done->at_least.value = job->spec.steps;
    }
  }
}

Scenarios simpler_workloads(const Scenario& scenario) {
  Scenarios offers;
  for (size_t i = 0; i < scenario.workload.size(); ++i) {
    std::vector<WorkloadSpec> specs;
    std::visit(SimplerWorkload{specs}, scenario.workload[i]);
    for (const WorkloadSpec& spec : specs) {
      Scenario smaller = scenario;
      smaller.workload[i] = spec;
      expect_fewer_steps(smaller, spec);
      offer(offers, smaller);
    }
  }
  return offers;
}

Scenarios fewer_options(const Scenario& scenario) {
  Scenarios offers;
  for (size_t i = 0; i < scenario.transport.overrides.size(); ++i) {
    Scenario smaller = scenario;
    smaller.transport.overrides.erase(smaller.transport.overrides.begin() +
                                      static_cast<std::ptrdiff_t>(i));
    offer(offers, smaller);
  }
  return offers;
}

/// The planes that the faults name become the first ones, so that the others can go.
std::string with_low_planes(const std::string& text) {
  static const std::regex kPlane(R"(\bp(\d+)\b)");
  std::map<std::string, size_t> numbers;
  std::string result;
  size_t at = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), kPlane), end; match != end; ++match) {
    const size_t number = numbers.emplace((*match)[1].str(), numbers.size()).first->second;
    result += text.substr(at, static_cast<size_t>(match->position()) - at);
    result += "p" + std::to_string(number);
    at = static_cast<size_t>(match->position() + match->length());
  }
  return result + text.substr(at);
}

/// A smaller fabric, with the faults renamed as in `text`.
void offer_fabric(Scenarios& offers, const Scenario& scenario, const FabricShape& fabric) {
  Scenario smaller = scenario;
  smaller.fabric = fabric;
  std::string text = to_yaml(smaller);
  const size_t begin = text.find("\nfaults:\n");
  const size_t end = text.find("\nend: ", begin);
  if (begin != std::string::npos && end != std::string::npos) {
    text =
        text.substr(0, begin) + with_low_planes(text.substr(begin, end - begin)) + text.substr(end);
  }
  try {
    offers.push_back(parse_scenario(read_yaml_text(text, "smaller")));
  } catch (const InputError&) {
    return;  // it names what is no longer there
  } catch (const std::invalid_argument&) {
    return;  // no fabric
  }
}

Scenarios smaller_fabrics(const Scenario& scenario) {
  Scenarios offers;
  for (uint32_t FabricShape::*size :
       {&FabricShape::planes, &FabricShape::hosts_per_t0, &FabricShape::t1}) {
    const uint32_t now = scenario.fabric.*size;
    for (const uint32_t less : {now / 2, now - 1}) {
      if (less < 1 || less >= now) continue;
      FabricShape fabric = scenario.fabric;
      fabric.*size = less;
      offer_fabric(offers, scenario, fabric);
    }
  }
  return offers;
}

Scenarios milder_faults(const Scenario& scenario) {
  Scenarios offers;
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    for (const faults::Fault& milder : faults::simpler(scenario.faults[i], scenario.topology)) {
      std::vector<faults::Fault> list = scenario.faults;
      list[i] = milder;
      if (auto smaller = with_faults(scenario, std::move(list))) {
        offers.push_back(std::move(*smaller));
      }
    }
  }
  return offers;
}

/// Everything behind the last heal (or the first fault, if none heals) in half the time, or three
/// quarters of it.
Scenarios earlier_ends(const Scenario& scenario) {
  Scenarios offers;
  FabricTime last;
  for (const faults::Fault& fault : scenario.faults) {
    const auto interval = faults::interval_of(fault, scenario.topology);
    last = std::max(
        last, interval.last_heal == FabricTime::never() ? interval.start : interval.last_heal);
  }
  if (scenario.end <= last) return offers;
  const FabricTime after = scenario.end - last;
  if (after < scenario.topology.base_rtt) return offers;
  for (const FabricTime less : {after / 2, after / 4 * 3}) {
    Scenario smaller = scenario;
    smaller.end = last + less;
    offer(offers, smaller);
  }
  return offers;
}

constexpr std::array kReductions{
    Reduction{"workloads", fewer_workloads},   Reduction{"hosts", simpler_workloads},
    Reduction{"transport", fewer_options},     Reduction{"fabric", smaller_fabrics},
    Reduction{"milder faults", milder_faults}, Reduction{"end", earlier_ends},
};

}  // namespace

std::span<const Reduction> reductions() { return kReductions; }

std::optional<Scenario> read_back(const Scenario& scenario) {
  try {
    return parse_scenario(read_yaml_text(to_yaml(scenario), "smaller"));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<Scenario> with_faults(const Scenario& scenario, std::vector<faults::Fault> faults) {
  Scenario with = scenario;
  with.faults = std::move(faults);
  return read_back(with);
}

}  // namespace mrclab::lab
