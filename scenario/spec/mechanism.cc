#include "scenario/spec/mechanism.h"
#include "fabric/topology/fabric_shape.h"

#include <algorithm>
#include <array>

#include "endpoint/base/connection_attributes.h"

namespace mrclab::lab {
namespace {

using endpoint::TransportChoice;

/// The place of `name` in transport_options().
size_t option_index(std::string_view name) {
  const auto options = endpoint::transport_options();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [name](const auto& option) { return option.name == name; });
  return static_cast<size_t>(found - options.begin());
}

void set_option(TransportChoice& choice, std::string_view name, TransportChoice::Value value) {
  const size_t index = option_index(name);
  const auto at = std::lower_bound(choice.overrides.begin(), choice.overrides.end(), index,
                                   [](const auto& entry, size_t i) { return entry.first < i; });
  if (at != choice.overrides.end() && at->first == index) {
    at->second = std::move(value);
  } else {
    choice.overrides.emplace(at, index, std::move(value));
  }
}

/// A mechanism that is a switch of the transport.
template <const char* Option>
void switch_off(TransportChoice& choice, const Topology&) {
  set_option(choice, Option, uint32_t{0});
}

constexpr char kSpray[] = "spray", kSkip[] = "skip", kAvoidLost[] = "avoid_lost",
               kEvProbes[] = "ev_probes", kSelectiveAcks[] = "selective_acks",
               kPortStatus[] = "port_status", kReceiverPenalty[] = "receiver_penalty";

void no_backups(TransportChoice& choice, const Topology& topology) {
  const endpoint::TransportProfile profile = endpoint::make_profile(choice, topology);
  set_option(choice, "evs", std::min(profile.ev_limit, profile.active_evs));
}

void retry_for_ever(TransportChoice& choice, const Topology&) {
  set_option(choice, "exponential_retries", endpoint::RetryPolicy::kMaxExponential);
}

void fixed_window(TransportChoice& choice, const Topology&) {
  set_option(choice, "congestion_control",
             static_cast<uint32_t>(endpoint::CongestionAlgorithm::kFixed));
}

void no_trim(FabricShape& fabric) { fabric.queues.trim = false; }
void no_ecn(FabricShape& fabric) { fabric.queues.ecn = false; }
/// The same packets without carriers.
void no_routes(FabricShape& fabric) {
  if (fabric.routing.is_fare()) fabric.routing = {.by_default = Routing::kEcmp};
}
void no_orchestrator(FabricShape& fabric) { fabric.orchestrator = {}; }
void no_check(FabricShape& fabric) { fabric.orchestrator.check = false; }
/// There is a list, and it stays empty.
void no_denylist(FabricShape& fabric) {
  fabric.denylist.rule = DenylistPolicy::Rule::kNever;
  fabric.denylist.fixed.clear();
  fabric.denylist.drains.clear();
}
void no_watchdog(FabricShape& fabric) { fabric.lossless.watchdog = WatchdogAction::kOff; }
void no_authorise(FabricShape& fabric) { fabric.authorise = Authorise::kOff; }

}  // namespace

std::span<const Mechanism> mechanisms() {
  static constexpr std::array kMechanisms{
      Mechanism{"spray", "one entropy value per queue pair", nullptr, switch_off<kSpray>},
      Mechanism{"trim", "switches drop what their queues cannot take", no_trim, nullptr},
      Mechanism{"ecn", "switches mark nothing", no_ecn, nullptr},
      Mechanism{"sack", "senders read no bitmaps and find losses by timeouts", nullptr,
                switch_off<kSelectiveAcks>},
      Mechanism{"probe", "entropy values that are assumed bad stay so", nullptr,
                switch_off<kEvProbes>},
      Mechanism{"skip", "marks and trims cost an entropy value no turn", nullptr,
                switch_off<kSkip>},
      Mechanism{"avoid", "no entropy value is ever assumed bad", nullptr, switch_off<kAvoidLost>},
      Mechanism{"backup", "no entropy values beyond the active ones", nullptr, no_backups},
      Mechanism{"port_status", "dead ports are not reported to peers", nullptr,
                switch_off<kPortStatus>},
      Mechanism{"penalty", "senders do not heed what receivers ask of their windows", nullptr,
                switch_off<kReceiverPenalty>},
      Mechanism{"nscc", "a fixed window in place of congestion control", nullptr, fixed_window},
      Mechanism{"fare", "switches hash, and announce no routes (ECMP)", no_routes, nullptr},
      Mechanism{"watchdog", "no switch ends a pause that lasts", no_watchdog, nullptr},
      Mechanism{"authorise", "hosts may send any program to anybody", no_authorise, nullptr},
      Mechanism{"orchestrator", "nobody compares cables and tables with the plan", no_orchestrator,
                nullptr},
      Mechanism{"check", "switches that come back forward unchecked", no_check, nullptr},
      Mechanism{"denylist", "the list of denied parts stays empty", no_denylist, nullptr},
      Mechanism{"give_up", "queue pairs never fail: they retry without a limit", nullptr,
                retry_for_ever}};
  return kMechanisms;
}

std::vector<std::string> mechanism_names() {
  std::vector<std::string> names;
  for (const Mechanism& mechanism : mechanisms()) names.emplace_back(mechanism.name);
  return names;
}

std::vector<std::string> parse_mechanisms(const YamlValue& list) {
  const std::vector<std::string> known = mechanism_names();
  std::vector<std::string> names;
  for (const YamlValue& item : list.items()) {
    const std::string& name = known[item.as_word(known)];
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      item.fail(in_quotes(name) + " again", "each mechanism once");
    }
    names.push_back(name);
  }
  return names;
}

void leave_out(std::span<const std::string> names, FabricShape& fabric) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.leave_out_of_fabric == nullptr) continue;
    if (std::find(names.begin(), names.end(), mechanism.name) == names.end()) continue;
    mechanism.leave_out_of_fabric(fabric);
  }
}

void leave_out(std::span<const std::string> names, TransportChoice& choice,
               const Topology& topology) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.leave_out_of_transport == nullptr) continue;
    if (std::find(names.begin(), names.end(), mechanism.name) == names.end()) continue;
    mechanism.leave_out_of_transport(choice, topology);
  }
}

}  // namespace mrclab::lab
