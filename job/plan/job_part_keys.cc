#include "job/plan/job_part_keys.h"

#include "job/plan/key_kinds.h"
#include "job/plan/model_shape.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;

const Form kText = Form::of(Form::Kind::kText);
constexpr uint32_t kMaxChannels = 32;  ///< our choice; NCCL: 64
constexpr uint64_t kGiga = 1'000'000'000;

/// What a map with these keys becomes.
template <class Part>
Part read_with(const KeyTable<Part>& keys, const YamlValue& value) {
  Part part;
  keys.read(value, part);
  return part;
}
template <class Part>
std::string text_with(const KeyTable<Part>& keys, const std::optional<Part>& part) {
  return part ? keys.written(*part) : std::string();
}

// --- nodes, collective, slow -----------------------------------------------------------------------

const KeyTable<NodeSpec>& node_keys() {
  using S = NodeSpec;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("size", &S::size, integer_kind(1, kMaxRanks), "ranks in one", kRequiredKey),
       R::of("rate", &S::rate, above_zero(kind_of<BitRate>(), "a rate above 0"),
             "of a rank, such as 3.6Tb/s of NVLink", kRequiredKey),
       R::of("latency", &S::latency, "of each round", kIfUnusual)});
  return kKeys;
}

const KeyTable<LocalCopy>& local_keys() {
  using S = LocalCopy;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("rate", &S::rate, above_zero(kind_of<BitRate>(), "a rate above 0"),
             "of a rank, such as 3.6Tb/s of NVLink", kRequiredKey),
       R::of("latency", &S::latency, "of each message", kIfUnusual)});
  return kKeys;
}

const KeyTable<CollectiveChoice>& collective_keys() {
  using S = CollectiveChoice;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("all_reduce", &S::all_reduce, word_kind<Algorithm>({"ring", "tree"}),
             "tree: NCCL's double binary tree", kIfUnusual),
       R::of("channels", &S::channels, integer_kind(1, kMaxChannels),
             "pieces of a vector that go at once", kIfUnusual)});
  return kKeys;
}

const KeyTable<SlowRank>& slow_keys() {
  using S = SlowRank;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("rank", &S::rank, integer_kind(0, kMaxRanks - 1), "which", kRequiredKey),
       R::of("by", &S::by, above_zero(kind_of<Probability>(), "a share above 0%"), "of its time",
             kRequiredKey),
       R::of("from_step", &S::from_step, integer_kind(0, kMaxSteps - 1), "counted from 0",
             kIfUnusual),
       R::of("steps", &S::steps, integer_kind(0, kMaxSteps), "how many; 0: to the end",
             kIfUnusual)});
  return kKeys;
}

std::vector<SlowRank> read_slow(const YamlValue& value) {
  std::vector<SlowRank> ranks;
  for (const YamlValue& item : value.items()) {
    if (ranks.size() == kMaxRanks) item.fail("more ranks", "at most " + std::to_string(kMaxRanks));
    ranks.push_back(read_with(slow_keys(), item));
  }
  return ranks;
}

std::string slow_text(const std::vector<SlowRank>& ranks) {
  std::string text;
  for (const SlowRank& slow : ranks) text += (text.empty() ? "" : ", ") + slow_keys().written(slow);
  return text.empty() ? text : "[" + text + "]";
}

// --- trace ---------------------------------------------------------------------------------------

template <class E>
auto optional_word_kind(std::vector<std::string> words) {
  auto kind = word_kind<E>(std::move(words));
  const auto read = [read = kind.read](const YamlValue& value) {
    return std::optional<E>(read(value));
  };
  return ValueKind{kind.form, read, kind.write};
}

const KeyTable<TraceSpec>& trace_keys() {
  using S = TraceSpec;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of(
           "file", &S::file, path_kind(),
           "from this file's folder; of Chakra the prefix of PREFIX.0.et; of what profilers measured also a "
           "folder with a file a rank",
           kRequiredKey),
       R::of("format", &S::format,
             optional_word_kind<TraceFormat>(
                 {"cm", "simai", "chakra", "goal", "et", "kineto", "inspector", "nccl"}),
             "absent: found out"),
       R::of("time_unit", &S::time_unit, optional_word_kind<TimeUnit>({"ps", "ns", "us"}),
             "of numbers whose unit the file does not name")});
  return kKeys;
}

std::optional<TraceSpec> read_trace_part(const YamlValue& value) {
  if (!value.is_scalar()) return read_with(trace_keys(), value);
  TraceSpec trace;
  trace.file = path_kind().read(value);
  return trace;
}

// --- model ---------------------------------------------------------------------------------------

/// "989Tflop/s"
uint64_t read_flops(const YamlValue& value) {
  const std::string text = value.as_string();
  const size_t digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  const uint64_t factor = unit == "Gflop/s"   ? kGiga
                          : unit == "Tflop/s" ? kGiga * 1000
                          : unit == "Pflop/s" ? kGiga * 1'000'000
                                              : 0;
  if (digits == 0 || digits > 6 || factor == 0) {
    value.fail_expecting("a rate of a rank such as 989Tflop/s");
  }
  const uint64_t flops = std::stoull(text.substr(0, digits)) * factor;
  if (flops == 0) value.fail_expecting("a rate above 0");
  return flops;
}

std::string flops_text(uint64_t flops) {
  const uint64_t giga = flops / kGiga;
  if (giga % 1000 != 0) return std::to_string(giga) + "Gflop/s";
  return std::to_string(giga / 1000) + "Tflop/s";
}

const KeyTable<ModelSpec>& model_keys() {
  using S = ModelSpec;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys([] {
    std::vector<std::string> names;
    for (const ModelShape& shape : model_shapes()) names.emplace_back(shape.name);
    const ValueKind preset{Form::word(names),
                           [names](const YamlValue& value) { return names[value.as_word(names)]; },
                           yaml_word};
    return std::vector<R>{
        R::of("preset", &S::preset, preset, "which", kRequiredKey),
        R::of("sequence", &S::sequence, integer_kind(0, 16'777'216),
              "tokens; absent: as it was trained", kIfUnusual),
        R::of("batch", &S::batch, integer_kind(1, 65536), "sequences in a micro-batch", kIfUnusual),
        R::of("blocks", &S::blocks, integer_kind(1, 128), "layers of a stage that are run",
              kIfUnusual),
        R::of("mfu", &S::mfu, above_zero(kind_of<Probability>(), "a share above 0%"),
              "of the peak, while a rank computes", kIfUnusual),
        R::of("peak", &S::peak_flops, ValueKind{kText, read_flops, flops_text},
              "of a rank: 989Tflop/s", kIfUnusual),
        R::of("zero", &S::zero, word_kind<Zero>({"off", "optimizer", "parameters"}),
              "off: gradients are all-reduced (DDP); optimizer: reduce-scattered, and parameters "
              "gathered (ZeRO-1, ZeRO-2); parameters: gathered layer by layer, before each pass "
              "(ZeRO-3, FSDP)",
              kIfUnusual),
        R::of("prefetch", &S::prefetch, integer_kind(0, 8),
              "with `zero: parameters`: layers that are gathered ahead of the one that computes",
              kIfUnusual),
        R::of("dispatch", &S::fp8_dispatch, word_kind<bool>({"bf16", "fp8"}),
              "of tokens to experts", kIfUnusual),
        R::of("skew", &S::zipf_thousandths, zipf_kind(), "of the experts: \"zipf 0.5\"")};
  }());
  return kKeys;
}

}  // namespace

PartKind<std::optional<NodeSpec>> nodes_kind() {
  return {node_keys().form(),
          [](const YamlValue& value) { return std::optional(read_with(node_keys(), value)); },
          [](const std::optional<NodeSpec>& in) { return text_with(node_keys(), in); }};
}

PartKind<std::optional<LocalCopy>> local_kind() {
  return {local_keys().form(),
          [](const YamlValue& value) { return std::optional(read_with(local_keys(), value)); },
          [](const std::optional<LocalCopy>& in) { return text_with(local_keys(), in); }};
}

PartKind<CollectiveChoice> collective_kind() {
  return {collective_keys().form(),
          [](const YamlValue& value) { return read_with(collective_keys(), value); },
          [](const CollectiveChoice& in) {
            return in == CollectiveChoice{} ? std::string() : collective_keys().written(in);
          }};
}

PartKind<std::vector<SlowRank>> slow_kind() {
  return {Form::list(slow_keys().form(), 0, kMaxRanks), read_slow, slow_text};
}

PartKind<std::optional<TraceSpec>> trace_kind() {
  return {Form::either({kText, trace_keys().form()}), read_trace_part,
          [](const std::optional<TraceSpec>& in) { return text_with(trace_keys(), in); }};
}

PartKind<std::optional<ModelSpec>> model_kind() {
  return {model_keys().form(),
          [](const YamlValue& value) { return std::optional(read_with(model_keys(), value)); },
          [](const std::optional<ModelSpec>& in) { return text_with(model_keys(), in); }};
}

}  // namespace mrclab::job
