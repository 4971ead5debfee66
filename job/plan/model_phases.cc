#include "job/plan/model_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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
    const uint32_t stages = layout_.pp * spec.virtual_stages;
    const uint32_t asked = (model_.blocks + spec.virtual_stages - 1) / spec.virtual_stages;
    blocks_ = std::min(asked, (shape_.layers + stages - 1) / stages);
  }

  ModelPhases make() {
    if (model_.zero == Zero::kOptimizer) add_parameters();
    add_layers(Pass::kForward);
    add_boundary("acts", Direction::kNext, Pass::kForward);
    add_layers(Pass::kBackward);
    add_boundary("acts-back", Direction::kPrevious, Pass::kBackward);
    for (uint32_t i = blocks_; i-- > 0 && model_.zero != Zero::kParameters;) add_gradients(i);
    add_notes();
    return std::move(made_);
  }

 private:
  void check() const {
    if (shape_.layers < layout_.pp * spec_.virtual_stages) {
      throw InputError(
          spec_.virtual_stages == 1
              ? fmt::format("{} has {} layers: pp is {}", shape_.name, shape_.layers, layout_.pp)
              : fmt::format("{} has {} layers: pp is {}, each with {} virtual stages", shape_.name,
                            shape_.layers, layout_.pp, spec_.virtual_stages));
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
    add_next(name, work, pass);
  }

  /// A phase that follows the one before it in the pass. With ZeRO-3 phases that gather parameters stand between them in
  /// the list, so each of these names the phase that it waits for.
  void add_next(const std::string& name, std::variant<ComputeWork, ExchangeWork, SendWork> work,
                Pass pass, const std::vector<std::string>& also = {}) {
    add_each(name, std::move(work), pass);
    if (model_.zero != Zero::kParameters) return;
    std::string& before = last_[pass];
    made_.phases.back().after = also;
    if (!before.empty()) made_.phases.back().after->push_back(before);
    before = name;
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
                             {count * blocks_ * spec_.virtual_stages * kParameterBytes},
                             blocks_});
    };
    add_all("params", false, cost_.dense_parameters);
    add_all("params-experts", true, cost_.expert_parameters);
  }

  /// Forward, or backward with twice the computing; an exchange belongs to its place in both.
  void add_layer(uint32_t i, Pass pass) {
    const bool forward = pass == Pass::kForward;
    const std::string name = name_of_pass(i, pass);
    const uint64_t flops = cost_.forward_flops * (forward ? 1 : 2);
    add_exchange(name + "-cp", Collective::kAllGather, "cp", cost_.context_bytes, 1, pass);
    if (cost_.dispatch_bytes == 0) {
      add_next(name, ComputeWork{time_of(flops)}, pass, gathered_[name]);
    } else {
      // Attention and shared experts before the tokens go to their experts, these behind.
      const __int128 outside = __int128{1} * flops * layer_parameters(shape_) * shape_.layers;
      const auto first = static_cast<uint64_t>(outside / active_parameters(shape_));
      add_next(name, ComputeWork{time_of(first)}, pass, gathered_[name]);
      add_exchange(name + "-dispatch", Collective::kAllToAll, "ep",
                   forward ? cost_.dispatch_bytes : cost_.combine_bytes, 1, pass);
      add_next(name + "-experts", ComputeWork{time_of(flops - first)}, pass);
      add_exchange(name + "-combine", Collective::kAllToAll, "ep",
                   forward ? cost_.combine_bytes : cost_.dispatch_bytes, 1, pass);
    }
    add_exchange(name + "-tp", Collective::kAllReduce, "tp", 2 * cost_.tensor_bytes, 2, pass);
  }

  static std::string name_of_pass(uint32_t i, Pass pass) {
    return (pass == Pass::kForward ? "f" : "b") + std::to_string(i);
  }

  /// Of what is no expert and of experts, where there is somebody who holds a part of it.
  template <class Add>
  void for_parameters(const Add& add) const {
    if (cost_.dense_parameters > 0 && !group_of(false).empty()) {
      add(std::string(), group_of(false), cost_.dense_parameters);
    }
    if (cost_.expert_parameters > 0 && !group_of(true).empty()) {
      add(std::string("-experts"), group_of(true), cost_.expert_parameters);
    }
  }

  uint32_t layer_at(uint32_t place, Pass pass) const {
    return pass == Pass::kForward ? place : blocks_ - 1 - place;
  }

  /// Collectives of a group follow each other as they stand here: what is gathered ahead of computing stands before the
  /// gradients of that computing, as FSDP issues them.
  void add_layers(Pass pass) {
    const bool cut = model_.zero == Zero::kParameters;
    for (uint32_t place = 0; cut && place < std::min(model_.prefetch, blocks_); ++place) {
      add_gathers(place, pass);
    }
    for (uint32_t place = 0; place < blocks_; ++place) {
      const uint32_t layer = layer_at(place, pass);
      if (cut && model_.prefetch == 0) add_gathers(place, pass);
      add_layer(layer, pass);
      if (!cut) continue;
      const uint32_t ahead = place + model_.prefetch;
      if (model_.prefetch > 0 && ahead < blocks_) add_gathers(ahead, pass);
      if (pass == Pass::kBackward) add_shards(layer);
    }
  }

  /// The layer's parameters, whole: with the computing of the layer that is `prefetch` before it, or with the pass.
  void add_gathers(uint32_t place, Pass pass) {
    const std::string layer = name_of_pass(layer_at(place, pass), pass);
    for_parameters([&](const std::string& what, const std::string& group, uint64_t count) {
      const std::string name = layer + "-gather" + what;
      add_each(name, ExchangeWork{Collective::kAllGather, group, {count * kParameterBytes}}, pass);
      Phase& gather = made_.phases.back();
      gathered_[layer].push_back(name);
      if (place < model_.prefetch || place == 0) {
        gather.after.emplace();
      } else if (model_.prefetch == 0) {
        gather.after = {{last_[pass]}};
      } else {
        gather.with = name_of_pass(layer_at(place - model_.prefetch, pass), pass);
      }
    });
  }

  /// Gradients of the layer, as soon as they are there; the next layer does not wait for them.
  void add_shards(uint32_t i) {
    for_parameters([&](const std::string& what, const std::string& group, uint64_t count) {
      const std::string of = name_of_pass(i, Pass::kBackward);
      const bool experts = !what.empty() && cost_.dispatch_bytes > 0;
      add_each(of + "-scatter" + what,
               ExchangeWork{Collective::kReduceScatter, group, {count * kGradientBytes}},
               Pass::kBackward);
      made_.phases.back().beside = experts ? of + "-experts" : of;
    });
  }

  void add_boundary(const std::string& name, Direction to, Pass pass) {
    if (cost_.boundary_bytes == 0) return;
    add_next(name, SendWork{"pp", to, {cost_.boundary_bytes}}, pass);
  }

  void add_gradients(uint32_t i) {
    const auto add_all = [&](const char* name, bool experts, uint64_t count) {
      if (count == 0 || group_of(experts).empty()) return;
      const Collective collective =
          model_.zero == Zero::kOff ? Collective::kAllReduce : Collective::kReduceScatter;
      Phase& phase =
          add(name + std::to_string(i),
              ExchangeWork{
                  collective, group_of(experts), {count * spec_.virtual_stages * kGradientBytes}});
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
    const uint32_t blocks = blocks_ * spec_.virtual_stages;
    if (stage > blocks) {
      made_.notes.push_back(
          fmt::format("{} of {:.1f} layers of a stage: times and bytes of all are {:.2f} "
                      "times as much",
                      blocks, stage, stage / blocks));
    }
  }

  const JobSpec& spec_;
  const ModelSpec& model_;
  const ModelShape& shape_;
  const ModelLayout layout_;
  const LayerCost cost_;
  uint32_t blocks_ = 1;  ///< of a stage, or of a virtual one
  std::map<std::string, std::vector<std::string>>
      gathered_;                      ///< by the layer's computing: phases that it waits for
  std::map<Pass, std::string> last_;  ///< of those that follow each other
  ModelPhases made_;
};

}  // namespace

ModelPhases model_phases(const JobSpec& spec) { return ModelPhaseMaker(spec).make(); }

}  // namespace mrclab::job
