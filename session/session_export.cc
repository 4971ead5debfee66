#include "session/session_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fabric/text/counted_noun.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kSaved = "As it went in a lab:";

}  // namespace

std::string session_yaml(const Scenario& scenario, const std::map<uint32_t, BookedFault>& faults,
                         FabricTime now, uint64_t unmodelled) {
  Scenario session = scenario;
  if (session.end == FabricTime::never()) {
    if (now <= FabricTime::zero()) {
      throw InputError("this lab's work has no end, and its time has not begun: nothing to repeat");
    }
    session.end = now;
  }
  session.faults.clear();
  size_t by_hand = 0, outside = 0;
  for (const auto& [number, entry] : faults) {
    const bool cancelled = entry.fault.healed <= entry.fault.at;
    if (cancelled || entry.fault.at >= session.end) continue;
    session.faults.push_back(entry.fault);
    by_hand += entry.source == FaultSource::kHand ? 1 : 0;
    outside += entry.source == FaultSource::kOutside ? 1 : 0;
  }
  // A session that began with a saved one has its sentence in place of that one's.
  session.about.resize(std::min(session.about.size(), session.about.find(kSaved)));
  while (session.about.ends_with(' ')) session.about.pop_back();
  session.about +=
      fmt::format("{}{} {} by hand, {} from outside.", session.about.empty() ? "" : " ", kSaved,
                  counted_noun(by_hand, "fault"), outside);
  if (unmodelled > 0) {
    session.about +=
        " Not repeated: " +
        counted_noun(unmodelled, {"other change from outside", "other changes from outside"}) + ".";
  }
  std::string text = to_yaml(session);
  try {
    parse_scenario(read_yaml_text(text, "session"));
  } catch (const InputError&) {  // for example "healed", beside a fault that was never ended
    session.expect.clear();
    text = to_yaml(session);
  }
  return text;
}

}  // namespace mrclab::lab
