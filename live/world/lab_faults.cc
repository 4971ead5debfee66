#include "live/world/lab_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "faults/forwarding_limits.h"
#include "faults/schedule.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::lab {
namespace {

using faults::FaultKind;

/// Runs `act`; a refusal of the kernel becomes an error that names the step.
template <class Act>
auto or_not_done(std::string_view attempted, Act act) {
  try {
    return act();
  } catch (const netio::SystemError& error) {
    throw netio::SystemError(fmt::format("{}: {}", attempted, error.attempted()),
                             error.error_number());
  }
}

}  // namespace

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
  return or_not_done("put the fault in force (nothing is changed)", [&] {
    settle();
    if (record_ && record_->full()) throw InputError("this lab's record of faults is full");
    const Quiesce quiesce(lab_.commits());
    const FabricTime at = instant_of(order, quiesce.open_instant());
    Draft draft = draft_from(at);
    const uint32_t number =
        draft.book.book_fault({fault_of(order, at, names_), FaultSource::kHand});
    put_in_force(quiesce, std::move(draft));
    return number;
  });
}

std::vector<uint32_t> LabFaults::heal(const std::string& word) {
  return or_not_done("heal (nothing is changed)", [&] {
    settle();
    const Quiesce quiesce(lab_.commits());
    Draft draft = draft_from(quiesce.open_instant());
    const std::vector<uint32_t> chosen = draft.book.select(word, draft.from);
    for (const uint32_t number : chosen) draft.book.heal(number, draft.from);
    if (!chosen.empty()) put_in_force(quiesce, std::move(draft));
    return chosen;
  });
}

/// Takes the faults that are over for every process out of the book.
void LabFaults::settle() {
  if (!record_) return;
  settled_ = std::max(settled_, lab_.settled());
  for (const uint32_t number : book_.finished_faults(settled_)) {
    if (book_.stage(number, settled_) != FaultStage::kCancelled) {
      record_->add(number, book_.entries().at(number));
    }
    newest_over_.push_back(describe(number));
    if (newest_over_.size() > kMaxOverListed) newest_over_.pop_front();
    book_.drop_fault(number);
  }
}

/// Faults that are over leave the schedule with the next change, and in a lab without changes here.
void LabFaults::tidy() {
  if (!record_ || lab_.now() < tidy_at_ || lab_.settled() < tidy_at_) return;
  try_to([this] {
    settle();
    tell_nodes(Quiesce(lab_.commits()), book_);
    tidy_at_ = book_.when_over(kTidyAt);
  });
}

void LabFaults::put_in_force(const Quiesce& quiesce, Draft draft) {
  tell_nodes(quiesce, draft.book);
  book_ = std::move(draft.book);
  set_down_ = std::move(draft.set_down);
  tidy_at_ = book_.when_over(kTidyAt);
  changed_ = true;
}

void LabFaults::tell_nodes(const Quiesce& quiesce, const FaultBook& book) {
  netio::Schedule schedule{faults::still_in_force(lab_.schedule(), settled_), settled_};
  for (const ScheduledEffect& effect : book.schedule()) {
    if (effect.at > settled_) schedule.effects.push_back(effect);
  }
  lab_.replace_schedule(quiesce, std::move(schedule));
}

void LabFaults::try_to(const std::function<void()>& act) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_try_) return;
  try {
    act();
    trouble_noted_ = false;
  } catch (const netio::SystemError& error) {
    next_try_ = now + kTryAgain;
    if (std::exchange(trouble_noted_, true)) return;
    lab_.note_outside(fmt::format("the schedule of the nodes could not be changed at {}: {}",
                                  to_string(lab_.now()), error.what()));
  }
}

void LabFaults::notice() {
  if (noticed_ == lab_.outside_faults().total()) return tidy();
  try_to([this] { take_notice(); });
}

void LabFaults::take_notice() {
  uint64_t seen = noticed_;
  const std::vector<OutsideFault> news = lab_.outside_faults().since(seen);
  const bool any = std::any_of(news.begin(), news.end(), [](const OutsideFault& outside) {
    return outside.kind != OutsideFault::Kind::kOther;
  });
  if (any) {
    settle();
    const Quiesce quiesce(lab_.commits());
    Draft draft = draft_from(quiesce.open_instant());
    bool booked = false;
    for (const OutsideFault& outside : news) {
      switch (outside.kind) {
        case OutsideFault::Kind::kLinkDown:
        case OutsideFault::Kind::kLinkUp: booked |= notice_link(draft, outside); break;
        case OutsideFault::Kind::kDied:
        case OutsideFault::Kind::kStoodStill: booked |= notice_process(draft, outside); break;
        case OutsideFault::Kind::kOther: break;
      }
    }
    if (booked) put_in_force(quiesce, std::move(draft));
  }
  noticed_ = seen;
}

std::optional<uint32_t> LabFaults::book_outside(Draft& draft, const OutsideFault& outside,
                                                faults::FaultKind kind, faults::Targets targets) {
  if (targets == faults::Targets{}) return std::nullopt;
  const faults::Fault fault{draft.from, kind, std::move(targets)};
  if (faults::refusal(topology_, fault)) return std::nullopt;
  try {
    return draft.book.book_fault({fault, FaultSource::kOutside, outside.what});
  } catch (const InputError&) {  // more than the book has room for
    return std::nullopt;
  }
}

bool LabFaults::notice_link(Draft& draft, const OutsideFault& outside) {
  const LinkId link = topology_.port(outside.port).link;
  const auto known = draft.set_down.find(link);
  if (outside.kind == OutsideFault::Kind::kLinkDown && known == draft.set_down.end()) {
    const auto number = book_outside(draft, outside, FaultKind::kLinkDown, {.links = {link}});
    if (number) draft.set_down[link] = *number;
    return number.has_value();
  }
  if (outside.kind == OutsideFault::Kind::kLinkUp && known != draft.set_down.end()) {
    draft.book.heal(known->second, draft.from);
    draft.set_down.erase(known);
    return true;
  }
  return false;
}

bool LabFaults::notice_process(Draft& draft, const OutsideFault& outside) {
  faults::Targets hosts, host_wires, switches;
  for (const NodeSite& site : topology_.nodes) {
    if (lab_.plan().process_of_node[site.id.value] != outside.process) continue;
    (site.role == NodeRole::kHost ? hosts : switches).nodes.push_back(site.id);
    if (site.role != NodeRole::kHost) continue;
    for (const Port& port : site.ports) {
      const Link& link = topology_.link(port.link);
      host_wires.wires.insert(host_wires.wires.end(), {link.a_to_b(), link.b_to_a()});
    }
  }
  std::sort(host_wires.wires.begin(), host_wires.wires.end());
  const bool died = outside.kind == OutsideFault::Kind::kDied;
  book_outside(draft, outside, died ? FaultKind::kSwitchCrash : FaultKind::kSwitchHang, switches);
  book_outside(draft, outside, died ? FaultKind::kNicDead : FaultKind::kBlackhole,
               died ? hosts : host_wires);
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
