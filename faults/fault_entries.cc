#include "faults/fault_entries.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fabric/text/mistakes.h"
#include "faults/fault_form.h"

namespace mrclab::faults {
namespace {

std::vector<std::string> kind_names() {
  std::vector<std::string> words;
  for (const FaultInfo& row : all_faults()) words.emplace_back(row.name);
  return words;
}

/// The one fault of a map beside the keys in `others`.
std::pair<FaultKind, YamlValue> kind_and_body(const YamlValue& entry,
                                              std::initializer_list<std::string_view> others) {
  std::optional<std::pair<FaultKind, YamlValue>> result;
  for (const auto& [key, body] : entry.members()) {
    if (std::find(others.begin(), others.end(), key) != others.end()) continue;
    const auto kind = find_fault(key);
    if (!kind) {
      entry.fail_at_key(key, "the fault " + in_quotes(key), one_of(key, kind_names()));
    }
    if (result) entry.fail_at_key(key, "a second fault " + in_quotes(key), "one fault per entry");
    result.emplace(*kind, body);
  }
  if (!result) entry.fail("no fault beside \"at\"", one_of("", kind_names()));
  return *result;
}

/// Reads entries into one list, and keeps its bounds.
class EntryReader {
 public:
  EntryReader(NameResolver& names, FabricTime end) : names_(names), end_(end) {}

  void read(const YamlValue& entry) {
    const YamlValue at = entry.require("at");
    const FabricTime first = at.as_time();
    if (first >= end_) at.fail_expecting("an instant before the end at " + exact(end_));
    const auto every = entry.get("every");
    if (every && entry.get("healed")) {
      entry.fail_at_key("healed", "\"healed\" beside \"every\"", "one of them");
    }
    if (!every) {
      for (const std::string_view key : {"times", "until"}) {
        if (entry.get(key))
          entry.fail_at_key(key, in_quotes(key) + " alone", "\"every\" beside it");
      }
      return add_all(entry, first);
    }
    const FabricTime step = every->as_time();
    if (step == FabricTime::zero()) every->fail_expecting("a duration above 0");
    const auto times = entry.get("times");
    const auto until = entry.get("until");
    const int64_t most =
        times ? times->as_integer(1, int64_t{kMaxFaults}) : int64_t{kMaxFaults} + 1;
    const FabricTime stop = std::min(end_, until ? until->as_time() : end_);
    if (until && stop <= first) until->fail_expecting("an instant after \"at\", " + exact(first));
    if (!times && stop == FabricTime::never()) {
      entry.fail_at_key("every", "\"every\" without an end", "\"until\" or \"times\"");
    }
    if (most > 1 && step >= stop - first) {
      every->fail(exact(step) + ", after which nothing is repeated before " + exact(stop),
                  "less than " + exact(stop - first) + ", or a fault without \"every\"");
    }
    FabricTime now = first;
    for (int64_t i = 0; i < most && now < stop; ++i, now += step) add_all(entry, now);
  }

  void next_entry() { ++place_.entry; }
  std::vector<Fault> take() { return std::move(faults_); }
  std::vector<PlaceInFaults> take_places() { return std::move(places_); }

 private:
  void add_all(const YamlValue& entry, FabricTime at) {
    const auto parallel = entry.get("parallel");
    if (const auto healed = entry.get("healed")) {
      healed_ = healed->as_time();
      if (healed_ <= at) healed->fail_expecting("an instant after " + exact(at));
    } else {
      healed_ = FabricTime::never();
    }
    place_.part = 0;
    if (!parallel) return add(entry, at, {"at", "every", "until", "times", "healed"});
    for (const auto& [key, body] : entry.members()) {
      if (find_fault(key)) entry.fail_at_key(key, "a fault beside \"parallel\"", "it in the list");
    }
    entry.only_keys({"at", "every", "until", "times", "healed", "parallel"});
    const std::vector<YamlValue> items = parallel->items();
    if (items.empty()) parallel->fail("an empty list", "at least one fault");
    for (const YamlValue& item : items) {
      add(item, at, {});
      ++place_.part;
    }
  }

  void add(const YamlValue& entry, FabricTime at, std::initializer_list<std::string_view> others) {
    if (faults_.size() >= kMaxFaults) {
      entry.fail("more faults", "at most " + std::to_string(kMaxFaults));
    }
    const auto [kind, body] = kind_and_body(entry, others);
    faults_.push_back(parse_fault(kind, at, body, names_));
    faults_.back().healed = healed_;
    places_.push_back(place_);
  }

  NameResolver& names_;
  FabricTime end_;
  FabricTime healed_ = FabricTime::never();  ///< when the user ended the entry that is being read
  PlaceInFaults place_;
  std::vector<Fault> faults_;
  std::vector<PlaceInFaults> places_;
};

EntryReader read_list(const YamlValue& list, NameResolver& names, FabricTime end) {
  EntryReader reader(names, end);
  Mistakes mistakes;
  for (const YamlValue& entry : list.items()) {
    mistakes.go_on([&] { reader.read(entry); });
    reader.next_entry();
  }
  mistakes.report();
  return reader;
}

}  // namespace

std::vector<Fault> parse_faults(const YamlValue& list, NameResolver& names, FabricTime end) {
  return read_list(list, names, end).take();
}

std::vector<PlaceInFaults> places_in_faults(const YamlValue& list, NameResolver& names,
                                            FabricTime end) {
  return read_list(list, names, end).take_places();
}

}  // namespace mrclab::faults
