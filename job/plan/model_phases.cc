#include "job/plan/model_phases.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "job/plan/model_shape.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kGradientBytes = 4;  ///< summed in FP32 (Llama 3, section 3.3.2)

class ModelPhaseMaker {
 public:
  explicit ModelPhaseMaker(const JobSpec& spec)
      : spec_(spec),
        model_(*spec.model),
        shape_(model_shape(model_.preset)),
        layout_(ModelLayout::of(JobGroups(spec))),
        cost_(layer_cost(shape_, model_, layout_)) {
    check();
    blocks_ = std::min(model_.blocks, (shape_.layers + layout_.pp - 1) / layout_.pp);
  }

  ModelPhases make() {
    if (model_.zero != Zero::kOff) add_parameters();
    for (uint32_t i = 0; i < blocks_; ++i) add_layer(i, Pass::kForward);
    add_boundary("acts", Direction::kNext, Pass::kForward);
    for (uint32_t i = blocks_; i-- > 0;) add_layer(i, Pass::kBackward);
    add_boundary("acts-back", Direction::kPrevious, Pass::kBackward);
    for (uint32_t i = blocks_; i-- > 0;) add_gradients(i);
    add_notes();
    return std::move(made_);
  }

 private:
  void check() const {
    if (shape_.layers < layout_.pp) {
      throw InputError(
          fmt::format("{} has {} layers: pp is {}", shape_.name, shape_.layers, layout_.pp));
    }
    if (layout_.ep > 1 && shape_.experts == 0) {
      throw InputError(fmt::format("{} has no experts: ep is {}", shape_.name, layout_.ep));
    }
    if (layout_.ep > 1 && shape_.experts % layout_.ep != 0) {
      throw InputError(fmt::format("{} has {} experts: ep is {}, which does not divide them",
                                   shape_.name, shape_.experts, layout_.ep));
    }
  }

  FabricTime time_of(uint64_t flops) const {
    const auto rate = static_cast<__int128>(model_.peak_flops) * model_.mfu.ppb / Probability::kOne;
    constexpr __int128 kSecond = 1'000'000'000'000;
    return std::max(FabricTime::from_ps(static_cast<int64_t>(flops * kSecond / rate)), kPicosecond);
  }

  Phase& add(std::string name, std::variant<ComputeWork, ExchangeWork, SendWork> work) {
    Phase& phase = made_.phases.emplace_back();
    phase.name = std::move(name);
    phase.work = std::move(work);
    return phase;
  }
  void add_each(const std::string& name, std::variant<ComputeWork, ExchangeWork, SendWork> work,
                Pass pass) {
    Phase& phase = add(name, std::move(work));
    phase.each_microbatch = true;
    phase.pass = pass;
  }
  void add_exchange(const std::string& name, Collective collective, const std::string& group,
                    uint64_t bytes, uint32_t parts, Pass pass) {
    if (bytes == 0) return;
    ExchangeWork work{collective, group, {bytes}, parts};
    if (group == "ep") work.zipf_thousandths = model_.zipf_thousandths;
    add_each(name, work, pass);
  }

  /// Groups of ranks that hold the same parameters: of what is no expert those of ep and cp as well.
  std::string group_of(bool experts) const {
    std::string name;
    const auto with = [&](const char* dimension, uint32_t size) {
      if (size > 1) name += (name.empty() ? "" : "+") + std::string(dimension);
    };
    with("cp", layout_.cp);
    if (!experts) with("ep", layout_.ep);
    with("dp", layout_.dp);
    return name;
  }

  void add_parameters() {
    const auto add_all = [&](const char* name, bool experts, uint64_t count) {
      if (count == 0 || group_of(experts).empty()) return;
      add(name, ExchangeWork{Collective::kAllGather,
                             group_of(experts),
                             {count * blocks_ * kParameterBytes},
                             blocks_});
    };
    add_all("params", false, cost_.dense_parameters);
    add_all("params-experts", true, cost_.expert_parameters);
  }

  /// Forward, or backward with twice the computing; an exchange belongs to its place in both.
  void add_layer(uint32_t i, Pass pass) {
    const bool forward = pass == Pass::kForward;
    const std::string name = (forward ? "f" : "b") + std::to_string(i);
    const uint64_t flops = cost_.forward_flops * (forward ? 1 : 2);
    add_exchange(name + "-cp", Collective::kAllGather, "cp", cost_.context_bytes, 1, pass);
    if (cost_.dispatch_bytes == 0) {
      add_each(name, ComputeWork{time_of(flops)}, pass);
    } else {
      // Attention and shared experts before the tokens go to their experts, these behind.
      const __int128 outside = __int128{1} * flops * layer_parameters(shape_) * shape_.layers;
      const auto first = static_cast<uint64_t>(outside / active_parameters(shape_));
      add_each(name, ComputeWork{time_of(first)}, pass);
      add_exchange(name + "-dispatch", Collective::kAllToAll, "ep",
                   forward ? cost_.dispatch_bytes : cost_.combine_bytes, 1, pass);
      add_each(name + "-experts", ComputeWork{time_of(flops - first)}, pass);
      add_exchange(name + "-combine", Collective::kAllToAll, "ep",
                   forward ? cost_.combine_bytes : cost_.dispatch_bytes, 1, pass);
    }
    add_exchange(name + "-tp", Collective::kAllReduce, "tp", 2 * cost_.tensor_bytes, 2, pass);
  }

  void add_boundary(const std::string& name, Direction to, Pass pass) {
    if (cost_.boundary_bytes == 0) return;
    add_each(name, SendWork{"pp", to, {cost_.boundary_bytes}}, pass);
  }

  void add_gradients(uint32_t i) {
    const auto add_all = [&](const char* name, bool experts, uint64_t count) {
      if (count == 0 || group_of(experts).empty()) return;
      const Collective collective =
          model_.zero == Zero::kOff ? Collective::kAllReduce : Collective::kReduceScatter;
      Phase& phase = add(name + std::to_string(i),
                         ExchangeWork{collective, group_of(experts), {count * kGradientBytes}});
      phase.after = {{"b" + std::to_string(i)}};
    };
    add_all("g", false, cost_.dense_parameters);
    add_all("g-experts", true, cost_.expert_parameters);
  }

  void add_notes() {
    const uint64_t sequence = model_.sequence == 0 ? shape_.sequence : model_.sequence;
    const uint64_t tokens = sequence * model_.batch * spec_.microbatches * layout_.dp * layout_.ep;
    made_.notes.push_back(fmt::format("{}: {:.1f} G parameters, {} tokens a step", shape_.name,
                                      static_cast<double>(parameters(shape_)) / 1e9, tokens));
    const double stage = static_cast<double>(shape_.layers) / layout_.pp;
    if (stage > blocks_) {
      made_.notes.push_back(
          fmt::format("{} of {:.1f} layers of a stage: times and bytes of all are {:.2f} "
                      "times as much",
                      blocks_, stage, stage / blocks_));
    }
  }

  const JobSpec& spec_;
  const ModelSpec& model_;
  const ModelShape& shape_;
  const ModelLayout layout_;
  const LayerCost cost_;
  uint32_t blocks_ = 1;
  ModelPhases made_;
};

}  // namespace

ModelPhases model_phases(const JobSpec& spec) { return ModelPhaseMaker(spec).make(); }

}  // namespace mrclab::job
