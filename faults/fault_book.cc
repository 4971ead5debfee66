#include "faults/fault_book.h"

#include <algorithm>
#include <charconv>

#include "fabric/node/effect_text.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/name_pattern.h"
#include "faults/schedule.h"

namespace mrclab::lab {
namespace {

std::optional<uint32_t> number_in(const std::string& word) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool matches_any(const std::string& pattern, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches_pattern(pattern, name); });
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
    : topology_(&topology) {
  for (faults::Fault& fault : scenario) entries_[total_++] = {std::move(fault)};
}

uint32_t FaultBook::book_fault(BookedFault fault) {
  if (total_ >= faults::kMaxFaults) {
    throw InputError("this lab has had " + counted_noun(total_, "fault") + ": no more fit");
  }
  entries_[total_] = std::move(fault);
  return total_++;
}

void FaultBook::heal(uint32_t number, FabricTime at) {
  faults::Fault& fault = entries_.at(number).fault;
  fault.healed = std::min(fault.healed, at);
}

FaultStage FaultBook::stage(uint32_t number, FabricTime now) const {
  const faults::Fault& fault = entries_.at(number).fault;
  if (fault.healed <= fault.at) return FaultStage::kCancelled;
  if (now < fault.at) return FaultStage::kToCome;
  return now < faults::interval_of(fault, *topology_).last_heal ? FaultStage::kInForce
                                                                : FaultStage::kOver;
}

std::vector<uint32_t> FaultBook::finished_faults(FabricTime settled) const {
  std::vector<uint32_t> numbers;
  for (const auto& [number, entry] : entries_) {
    const FaultStage then = stage(number, settled);
    if (then == FaultStage::kOver || then == FaultStage::kCancelled) numbers.push_back(number);
  }
  return numbers;
}

void FaultBook::drop_fault(uint32_t number) {
  const faults::Fault& fault = entries_.at(number).fault;
  forgotten_kinds_.insert(fault.kind);
  forgotten_names_.merge(names_of(fault));
  entries_.erase(number);
}

FabricTime FaultBook::when_over(size_t count) const {
  std::vector<FabricTime> ends;
  for (const auto& [number, entry] : entries_) {
    ends.push_back(faults::interval_of(entry.fault, *topology_).last_heal);
  }
  if (ends.size() < count) return FabricTime::never();
  std::sort(ends.begin(), ends.end());
  return ends[count - 1];
}

void FaultBook::check_names(const std::string& word) const {
  std::vector<std::string> names;
  for (const NodeSite& site : topology_->nodes) {
    names.push_back(site.name);
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      names.push_back(topology_->port_name({site.id, PortId{i}}));
    }
  }
  for (const Wire& wire : topology_->all_wires()) names.push_back(topology_->wire_name(wire.id));
  const auto mistake = mistake_in(find_named(word, names), word, "target", "");
  if (mistake) throw InputError("found " + mistake->found + ": expected " + mistake->expected);
}

std::vector<uint32_t> FaultBook::select(const std::string& word, FabricTime at) const {
  const std::optional<uint32_t> wanted = number_in(word);
  const std::optional<faults::FaultKind> kind = faults::find_fault(word);
  const bool any = word.empty() || word == "all";
  std::vector<uint32_t> chosen;
  bool known = any || forgot(word);
  for (const auto& [number, entry] : entries_) {
    bool meant = any || wanted == number || kind == entry.fault.kind;
    if (!meant && !wanted && !kind) meant = matches_any(word, names_of(entry.fault));
    if (!meant) continue;
    known = true;
    const FaultStage now = stage(number, at);
    const bool open = now == FaultStage::kInForce || (now == FaultStage::kToCome && !word.empty());
    if (open && entry.source != FaultSource::kOutside) chosen.push_back(number);
  }
  if (!known) {
    throw InputError("found " + in_quotes(word) +
                     ", which means no fault of this lab: expected a number of 'mrclab inspect "
                     "--faults', a kind, the name of a target, or all");
  }
  if (!any && !wanted && !kind) check_names(word);
  return chosen;
}

bool FaultBook::forgot(const std::string& word) const {
  if (const auto number = number_in(word)) return *number < total_ && !entries_.contains(*number);
  if (const auto kind = faults::find_fault(word)) return forgotten_kinds_.contains(*kind);
  return matches_any(word, forgotten_names_);
}

/// The names of its targets: a whole wire ("h0:p0->p0.t0-0:d0"), either end
/// of it, and the nodes there.
std::set<std::string> FaultBook::names_of(const faults::Fault& fault) const {
  std::set<std::string> names;
  const auto add_end = [&](const std::string& end) {
    names.insert(end);
    names.insert(end.substr(0, end.find(':')));
  };
  for (const faults::Hold& hold : faults::holds_of(fault, *topology_)) {
    const std::string target = target_name(*topology_, hold.effect);
    const std::string name = target.substr(0, target.find(' '));  // "h0 p0/u1 toward h4"
    const size_t arrow = name.find("->");
    if (arrow == std::string::npos) {
      add_end(name);
    } else {
      names.insert(name);
      add_end(name.substr(0, arrow));
      add_end(name.substr(arrow + 2));
    }
  }
  return names;
}

std::vector<faults::Fault> FaultBook::faults() const {
  std::vector<faults::Fault> faults;
  for (const auto& [number, entry] : entries_) faults.push_back(entry.fault);
  return faults;
}

std::vector<ScheduledEffect> FaultBook::schedule() const {
  std::vector<uint32_t> numbers;
  for (const auto& [number, entry] : entries_) numbers.push_back(number);
  std::vector<ScheduledEffect> schedule = faults::compile(faults(), *topology_);
  for (ScheduledEffect& effect : schedule) effect.fault = numbers[effect.fault];
  return schedule;
}

}  // namespace mrclab::lab
