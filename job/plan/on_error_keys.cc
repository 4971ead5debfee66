// checkpoint: {every: 4, save: 2s}
// on_error:
//   profile: pytorch          # whose timers, where the other keys do not say
//   watchdog: 600s            # of a collective: a rank that waits longer ends with an error
//   detect: 100ms             # from a rank's error until the launcher is told
//   heartbeat: 480s           # how often the launcher asks all hosts
//   answer: 60s               # of a host to the launcher; without one it is lost
//   then: restart             # abort, shrink, restart or hang
//   restart: 90s              # from the end of all ranks until they are started again
//   load: 20s                 # of a checkpoint
//   attempts: 2               # how often it is started again, at most
//   spares: [h8, h9]          # take the place of hosts that are lost
//   launcher: h0              # the host that all others report to

#include <algorithm>
#include <set>

#include "job/plan/job_keys.h"
#include "job/plan/job_part_keys.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;
using Row = KeyRow<OnError, NameResolver>;

FabricTime read_above_zero(const YamlValue& value) {
  const FabricTime time = value.as_time();
  if (time <= FabricTime::zero()) value.fail_expecting("a time above 0");
  return time;
}

auto above_zero_kind() {
  return ValueKind{Form::of(Form::Kind::kTime), read_above_zero,
                   [](FabricTime in) { return exact(in); }};
}

auto until_never_kind() {
  const auto read = [](const YamlValue& value) -> std::optional<FabricTime> {
    if (value.is_scalar() && value.as_string() == "never") return std::nullopt;
    const FabricTime time = value.as_time();
    if (time <= FabricTime::zero()) value.fail_expecting("a time above 0, or never");
    return time;
  };
  const auto write = [](const std::optional<FabricTime>& in) {
    return in ? exact(*in) : std::string("never");
  };
  return ValueKind{Form::either({Form::word({"never"}), Form::of(Form::Kind::kTime)}), read, write};
}

/// Of NCCL alone a collective waits for ever; PyTorch's watchdog ends it after 10 minutes, and looks for errors each 100 ms
/// (ProcessGroupNCCL). Its monitor ends a process whose watchdog gives no sign of life for 480 s
/// (TORCH_NCCL_ENABLE_MONITORING, TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC). A host that is silent for 60 s is dead (NCCL's RAS).
OnError error_profile(OnError::Profile profile) {
  OnError timers;
  timers.profile = profile;
  timers.answer = FabricTime::from_ms(60'000);
  if (profile != OnError::Profile::kNccl) {
    timers.watchdog = FabricTime::from_ms(600'000);
    timers.detect = FabricTime::from_ms(100);
  }
  if (profile == OnError::Profile::kMonitored) timers.heartbeat = FabricTime::from_ms(480'000);
  if (profile == OnError::Profile::kNccl) timers.action = OnError::Action::kHang;
  return timers;
}

const std::vector<std::string>& profile_words() {
  static const std::vector<std::string> kWords{"nccl", "pytorch", "pytorch-monitored"};
  return kWords;
}

std::string host_text(uint32_t number) { return "h" + std::to_string(number); }

std::vector<uint32_t> read_spares(const YamlValue& value, NameResolver& names) {
  std::vector<uint32_t> hosts;
  std::set<uint32_t> seen;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    for (const NodeId id : names.hosts(item)) {
      const uint32_t host = names.topology().node(id).index;
      if (!seen.insert(host).second) item.fail(host_text(host) + " twice", "each host once");
      hosts.push_back(host);
    }
  }
  if (hosts.size() > kMaxSpares) {
    value.fail(std::to_string(hosts.size()) + " hosts", "at most " + std::to_string(kMaxSpares));
  }
  return hosts;
}

std::string spares_text(const std::vector<uint32_t>& hosts) {
  std::string text;
  for (const uint32_t host : hosts) text += (text.empty() ? "" : ", ") + host_text(host);
  return text.empty() ? text : "[" + text + "]";
}

const KeyTable<OnError, NameResolver>& on_error_keys() {
  using S = OnError;
  const auto read_launcher = [](const YamlValue& value, NameResolver& names) {
    const std::vector<NodeId> hosts = names.hosts(value);
    if (hosts.size() != 1) value.fail_expecting("one host");
    return std::optional<uint32_t>(names.topology().node(hosts.front()).index);
  };
  const ValueKind launcher{
      Form::of(Form::Kind::kText), read_launcher,
      [](const std::optional<uint32_t>& in) { return in ? host_text(*in) : std::string(); }};
  const ValueKind spares{
      Form::either({Form::of(Form::Kind::kText), Form::list(Form::of(Form::Kind::kText))}),
      read_spares, spares_text};
  static const KeyTable<S, NameResolver> kKeys(
      {Row::of("profile", &S::profile, word_kind<OnError::Profile>(profile_words()),
               "whose timers, where the other keys do not say"),
       Row::of("ack_timeout", &S::ack_timeout, integer_kind(1, 31),
               "of a NIC of the field, for a note: 4.096us * 2^this (NCCL_IB_TIMEOUT: 20)"),
       Row::of("retries", &S::retries, integer_kind(0, 7), "likewise: NCCL_IB_RETRY_CNT"),
       Row::of(
           "then", &S::action, word_kind<OnError::Action>({"abort", "shrink", "restart", "hang"}),
           "when a rank has an error: all end; replicas of lost ranks leave; all begin again behind "
           "the last checkpoint; the others wait for it"),
       Row::of("watchdog", &S::watchdog, until_never_kind(), "of a collective"),
       Row::of("detect", &S::detect, "from an error until the launcher is told"),
       Row::of(
           "heartbeat", &S::heartbeat, until_never_kind(),
           "how often the launcher asks all hosts; one that has not answered when it asks again "
           "ends the attempt",
           kIfUnusual),
       Row::of("answer", &S::answer, above_zero_kind(),
               "in which a host has to answer the launcher; else it is lost"),
       Row::of("restart", &S::restart, until_never_kind(),
               "from the end of all ranks until they begin again", kIfUnusual),
       Row::of("load", &S::load, "of a checkpoint", kIfUnusual),
       Row::of("attempts", &S::attempts, integer_kind(1, kMaxAttempts), "beside the first, at most",
               kIfUnusual),
       Row::of("spares", &S::spares, spares, "hosts that take the place of lost ones"),
       Row::of("launcher", &S::launcher, launcher,
               "the host that all others report to; absent: that of rank 0")});
  return kKeys;
}

/// A time until a restart asks for one, where nothing else is said.
OnError read_on_error(const YamlValue& value, NameResolver& names) {
  const auto profile_of = [](const YamlValue& word) {
    return static_cast<OnError::Profile>(word.as_word(profile_words()));
  };
  if (value.is_scalar()) return error_profile(profile_of(value));
  const auto named = value.get("profile");
  OnError timers = error_profile(named ? profile_of(*named) : OnError::Profile::kPytorch);
  on_error_keys().read(value, timers, names);
  if (timers.restart && !value.get("then")) timers.action = OnError::Action::kRestart;
  return timers;
}

const KeyTable<Checkpoints>& checkpoint_keys() {
  using S = Checkpoints;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("every", &S::every, integer_kind(1, kMaxSteps), "steps", kRequiredKey),
       R::of("save", &S::save, "in which a rank does nothing else", kIfUnusual)});
  return kKeys;
}

}  // namespace

KeyRow<JobSpec, NameResolver> checkpoint_row() {
  return {"checkpoint", checkpoint_keys().form(), "what a restart begins behind",
          [](const YamlValue& value, JobSpec& spec, NameResolver&) {
            Checkpoints checkpoints;
            checkpoint_keys().read(value, checkpoints);
            spec.checkpoint = checkpoints;
          },
          [](const JobSpec& spec) {
            return spec.checkpoint ? checkpoint_keys().written(*spec.checkpoint) : std::string();
          }};
}

KeyRow<JobSpec, NameResolver> on_error_row() {
  return {"on_error", Form::either({Form::word(profile_words()), on_error_keys().form()}),
          "what ends the job, and what then",
          [](const YamlValue& value, JobSpec& spec, NameResolver& names) {
            spec.on_error = read_on_error(value, names);
          },
          [](const JobSpec& spec) {
            return spec.on_error ? on_error_keys().written(*spec.on_error) : std::string();
          }};
}

void check_on_error(const YamlValue& body, const JobSpec& spec) {
  if (spec.checkpoint && spec.trace) {
    body.require("checkpoint").fail("a checkpoint of a trace", "phases or a model");
  }
  if (!spec.on_error) return;
  const OnError& on = *spec.on_error;
  const YamlValue entry = body.require("on_error");
  for (const char* key : {"spares", "attempts", "load", "restart"}) {
    if (on.goes_on() || !entry.is_map() || !entry.get(key)) continue;
    entry.fail_at_key(key, in_quotes(key) + " beside an end",
                      "\"then: restart\" or \"then: shrink\"");
  }
  if (on.action == OnError::Action::kShrink && !on.spares.empty()) {
    entry.require("spares").fail("spares beside \"then: shrink\"", "\"then: restart\"");
  }
  for (const uint32_t host : on.spares) {
    if (std::find(spec.hosts.begin(), spec.hosts.end(), host) == spec.hosts.end()) continue;
    entry.require("spares").fail(host_text(host) + ", which is a rank", "hosts that are none");
  }
}

}  // namespace mrclab::job
