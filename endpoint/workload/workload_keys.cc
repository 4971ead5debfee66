#include "endpoint/workload/workload_keys.h"

#include <limits>

#include "fabric/text/key_table.h"
#include "job/plan/job_keys.h"
#include "job/serve/serve_keys.h"

namespace mrclab::endpoint {
namespace {

using Form = ValueForm;
template <class Spec>
using Row = KeyRow<Spec, NameResolver>;
template <class Spec>
using Rows = std::vector<Row<Spec>>;

constexpr uint64_t kMaxSlottedBytes = uint64_t{64} << 30;
constexpr uint64_t kLeastStepBytes = 4096;
constexpr int64_t kMaxSlotSteps = 64;
constexpr int64_t kMaxChannels = 32;  ///< our choice; NCCL: 64 of all NICs of a GPU
constexpr uint64_t kMaxMessageBytes = 256u << 20;
constexpr int64_t kMaxRepeats = 1'000'000;

// --- kinds of values -----------------------------------------------------------------------------

/// Hosts by name or pattern, one or a list.
Form hosts_form() {
  return Form::either({Form::of(Form::Kind::kText), Form::list(Form::of(Form::Kind::kText))});
}

std::vector<uint32_t> read_hosts(const YamlValue& value, NameResolver& names) {
  const std::vector<NodeId> named = names.hosts(value);
  std::vector<uint32_t> hosts;
  hosts.reserve(named.size());
  for (const NodeId id : named) hosts.push_back(names.topology().node(id).index);
  return hosts;
}

uint32_t read_host(const YamlValue& value, NameResolver& names) {
  const std::vector<uint32_t> hosts = read_hosts(value, names);
  if (hosts.size() != 1) value.fail_expecting("one host");
  return hosts.front();
}

/// Lists above so many hosts have their runs as patterns, or a scenario of 131,072 hosts would be a megabyte (our choice).
constexpr size_t kMostNames = 1024;

std::string hosts_text(const std::vector<uint32_t>& hosts) {
  std::string text;
  for (size_t i = 0, next = 0; i < hosts.size(); i = next) {
    next = i + 1;
    while (hosts.size() > kMostNames && next < hosts.size() && hosts[next] == hosts[next - 1] + 1) {
      ++next;
    }
    const std::string name = next - i < 2 ? host_text(hosts[i])
                                          : "\"h[" + std::to_string(hosts[i]) + "-" +
                                                std::to_string(hosts[next - 1]) + "]\"";
    text += (text.empty() ? "[" : ", ") + name;
  }
  return text + "]";
}

auto ranks_kind() {
  const auto read = [](const YamlValue& value, NameResolver& names) {
    std::vector<uint32_t> hosts = read_hosts(value, names);
    if (hosts.size() < 2) value.fail_expecting("at least two hosts");
    return hosts;
  };
  return ValueKind{hosts_form(), read, hosts_text};
}

auto host_kind() { return ValueKind{hosts_form(), read_host, host_text}; }

/// From 1B to `max`, a multiple of `unit`.
auto size_kind(uint64_t max, uint64_t unit = 1) {
  auto kind = kind_of<Bytes>();
  const auto read = [=](const YamlValue& value) {
    const Bytes size = value.as_bytes();
    if (size.value == 0 || size.value > max) {
      value.fail_expecting("a size from 1B to " + exact(Bytes{max}));
    }
    if (size.value % unit != 0) value.fail_expecting("a multiple of 4B: 32-bit elements");
    return size;
  };
  return ValueKind{kind.form, read, kind.write};
}

auto load_kind() {
  auto kind = kind_of<Probability>();
  const auto read = [](const YamlValue& value) {
    const Probability load = value.as_probability();
    if (load.ppb == 0) value.fail_expecting("a load above 0%");
    return load;
  };
  return ValueKind{kind.form, read, kind.write};
}

// --- rows that several kinds of workload have ----------------------------------------------------

/// One of the two says how often: `until: end`, which is written for 0 repeats, or a number.
template <class Spec>
Row<Spec> until_row(uint32_t Spec::*repeats) {
  return {"until", Form::word({"end"}), "again and again until the run's end",
          [=](const YamlValue&, Spec& spec, NameResolver&) { spec.*repeats = 0; },
          [=](const Spec& spec) { return std::string(spec.*repeats == 0 ? "end" : ""); }};
}
template <class Spec>
Row<Spec> repeats_row(const char* name, uint32_t Spec::*repeats, const char* about) {
  Row<Spec> row = Row<Spec>::of(name, repeats, integer_kind(1, kMaxRepeats), about);
  row.write = [=](const Spec& spec) {
    return spec.*repeats == 0 ? std::string() : std::to_string(spec.*repeats);
  };
  return row;
}

/// `from` and `to` of one flow.
template <class Flow>
Rows<Flow> flow_rows() {
  const auto read_to = [](const YamlValue& value, Flow& flow, NameResolver& names) {
    flow.to = read_host(value, names);
    if (flow.to == flow.from) value.fail_expecting("a host other than the sender");
  };
  Row<Flow> to = Row<Flow>::of("to", &Flow::to, host_kind(), "another host", kRequiredKey);
  to.read = read_to;
  Row<Flow> from = Row<Flow>::of("from", &Flow::from, host_kind(), "one host", kRequiredKey);
  from.read = [](const YamlValue& value, Flow& flow, NameResolver& names) {
    flow.from = UINT32_MAX;  // where it cannot be read, `to` is compared with no host
    flow.from = read_host(value, names);
  };
  return {from, to};
}

/// Appends the keys that every kind of workload has.
template <class Spec>
Rows<Spec> with_start(Rows<Spec> rows) {
  if constexpr (requires(Spec spec) { spec.qps; }) {
    rows.push_back(Row<Spec>::of("qps", &Spec::qps, integer_kind(1, kMaxQps),
                                 "queue pairs of each connection", kIfUnusual));
  }
  rows.push_back(Row<Spec>::of("at", &Spec::at, "when it starts", kIfUnusual));
  rows.push_back(Row<Spec>::of("routing", &Spec::routing,
                               word_kind<Routing>({kRoutingWords.begin(), kRoutingWords.end()}),
                               "where not the fabric's"));
  rows.push_back(Row<Spec>::of("transport", &Spec::transport,
                               word_kind<TransportKind>({"mrc", "roce"}),
                               "where not the scenario's"));
  return rows;
}

// --- rows of one kind ----------------------------------------------------------------------------

/// `nccl`, or a map that changes something of it.
Row<CollectiveSpec> slots_row() {
  using R = KeyRow<SlotSpec>;
  static const KeyTable<SlotSpec> kKeys(
      {R::of("buffer", &SlotSpec::buffer, size_kind(64 << 20), "of a channel (NCCL_BUFFSIZE: 4MiB)",
             kIfUnusual),
       R::of("steps", &SlotSpec::steps, integer_kind(4, kMaxSlotSteps),
             "that a buffer is cut into, a multiple of 4 (NCCL_STEPS: 8)", kIfUnusual),
       R::of("channels", &SlotSpec::channels, integer_kind(1, kMaxChannels),
             "of each link, each with a buffer of its own", kIfUnusual)});
  const auto read = [](const YamlValue& value, CollectiveSpec& spec, NameResolver&) {
    spec.slots.emplace();
    if (value.is_scalar()) {
      value.as_word({"nccl"});
      return;
    }
    SlotSpec& slots = *spec.slots;
    kKeys.read(value, slots);
    if (slots.steps % 4 != 0) value.require("steps").fail_expecting("a multiple of 4");
    const uint64_t unit = uint64_t{slots.steps} * kLeastStepBytes;
    if (slots.buffer.value % unit != 0) {
      value.require(value.get("buffer") ? "buffer" : "steps")
          .fail("a buffer of " + exact(slots.buffer), "a multiple of " + exact(Bytes{unit}) + ", " +
                                                          exact(Bytes{kLeastStepBytes}) +
                                                          " for each step");
    }
  };
  return {"slots", Form::either({Form::word({"nccl"}), kKeys.form()}),
          "data goes through slots, with credits, as in NCCL; else in whole chunks", read,
          [](const CollectiveSpec& spec) {
            if (!spec.slots) return std::string();
            return *spec.slots == SlotSpec{} ? "nccl" : kKeys.written(*spec.slots);
          }};
}

Rows<CollectiveSpec> rows_of(const CollectiveSpec&) {
  using S = CollectiveSpec;
  using R = Row<S>;
  return {
      R::of("hosts", &S::hosts, ranks_kind(), "its ranks", kRequiredKey),
      R::of("size", &S::size, size_kind(kMaxSlottedBytes, kReduceElementBytes),
            "as nccl-tests mean it; a multiple of 4B, without slots at most 256MiB", kRequiredKey),
      slots_row(), until_row(&S::iterations),
      repeats_row("iterations", &S::iterations, "how often, in place of until")};
}

Rows<PermutationSpec> rows_of(const PermutationSpec&) {
  using S = PermutationSpec;
  using R = Row<S>;
  const auto read_shift = [](const YamlValue& value, S& spec, NameResolver&) {
    if (spec.hosts.empty()) return;  // they could not be read, which is reported
    const auto last = static_cast<int64_t>(spec.hosts.size()) - 1;
    spec.shift = static_cast<uint32_t>(value.as_integer(1, last));
  };
  return {R::of("hosts", &S::hosts, ranks_kind(), "senders, each to the host `shift` further on",
                kRequiredKey),
          R::of("load", &S::load, load_kind(), "of the line rate", kRequiredKey),
          R::of("message", &S::message, size_kind(kMaxMessageBytes), "size of each", kRequiredKey),
          {"shift", Form::integer(1, std::numeric_limits<int32_t>::max()).elsewhere(),
           "below the number of hosts", read_shift,
           [](const S& spec) { return std::to_string(spec.shift); }}};
}

Rows<WriteSpec> rows_of(const WriteSpec&) {
  using S = WriteSpec;
  using R = Row<S>;
  const auto end_row = [](const char* name, auto hosts, auto host, const char* about) {
    return R{name,
             hosts_form(),
             about,
             [=](const YamlValue& value, S& spec, NameResolver& names) {
               spec.*hosts = read_hosts(value, names);
               spec.*host = (spec.*hosts).front();
             },
             [=](const S& spec) { return host_text(spec.*host); },
             kRequiredKey};
  };
  Rows<S> rows{end_row("from", &S::senders, &S::from, "hosts that write"),
               end_row("to", &S::receivers, &S::to, "hosts that each of them writes to")};
  rows.push_back(
      R::of("size", &S::size, size_kind(kMaxMessageBytes), "of each write", kRequiredKey));
  const auto rate = kind_of<BitRate>();
  const auto read_rate = [](const YamlValue& value) {
    if (value.as_rate().bps == 0) value.fail_expecting("a rate above 0");
    return value.as_rate();
  };
  const auto rate_text = [](BitRate in) { return in.bps == 0 ? std::string() : exact(in); };
  rows.push_back(R::of("rate", &S::rate, ValueKind{rate.form, read_rate, rate_text},
                       "of each pair's bytes; without it as fast as they go"));
  rows.push_back(R::of("arrivals", &S::arrivals, word_kind<Arrivals>({"even", "poisson"}),
                       "when writes at a rate become due", kIfUnusual));
  rows.push_back(repeats_row("count", &S::count, "writes, at least one for each queue pair"));
  rows.push_back(until_row(&S::count));
  rows.push_back(R::of("depth", &S::depth, integer_kind(1, kMaxRepeats), "writes under way at once",
                       kIfUnusual));
  return rows;
}

/// The receiver is read first: which hosts random() chooses depends on the order.
Rows<IncastSpec> rows_of(const IncastSpec&) {
  using S = IncastSpec;
  using R = Row<S>;
  const auto read_senders = [](const YamlValue& value, S& spec, NameResolver& names) {
    spec.from = read_hosts(value, names);
    for (const uint32_t host : spec.from) {
      if (host == spec.to) value.fail_expecting("hosts other than the receiver");
    }
    if (spec.from.empty()) value.fail_expecting("at least one host");
  };
  const KeyTable<S::Flow, NameResolver> flow(flow_rows<S::Flow>());
  const auto read_victim = [=](const YamlValue& value, S& spec, NameResolver& names) {
    spec.victim = S::Flow{};
    flow.read(value, *spec.victim, names);
    if (spec.victim->to == spec.to) {
      value.require("to").fail_expecting("a host other than the incast's receiver");
    }
  };
  return {R{"from", hosts_form(), "the senders", read_senders,
            [](const S& spec) { return hosts_text(spec.from); }, kRequiredKey},
          R::of("to", &S::to, host_kind(), "the receiver",
                {.need = Form::Key::kRequired, .read_pass = 0}),
          {"victim", flow.form(), "a flow beside it", read_victim,
           [=](const S& spec) { return spec.victim ? flow.written(*spec.victim) : ""; }},
          R::of("load", &S::load, load_kind(), "of each sender's line rate", kRequiredKey),
          R::of("message", &S::message, size_kind(kMaxMessageBytes), "size of each", kRequiredKey)};
}

Rows<PingPongSpec> rows_of(const PingPongSpec&) {
  using S = PingPongSpec;
  using R = Row<S>;
  Rows<S> rows = flow_rows<S>();
  rows.push_back(
      R::of("size", &S::size, size_kind(kMaxMessageBytes), "of each write", kRequiredKey));
  rows.push_back(repeats_row("count", &S::count, "rounds"));
  rows.push_back(until_row(&S::count));
  return rows;
}

Rows<JobWorkload> rows_of(const JobWorkload&) { return job::job_rows_of(&JobWorkload::spec); }

Rows<JobWorkload> rows_of_service() {
  Rows<JobWorkload> rows;
  for (const auto& row : job::serve_rows()) {
    Row<JobWorkload>& made =
        rows.emplace_back(Row<JobWorkload>{row.name, row.form, row.about, {}, {}, row.use});
    made.read = [read = row.read](const YamlValue& value, JobWorkload& work, NameResolver& names) {
      read(value, *work.serve, names);
    };
    // Whether a value is unusual is asked of a plain entry, which has no service.
    made.write = [write = row.write](const JobWorkload& work) {
      return write(work.serve.value_or(job::ServeSpec{}));
    };
  }
  return rows;
}

template <class Spec>
const KeyTable<Spec, NameResolver>& keys_of(const Spec& plain) {
  static const KeyTable<Spec, NameResolver> kKeys(with_start(rows_of(plain)));
  if constexpr (std::is_same_v<Spec, JobWorkload>) {
    static const KeyTable<Spec, NameResolver> kServe(with_start(rows_of_service()));
    if (plain.serve) return kServe;
  }
  return kKeys;
}

}  // namespace

std::string host_text(uint32_t number) { return "h" + std::to_string(number); }

ValueForm keys_form(const WorkloadSpec& spec) {
  return std::visit([](const auto& any) { return keys_of(any).form(); }, spec);
}

void read_keys(const YamlValue& body, WorkloadSpec& spec, NameResolver& names) {
  std::visit([&](auto& any) { keys_of(any).read(body, any, names); }, spec);
}

std::string keys_text(const WorkloadSpec& spec) {
  return std::visit([](const auto& any) { return keys_of(any).written(any); }, spec);
}

}  // namespace mrclab::endpoint
