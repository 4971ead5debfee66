#include "lab/live/lab_faults.h"

#include <fmt/format.h>

#include "faults/schedule.h"
#include "lab/scenario/queue_pairs.h"

namespace mrclab::lab {
LabFaults::LabFaults(LiveLab& lab, const Topology& topology, std::vector<faults::Fault> scenario,
                     uint64_t seed, std::optional<FaultRecord> record)
    : lab_(lab),
      topology_(topology),
      book_(topology, std::move(scenario)),
      names_(topology, seed),
      record_(std::move(record)),
      tidy_at_(book_.when_over(kTidyAt)) {}

FabricTime LabFaults::instant_of(const FaultOrder& order, FabricTime open) const {
  if (!order.at) return open;
  const FabricTime at = parse_instant(*order.at, topology_, lab_.now(), nullptr);
  // An order "from now on" is not late because the lab has moved on meanwhile.
  if (at >= open || order.at->starts_with('+')) return std::max(at, open);
  throw InputError(fmt::format("--at: found {}: the lab is at {} already", in_quotes(*order.at),
                               in_microseconds(open)));
}

uint32_t LabFaults::break_it(const FaultOrder& order) {
  settle();
  if (record_ && record_->full()) throw InputError("this lab's record of faults is full");
  const Standstill standstill(lab_);
  const FabricTime at = instant_of(order, standstill.open_instant());
  const uint32_t number = book_.add({fault_of(order, at, names_), FaultSource::kHand});
  changed_ = true;
  tell_nodes(standstill);
  return number;
}

std::vector<uint32_t> LabFaults::heal(const std::string& word) {
  settle();
  const Standstill standstill(lab_);
  const FabricTime at = standstill.open_instant();
  const std::vector<uint32_t> chosen = book_.select(word, at);
  for (const uint32_t number : chosen) book_.heal(number, at);
  if (chosen.empty()) return chosen;
  changed_ = true;
  tell_nodes(standstill);
  return chosen;
}

/// Takes the faults that are over for every process out of the book.
void LabFaults::settle() {
  if (!record_) return;
  settled_ = std::max(settled_, lab_.settled());
  for (const uint32_t number : book_.over(settled_)) {
    if (book_.stage(number, settled_) != FaultStage::kCancelled) {
      record_->add(number, book_.entries().at(number));
    }
    newest_over_.push_back(describe(number));
    if (newest_over_.size() > kMaxOverListed) newest_over_.pop_front();
    book_.forget(number);
  }
}

/// Faults that are over leave the schedule with the next change, and in a lab without changes here.
void LabFaults::tidy() {
  if (!record_ || lab_.now() < tidy_at_ || lab_.settled() < tidy_at_) return;
  settle();
  tell_nodes(Standstill(lab_));
}

void LabFaults::tell_nodes(const Standstill& standstill) {
  netio::Schedule schedule{faults::still_in_force(lab_.schedule(), settled_), settled_};
  for (const ScheduledEffect& effect : book_.schedule()) {
    if (effect.at > settled_) schedule.effects.push_back(effect);
  }
  lab_.replace_schedule(standstill, std::move(schedule));
  tidy_at_ = book_.when_over(kTidyAt);
}

void LabFaults::notice() {
  if (noticed_ == lab_.outside_faults().total()) return tidy();
  settle();
  const Standstill standstill(lab_);
  from_ = standstill.open_instant();
  bool booked = false;
  for (const OutsideFault& outside : lab_.outside_faults().since(noticed_)) {
    switch (outside.kind) {
      case OutsideFault::Kind::kLinkDown:
      case OutsideFault::Kind::kLinkUp: booked |= notice_link(outside); break;
      case OutsideFault::Kind::kDied:
      case OutsideFault::Kind::kStoodStill: booked |= notice_process(outside); break;
      case OutsideFault::Kind::kOther: break;
    }
  }
  if (!booked) return;
  changed_ = true;
  tell_nodes(standstill);
}

std::optional<uint32_t> LabFaults::book_outside(const OutsideFault& outside, std::string_view kind,
                                                std::string_view key,
                                                const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  const std::string text = fmt::format("{{{}: [\"{}\"]}}", key, fmt::join(names, "\", \""));
  try {
    return book_.add({faults::parse_fault(faults::find_fault(std::string(kind)).value(), from_,
                                          read_yaml_text(text, "outside"), names_),
                      FaultSource::kOutside, outside.what});
  } catch (const InputError&) {  // more than a fault, or the book, has room for
    return std::nullopt;
  }
}

bool LabFaults::notice_link(const OutsideFault& outside) {
  const LinkId link = topology_.port(outside.port).link;
  const auto known = set_down_.find(link);
  if (outside.kind == OutsideFault::Kind::kLinkDown && known == set_down_.end()) {
    const auto number = book_outside(outside, "link_down", "link", {topology_.link_name(link)});
    if (number) set_down_[link] = *number;
    return number.has_value();
  }
  if (outside.kind == OutsideFault::Kind::kLinkUp && known != set_down_.end()) {
    book_.heal(known->second, from_);
    set_down_.erase(known);
    return true;
  }
  return false;
}

bool LabFaults::notice_process(const OutsideFault& outside) {
  std::vector<std::string> hosts, host_links, switches;
  for (const NodeSite& site : topology_.nodes) {
    if (lab_.plan().process_of_node[site.id.value] != outside.process) continue;
    if (site.role != NodeRole::kHost) {
      switches.push_back(site.name);
      continue;
    }
    hosts.push_back(site.name);
    for (const Port& port : site.ports) host_links.push_back(topology_.link_name(port.link));
  }
  if (outside.kind == OutsideFault::Kind::kDied) {
    book_outside(outside, "switch_crash", "switch", switches);
    book_outside(outside, "nic_dead", "host", hosts);
  } else {
    book_outside(outside, "switch_hang", "switch", switches);
    book_outside(outside, "blackhole", "link", host_links);
  }
  return true;
}

nlohmann::json LabFaults::describe(uint32_t number) const {
  const BookedFault& entry = book_.entries().at(number);
  const FabricTime last_heal = faults::interval_of(entry.fault, topology_).last_heal;
  nlohmann::json line{{"number", number},
                      {"stage", name_of(book_.stage(number, std::max(lab_.now(), settled_)))},
                      {"source", name_of(entry.source)},
                      {"kind", faults::name_of(entry.fault)},
                      {"fault", faults::describe(entry.fault, topology_)},
                      {"at_ps", entry.fault.at.ps()}};
  if (last_heal != FabricTime::never()) line["until_ps"] = last_heal.ps();
  if (!entry.noticed.empty()) line["noticed"] = entry.noticed;
  return line;
}

nlohmann::json LabFaults::find(uint32_t number) const {
  if (book_.entries().contains(number)) return describe(number);
  for (const nlohmann::json& over : newest_over_) {
    if (over.at("number") == number) return over;
  }
  return nullptr;
}

nlohmann::json LabFaults::list() const {
  std::map<uint32_t, nlohmann::json> listed;
  for (auto entry = book_.entries().rbegin(); entry != book_.entries().rend(); ++entry) {
    if (listed.size() == kMaxListed) break;
    listed[entry->first] = describe(entry->first);
  }
  for (const nlohmann::json& over : newest_over_) listed[over.at("number")] = over;
  nlohmann::json faults = nlohmann::json::array();
  for (auto& [number, fault] : listed) faults.push_back(std::move(fault));
  return {{"left_out", book_.total() - faults.size()}, {"faults", std::move(faults)}};
}

nlohmann::json LabFaults::outside() const {
  nlohmann::json faults = nlohmann::json::array();
  for (const auto& [number, entry] : book_.entries()) {
    if (entry.source != FaultSource::kOutside) continue;
    if (book_.stage(number, lab_.now()) != FaultStage::kOver) faults.push_back(describe(number));
  }
  return faults;
}

std::map<uint32_t, BookedFault> LabFaults::all() const {
  std::map<uint32_t, BookedFault> all;
  if (record_) all = record_->read();
  all.insert(book_.entries().begin(), book_.entries().end());
  return all;
}

}  // namespace mrclab::lab
