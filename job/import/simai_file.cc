#include "job/import/simai_file.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

#include "job/import/line_words.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kMaxNumber = uint64_t{1} << 53;
constexpr size_t kMaxLayers = 10'000;

enum class Scope : uint8_t { kTensor, kData, kExpert, kDataOfExperts };
constexpr std::array<std::string_view, 4> kScopes{"tp", "dp", "ep", "dp_ep"};

struct Part {
  uint64_t compute = 0;  ///< in the file's unit
  std::optional<Collective> collective;
  Scope scope = Scope::kTensor;
  uint64_t bytes = 0;
};
struct Layer {
  uint32_t line = 0;
  Part forward, input, weight;
};

class SimAiReader {
 public:
  SimAiReader(std::string_view text, const std::string& name, const TraceOptions& options)
      : lines_(text, name), name_(name), options_(options) {}

  Trace read() {
    read_head();
    if (!lines_.next()) lines_.fail("expected the number of layers");
    const uint64_t layers = lines_.count(0, "layers", kMaxLayers, 1);
    while (lines_.next()) read_layer();
    if (layers_.size() != layers) {
      throw InputError(fmt::format("{}: {} layers, found {}", name_, layers, layers_.size()));
    }
    return made();
  }

 private:
  void read_head() {
    if (!lines_.next()) lines_.fail("empty: expected a policy, as HYBRID_TRANSFORMER");
    const std::string_view policy = lines_.word(0);
    if (!policy.starts_with("HYBRID_TRANSFORMER") && policy != "HYBRID_CUSTOMIZED" &&
        policy != "DATA" && policy != "MODEL") {
      lines_.fail(
          fmt::format("found policy \"{}\": expected HYBRID_TRANSFORMER, "
                      "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_CUSTOMIZED, DATA or MODEL",
                      policy.substr(0, 40)));
    }
    for (size_t i = 1; i < lines_.words().size(); i += 2) {
      const std::string key(lines_.word(i));
      if (!key.ends_with(':'))
        lines_.fail("found \"" + key.substr(0, 40) + "\": expected \"key: value\"");
      if (key == "checkpoints:" && lines_.count(i + 1, "layers", kMaxLayers) > 0) {
        lines_.fail("layers that are computed again (checkpoints) are not supported");
      }
      head_[key.substr(0, key.size() - 1)] = lines_.count(i + 1, "a number", kMaxNumber);
    }
  }

  Part read_part(size_t place, Scope scope) const {
    Part part;
    part.scope = scope;
    part.compute = lines_.count(place, "a time", kMaxNumber);
    part.bytes = lines_.count(place + 2, "bytes", kMaxNumber);
    std::string word(lines_.word(place + 1));
    if (word == "NONE" || word == "BROADCAST") return part;  // ASTRA-sim sends nothing for either
    if (word.ends_with("_DP_EP")) {
      part.scope = Scope::kDataOfExperts;
      word.resize(word.size() - 6);
    } else if (word.ends_with("_EP")) {
      part.scope = Scope::kExpert;
      word.resize(word.size() - 3);
    }
    static const std::map<std::string, Collective> kWords{
        {"ALLREDUCE", Collective::kAllReduce},
        {"ALLGATHER", Collective::kAllGather},
        {"REDUCESCATTER", Collective::kReduceScatter},
        {"ALLTOALL", Collective::kAllToAll}};
    const auto found = kWords.find(word);
    if (found == kWords.end()) {
      lines_.fail(
          "found \"" + word.substr(0, 40) +
          "\": expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, or one of them "
          "with _EP or _DP_EP");
    }
    part.collective = found->second;
    return part;
  }

  void read_layer() {
    constexpr size_t kWordsOfLayer = 12, kWithScope = 13;
    const size_t words = lines_.words().size();
    if (words != kWordsOfLayer && words != kWithScope) {
      lines_.fail(
          fmt::format("a layer of {} words: expected 12 (name, -1, three times time, "
                      "communication and bytes, update time)",
                      words));
    }
    if (layers_.size() >= kMaxLayers) lines_.fail("too many layers");
    Layer layer;
    layer.line = lines_.number();
    layer.forward = read_part(2, Scope::kTensor);
    layer.input = read_part(5, Scope::kTensor);
    layer.weight = read_part(8, Scope::kData);
    lines_.count(11, "a time", kMaxNumber);
    layers_.push_back(layer);
  }

  uint32_t head(const std::string& key, uint32_t otherwise) const {
    const auto found = head_.find(key);
    if (found == head_.end() || found->second == 0) return otherwise;
    if (found->second > kMaxRanks) {
      throw InputError(fmt::format("{}:1: {}: {}: a job has at most {} ranks", name_, key,
                                   found->second, kMaxRanks));
    }
    return static_cast<uint32_t>(found->second);
  }

  uint32_t ranks_wanted(uint32_t tensor) const {
    if (options_.ranks) return *options_.ranks;
    if (head_.contains("all_gpus")) return head("all_gpus", 1);
    throw InputError(
        fmt::format("{}:1: the file says no all_gpus: say how many ranks there are "
                    "(a multiple of {})",
                    name_, tensor));
  }

  /// The group of each rank, by scope: tensor-parallel ranks are neighbours, experts lie over neighbouring tensor groups.
  void make_groups(OpGraph& graph, uint32_t tensor, uint32_t expert) {
    const uint32_t data = graph.ranks() / tensor;
    for (uint32_t rank = 0; rank < graph.ranks(); ++rank) {
      const uint32_t shard = rank % tensor, place = rank / tensor;
      const auto add = [&](Scope scope, uint32_t first, uint32_t count, uint32_t stride) {
        std::vector<uint32_t> members;
        for (uint32_t i = 0; i < count; ++i) members.push_back(first + i * stride);
        std::string name = fmt::format("{} of rank {}", kScopes[size_t(scope)], first);
        group_of_[{scope, rank}] = graph.add_group(std::move(name), std::move(members));
      };
      add(Scope::kTensor, place * tensor, tensor, 1);
      add(Scope::kData, shard, data, tensor);
      add(Scope::kExpert, place / expert * expert * tensor + shard, expert, tensor);
      add(Scope::kDataOfExperts, place % expert * tensor + shard, data / expert, expert * tensor);
    }
  }

  FabricTime duration(uint64_t value) const {
    const bool micro = options_.time_unit == TimeUnit::kMicroseconds;
    const bool pico = options_.time_unit == TimeUnit::kPicoseconds;
    const uint64_t ps = micro ? 1'000'000 : pico ? 1 : 1'000;
    if (value > static_cast<uint64_t>(FabricTime::never().ps()) / 2 / ps) {
      throw InputError(name_ + ": a time is too long");
    }
    return FabricTime::from_ps(static_cast<int64_t>(value * ps));
  }

  /// The last operation of a rank that the next waits for; `computes` and `communicates` follow it.
  struct Chain {
    uint32_t rank = 0;
    std::optional<uint32_t> last;
  };

  void compute(OpGraph& graph, Chain& chain, const Layer& layer, const Part& part,
               std::vector<Dependency> waits = {}) const {
    if (chain.last) waits.push_back({*chain.last});
    if (part.compute == 0 && waits.size() < 2) return;
    Op op;
    op.rank = chain.rank;
    op.line = layer.line;
    op.duration = duration(part.compute);
    chain.last = graph.add(op, waits);
  }

  /// The operation, if the group has others.
  std::optional<uint32_t> communicate(OpGraph& graph, const Chain& chain, const Layer& layer,
                                      const Part& part) const {
    if (!part.collective || part.bytes == 0) return std::nullopt;
    Op op;
    op.kind = OpKind::kCollective;
    op.collective = *part.collective;
    op.rank = chain.rank;
    op.line = layer.line;
    op.bytes = part.bytes;
    op.group = group_of_.at({part.scope, chain.rank});
    if (graph.groups()[op.group].ranks.size() < 2) return std::nullopt;
    std::vector<Dependency> waits;
    if (chain.last) waits.push_back({*chain.last});
    return graph.add(op, waits);
  }

  void add_step(OpGraph& graph, Chain& chain, std::vector<std::optional<uint32_t>>& weights) const {
    for (size_t i = 0; i < layers_.size(); ++i) {
      std::vector<Dependency> waits;
      if (weights[i]) waits.push_back({*weights[i]});
      weights[i].reset();
      compute(graph, chain, layers_[i], layers_[i].forward, std::move(waits));
      if (const auto op = communicate(graph, chain, layers_[i], layers_[i].forward))
        chain.last = op;
    }
    for (size_t i = layers_.size(); i-- > 0;) {
      compute(graph, chain, layers_[i], layers_[i].weight);
      weights[i] = communicate(graph, chain, layers_[i], layers_[i].weight);
      compute(graph, chain, layers_[i], layers_[i].input);
      if (const auto op = communicate(graph, chain, layers_[i], layers_[i].input)) chain.last = op;
    }
  }

  Trace made() {
    const uint32_t tensor = head("model_parallel_NPU_group", 1), expert = head("ep", 1);
    const uint32_t ranks = ranks_wanted(tensor);
    Trace trace{TraceFormat::kSimAi, OpGraph(ranks)};
    if (ranks % tensor != 0 || ranks / tensor % expert != 0) {
      throw InputError(
          fmt::format("{}: {} ranks: expected a multiple of {} (tensor-parallel {}, "
                      "experts over {} of these groups)",
                      name_, ranks, tensor * expert, tensor, expert));
    }
    make_groups(trace.graph, tensor, expert);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      Chain chain{rank, {}};
      std::vector<std::optional<uint32_t>> weights(layers_.size());
      for (uint32_t step = 0; step < options_.steps; ++step) add_step(trace.graph, chain, weights);
    }
    if (head("pp", 1) > 1) {
      trace.notes.push_back(fmt::format(
          "pp: {}: the format has no operations between pipeline stages, so there are none",
          head("pp", 1)));
    }
    return trace;
  }

  LineWords lines_;
  const std::string& name_;
  const TraceOptions& options_;
  std::map<std::string, uint64_t> head_;
  std::vector<Layer> layers_;
  std::map<std::pair<Scope, uint32_t>, uint32_t> group_of_;
};

}  // namespace

Trace read_simai(std::string_view text, const std::string& name, const TraceOptions& options) {
  return SimAiReader(text, name, options).read();
}

}  // namespace mrclab::job
