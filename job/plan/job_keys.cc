#include "job/plan/job_keys.h"

#include <algorithm>

#include "job/plan/job_groups.h"
#include "job/plan/job_part_keys.h"
#include "job/plan/key_kinds.h"
#include "job/plan/model_phases.h"
#include "job/plan/phase_keys.h"
#include "job/plan/phase_order.h"
#include "job/plan/plan_job.h"
#include "job/plan/rank_keys.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;
using JobRow = KeyRow<JobSpec, NameResolver>;

// --- groups --------------------------------------------------------------------------------------

/// Inner to outer in Llama 3's paper and Megatron-LM: [tp, cp, ep, dp, pp] or [tp, cp, pp, dp]; here as the file has them.
const std::vector<std::string>& dimensions() {
  static const std::vector<std::string> kNames{"tp", "cp", "ep", "pp", "dp"};
  return kNames;
}

GroupKind read_group(const std::string& name, const YamlValue& value) {
  GroupKind kind{name};
  if (value.is_scalar()) {
    const auto& known = dimensions();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      value.fail("a size of the group " + in_quotes(name),
                 "lists of ranks, such as [[0, 1], [2, 3]]; tp, cp, ep, pp and dp have sizes");
    }
    kind.size = static_cast<uint32_t>(value.as_integer(1, kMaxRanks));
    return kind;
  }
  for (const YamlValue& list : value.items()) {
    std::vector<uint32_t>& ranks = kind.lists.emplace_back();
    for (const YamlValue& rank : list.items()) {
      ranks.push_back(static_cast<uint32_t>(rank.as_integer(0, kMaxRanks - 1)));
    }
    if (ranks.size() < 2) list.fail_expecting("at least two ranks");
  }
  if (kind.lists.empty()) value.fail_expecting("at least one list of ranks");
  return kind;
}

JobRow groups_row() {
  const auto read = [](const YamlValue& value, JobSpec& spec, NameResolver&) {
    for (const auto& [name, groups] : value.members()) {
      if (!is_plain_name(name) || name == "all") {
        value.fail_at_key(name, "the group " + in_quotes(name),
                          "a name of at most 32 of a-z, 0-9, dash and underscore, not all");
      }
      spec.groups.push_back(read_group(name, groups));
    }
  };
  const auto write = [](const JobSpec& spec) {
    std::string text;
    for (const GroupKind& kind : spec.groups) {
      std::string groups = std::to_string(kind.size);
      if (kind.size == 0) {
        groups.clear();
        for (const std::vector<uint32_t>& list : kind.lists) {
          std::string ranks;
          for (const uint32_t rank : list)
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
          groups += groups.empty() ? "[" : ", [";
          groups.append(ranks).append("]");
        }
        groups.insert(0, "[").append("]");
      }
      text += (text.empty() ? "{" : ", ") + yaml_word(kind.name) + ": " + groups;
    }
    return text.empty() ? text : text + "}";
  };
  const Form lists = Form::list(Form::list(Form::integer(0, kMaxRanks - 1), 2), 1);
  return {"groups", Form::map_of(Form::either({Form::integer(1, kMaxRanks), lists})),
          "tp, cp, ep, pp, dp, inner to outer, with their sizes; others as lists of ranks", read,
          write};
}

const KeyTable<JobSpec, NameResolver>& job_keys() {
  static const KeyTable<JobSpec, NameResolver> kKeys(job_rows());
  return kKeys;
}

}  // namespace

const std::vector<JobRow>& job_rows() {
  static const std::vector<JobRow> kRows{
      JobRow::of("name", &JobSpec::name, name_kind(), "in tables and draws", kIfUnusual),
      hosts_row(),
      ranks_row(),
      place_row(),
      groups_row(),
      JobRow::of("nodes", &JobSpec::nodes, nodes_kind(),
                 "collectives within one take time, and no packets"),
      JobRow::of("local", &JobSpec::local, local_kind(),
                 "messages between ranks of one host; absent: they take no time"),
      JobRow::of("steps", &JobSpec::steps, integer_kind(1, kMaxSteps), "how often the phases run",
                 kIfUnusual),
      JobRow::of("warmup", &JobSpec::warmup, integer_kind(0, kMaxSteps - 1),
                 "steps at the beginning that averages leave out", kIfUnusual),
      JobRow::of("microbatches", &JobSpec::microbatches, integer_kind(1, kMaxMicrobatches),
                 "of a step, for phases with `each: microbatch`", kIfUnusual),
      JobRow::of(
          "virtual_stages", &JobSpec::virtual_stages, integer_kind(1, kMaxVirtualStages),
          "of each rank of a pp group, which a micro-batch passes in turn (interleaved 1F1B)",
          kIfUnusual),
      JobRow::of("scale", &JobSpec::scale, scale_kind(kMaxScale),
                 "of bytes and computing, such as 1/1000"),
      JobRow::of("jitter", &JobSpec::jitter, "of each computation: longer or shorter by up to this",
                 kIfUnusual),
      JobRow::of("skew", &JobSpec::skew,
                 "of each rank in all steps: slower or faster by up to this", kIfUnusual),
      JobRow::of("slow", &JobSpec::slow, slow_kind(), "ranks that compute longer"),
      JobRow::of("collective", &JobSpec::collective, collective_kind(), "how collectives go"),
      {"phases",
       phases_form(),
       "what a step is made of",
       [](const YamlValue& value, JobSpec& spec, NameResolver&) {
         spec.phases = read_phases(value);
       },
       [](const JobSpec& spec) { return phases_text(spec.phases); },
       {.need = Form::Key::kOneOf}},
      JobRow::of("model", &JobSpec::model, model_kind(), "phases of a training step of it",
                 {.need = Form::Key::kOneOf}),
      JobRow::of("trace", &JobSpec::trace, trace_kind(), "a step from a file of another's job",
                 {.need = Form::Key::kOneOf}),
      checkpoint_row(),
      on_error_row(),
      JobRow::of("large", &JobSpec::large,
                 ValueKind{Form::of(Form::Kind::kSwitch), &YamlValue::as_bool,
                           [](bool in) { return std::string(in ? "on" : ""); }},
                 "more than 50 million packets are meant")};
  return kRows;
}

void check_job(const YamlValue& body, const JobSpec& spec) {
  check_ranks(body, spec);
  if (spec.warmup >= spec.steps) {
    body.require("warmup").fail_expecting("fewer than the " + std::to_string(spec.steps) +
                                          " steps");
  }
  std::string source;
  for (const char* key : {"phases", "model", "trace"}) {
    if (!body.get(key)) continue;
    if (!source.empty()) {
      body.fail_at_key(key, in_quotes(source) + " and " + in_quotes(key), "one of them");
    }
    source = key;
  }
  if (source.empty()) body.fail("no work", "\"phases\", \"model\" or \"trace\"");
  for (const SlowRank& slow : spec.slow) {
    if (slow.rank < spec.ranks()) continue;
    body.require("slow").fail("rank " + std::to_string(slow.rank),
                              "a rank below " + std::to_string(spec.ranks()));
  }
  if (spec.nodes && spec.ranks() % spec.nodes->size != 0) {
    body.require("nodes").fail(
        "nodes of " + std::to_string(spec.nodes->size) + " ranks",
        "a size that divides the " + std::to_string(spec.ranks()) + " ranks");
  }
  const auto at = [&](const std::string& key, const char* expected, const auto& check) {
    try {
      check();
    } catch (const InputError& error) {
      body.require(key).fail(error.what(), expected);
    }
  };
  if (!spec.groups.empty()) {
    at("groups", "groups of all ranks", [&] { JobGroups groups(spec); });
  }
  if (spec.model) at("model", "a model and groups that fit", [&] { model_phases(spec); });
  if (!spec.phases.empty()) {
    at("phases", "phases and groups that fit each other", [&] {
      PhaseOrder order(spec.phases);
      JobGroups groups(spec);
      check_phase_groups(spec.phases, groups);
    });
  }
  check_on_error(body, spec);
}

ValueForm job_form() { return job_keys().form(); }

JobSpec read_job(const YamlValue& body, NameResolver& names) {
  check_form(body, job_form());
  JobSpec spec;
  job_keys().read(body, spec, names);
  check_job(body, spec);
  return spec;
}

std::string job_text(const JobSpec& spec) { return job_keys().written(spec); }

}  // namespace mrclab::job
