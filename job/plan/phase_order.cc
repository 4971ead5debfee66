#include "job/plan/phase_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/text/input_error.h"

namespace mrclab::job {
namespace {

bool contains(const std::vector<size_t>& list, size_t what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

}  // namespace

PhaseOrder::PhaseOrder(const std::vector<Phase>& phases) : phases_(phases), waits_(phases.size()) {
  for (size_t i = 0; i < phases.size(); ++i) find_waits(i);
  sort_into_parts();
  mark_ends_of_passes();
}

size_t PhaseOrder::named(size_t phase, const std::string& name) const {
  for (size_t i = 0; i < phases_.size(); ++i) {
    if (phases_[i].name == name) return i;
  }
  throw InputError(fmt::format("phase {}: it names the phase \"{}\", which does not exist",
                               phases_[phase].name, name));
}

void PhaseOrder::find_waits(size_t i) {
  const Phase& phase = phases_[i];
  PhaseWaits& waits = waits_[i];
  if (!phase.with.empty()) {
    waits.with = named(i, phase.with);
    if (phases_[waits.with].each_microbatch != phase.each_microbatch) {
      throw InputError(
          fmt::format("phase {}: it begins with {}, and only one of them is of each "
                      "micro-batch",
                      phase.name, phase.with));
    }
  } else if (!phase.beside.empty()) {
    waits.beside = named(i, phase.beside);
    if (!std::holds_alternative<ComputeWork>(phases_[waits.beside].work)) {
      throw InputError(
          fmt::format("phase {}: {} does not compute: only what is beside computing "
                      "can go part by part",
                      phase.name, phase.beside));
    }
  } else if (phase.after) {
    for (const std::string& name : *phase.after) waits.after.push_back(named(i, name));
  } else {
    for (size_t k = i; k-- > 0;) {
      // The passes of a micro-batch begin by the schedule, not behind what stands before them in the file.
      const bool same =
          !phase.each_microbatch || !phases_[k].each_microbatch || phases_[k].pass == phase.pass;
      if (!same) continue;
      waits.after.push_back(k);
      break;
    }
  }
}

std::vector<size_t> PhaseOrder::predecessors(size_t phase) const {
  std::vector<size_t> all = waits_[phase].after;
  if (waits_[phase].beside != PhaseWaits::kNone) all.push_back(waits_[phase].beside);
  if (waits_[phase].with != PhaseWaits::kNone) all.push_back(waits_[phase].with);
  return all;
}

/// Each behind what it waits for, else as in the file.
std::vector<size_t> PhaseOrder::sorted() const {
  std::vector<size_t> order;
  while (order.size() < phases_.size()) {
    const size_t before = order.size();
    for (size_t i = 0; i < phases_.size() && order.size() == before; ++i) {
      if (contains(order, i)) continue;
      const std::vector<size_t> needs = predecessors(i);
      if (std::all_of(needs.begin(), needs.end(), [&](size_t k) { return contains(order, k); })) {
        order.push_back(i);
      }
    }
    if (order.size() > before) continue;
    size_t at = 0;
    while (contains(order, at)) ++at;
    std::vector<size_t> way;
    while (!contains(way, at)) {
      way.push_back(at);
      for (const size_t k : predecessors(at)) {
        if (!contains(order, k)) at = k;
      }
    }
    std::string text;
    for (size_t k = static_cast<size_t>(std::find(way.begin(), way.end(), at) - way.begin());
         k < way.size(); ++k) {
      text += phases_[way[k]].name + " -> ";
    }
    throw InputError(fmt::format("phases wait for each other: {}{}", text, phases_[at].name));
  }
  return order;
}

void PhaseOrder::sort_into_parts() {
  for (const size_t i : sorted()) {
    const Phase& phase = phases_[i];
    const std::vector<size_t> needs = predecessors(i);
    const bool behind = std::any_of(needs.begin(), needs.end(), [&](size_t k) {
      return phases_[k].each_microbatch || contains(behind_, k);
    });
    if (!phase.each_microbatch) {
      (behind ? behind_ : before_).push_back(i);
      continue;
    }
    for (const size_t k : needs) {
      if (contains(behind_, k)) {
        throw InputError(fmt::format(
            "phase {} is of each micro-batch and waits for {}, which comes after all of them",
            phase.name, phases_[k].name));
      }
      if (phase.pass == Pass::kForward && contains(backward_, k)) {
        throw InputError(
            fmt::format("phase {} of the forward pass waits for {} of the backward one", phase.name,
                        phases_[k].name));
      }
    }
    std::vector<size_t>& own = phase.pass == Pass::kForward ? forward_ : backward_;
    const auto in_pass = [&](size_t k) { return contains(own, k); };
    const size_t with = waits_[i].with;
    waits_[i].begins_pass = std::none_of(needs.begin(), needs.end(), in_pass) ||
                            (with != PhaseWaits::kNone && waits_[with].begins_pass);
    own.push_back(i);
  }
}

/// The next pass of a stage waits for what nothing else of the pass waits for, but not for what goes beside or is sent.
void PhaseOrder::mark_ends_of_passes() {
  for (const auto* own : {&forward_, &backward_}) {
    std::set<size_t> waited_for;
    const auto gates = [&](size_t i) {
      return !std::holds_alternative<SendWork>(phases_[i].work) && phases_[i].beside.empty() &&
             phases_[i].with.empty();
    };
    for (const size_t i : *own) {
      if (!gates(i)) continue;
      for (const size_t k : waits_[i].after) waited_for.insert(k);
    }
    for (const size_t i : *own) waits_[i].ends_pass = gates(i) && !waited_for.contains(i);
  }
}

std::vector<PassTurn> one_forward_one_backward(uint32_t stage, uint32_t stages,
                                               uint32_t microbatches) {
  const uint32_t ahead = std::min(stages - 1 - stage, microbatches);
  std::vector<PassTurn> turns;
  for (uint32_t i = 0; i < ahead; ++i) turns.push_back({Pass::kForward, i});
  for (uint32_t i = 0; i + ahead < microbatches; ++i) {
    turns.push_back({Pass::kForward, ahead + i});
    turns.push_back({Pass::kBackward, i});
  }
  for (uint32_t i = microbatches - ahead; i < microbatches; ++i) {
    turns.push_back({Pass::kBackward, i});
  }
  return turns;
}

std::vector<PassTurn> interleaved_turns(uint32_t stage, uint32_t stages, uint32_t microbatches,
                                        uint32_t chunks) {
  if (chunks == 1) return one_forward_one_backward(stage, stages, microbatches);
  const uint32_t all = microbatches * chunks;
  const uint32_t ahead = std::min(2 * (stages - 1 - stage) + (chunks - 1) * stages, all);
  const auto turn = [&](Pass pass, uint32_t number) {
    const uint32_t chunk = number % (stages * chunks) / stages;
    return PassTurn{pass, number / (stages * chunks) * stages + number % stages,
                    pass == Pass::kForward ? chunk : chunks - 1 - chunk};
  };
  std::vector<PassTurn> turns;
  for (uint32_t i = 0; i < ahead; ++i) turns.push_back(turn(Pass::kForward, i));
  for (uint32_t i = 0; i + ahead < all; ++i) {
    turns.push_back(turn(Pass::kForward, ahead + i));
    turns.push_back(turn(Pass::kBackward, i));
  }
  for (uint32_t i = all - ahead; i < all; ++i) turns.push_back(turn(Pass::kBackward, i));
  return turns;
}

}  // namespace mrclab::job
