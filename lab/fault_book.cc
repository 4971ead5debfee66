#include "lab/fault_book.h"

#include <algorithm>
#include <charconv>

#include "fabric/effect_text.h"
#include "fabric/pattern.h"
#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

std::optional<uint32_t> number_in(const std::string& word) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string_view name_of(FaultSource source) {
  switch (source) {
    case FaultSource::kScenario: return "scenario";
    case FaultSource::kHand: return "hand";
    case FaultSource::kOutside: return "outside";
  }
  return "";
}

std::string_view name_of(FaultStage stage) {
  switch (stage) {
    case FaultStage::kToCome: return "to come";
    case FaultStage::kInForce: return "in force";
    case FaultStage::kOver: return "over";
    case FaultStage::kCancelled: return "cancelled";
  }
  return "";
}

FaultBook::FaultBook(const Topology& topology, std::vector<faults::Fault> scenario)
    : topology_(topology) {
  for (faults::Fault& fault : scenario) entries_.push_back({std::move(fault)});
}

uint32_t FaultBook::add(BookedFault fault) {
  if (entries_.size() >= faults::kMaxFaults) {
    throw InputError("this lab has had " + std::to_string(entries_.size()) +
                     " faults: no more fit");
  }
  entries_.push_back(std::move(fault));
  return static_cast<uint32_t>(entries_.size() - 1);
}

void FaultBook::mend(uint32_t number, FabricTime at) {
  faults::Fault& fault = entries_.at(number).fault;
  fault.mended = std::min(fault.mended, at);
}

FaultStage FaultBook::stage(uint32_t number, FabricTime now) const {
  const faults::Fault& fault = entries_.at(number).fault;
  if (fault.mended <= fault.at) return FaultStage::kCancelled;
  if (now < fault.at) return FaultStage::kToCome;
  return now < faults::interval_of(fault, topology_).last_heal ? FaultStage::kInForce
                                                               : FaultStage::kOver;
}

std::vector<uint32_t> FaultBook::select(const std::string& word, FabricTime at) const {
  const std::optional<uint32_t> number = number_in(word);
  const std::optional<faults::FaultKind> kind = faults::find_fault(word);
  std::vector<uint32_t> chosen;
  bool known = word.empty() || word == "all";
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    const BookedFault& entry = entries_[i];
    const bool meant = word.empty() || word == "all" || (number && *number == i) ||
                       (kind && *kind == entry.fault.kind) ||
                       (!number && !kind && is_about(entry.fault, word));
    if (!meant) continue;
    known = true;
    const FaultStage now = stage(i, at);
    const bool open = now == FaultStage::kInForce || (now == FaultStage::kToCome && !word.empty());
    if (open && entry.source != FaultSource::kOutside) chosen.push_back(i);
  }
  if (!known) {
    throw InputError("found " + in_quotes(word) +
                     ", which means no fault of this lab: expected a number of 'mrclab inspect "
                     "--faults', a kind, the name of a target, or all");
  }
  return chosen;
}

/// The pattern may mean the whole target ("h0:p0->p0.t0-0:d0"), one end of it, or the node there.
bool FaultBook::is_about(const faults::Fault& fault, const std::string& pattern) const {
  const auto matches = [&](const std::string& end) {
    return matches_pattern(pattern, end) || matches_pattern(pattern, end.substr(0, end.find(':')));
  };
  for (const faults::Hold& hold : faults::holds_of(fault, topology_)) {
    const std::string target = target_name(topology_, hold.effect);
    const std::string name = target.substr(0, target.find(' '));  // "h0 p0/u1 toward h4"
    const size_t arrow = name.find("->");
    if (arrow == std::string::npos
            ? matches(name)
            : matches_pattern(pattern, name) || matches(name.substr(0, arrow)) ||
                  matches(name.substr(arrow + 2))) {
      return true;
    }
  }
  return false;
}

std::vector<faults::Fault> FaultBook::faults() const {
  std::vector<faults::Fault> faults;
  for (const BookedFault& entry : entries_) faults.push_back(entry.fault);
  return faults;
}

std::vector<ScheduledEffect> FaultBook::schedule() const {
  return faults::compile(faults(), topology_);
}

}  // namespace mrclab::lab
