#include "endpoint/options/transport_choice.h"

#include <algorithm>

#include "endpoint/congestion/dcqcn_choice.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/ev_profile_values.h"
#include "endpoint/roce/rc_timers.h"

namespace mrclab::endpoint {
namespace {

constexpr std::string_view kUnlimited = "unlimited";

struct ReadValue {
  const YamlValue& value;
  const Topology& topology;

  TransportChoice::Value operator()(const TransportOption::Integer& kind) const {
    return static_cast<uint32_t>(value.as_integer(kind.min, kind.max));
  }
  TransportChoice::Value operator()(const TransportOption::Time&) const {
    const FabricTime time = value.as_time();
    if (time == FabricTime::zero()) value.fail_expecting("a duration above 0");
    return time;
  }
  TransportChoice::Value operator()(const TransportOption::Switch&) const {
    return uint32_t{value.as_bool()};
  }
  TransportChoice::Value operator()(const TransportOption::Rate&) const {
    if (value.is_scalar() && value.as_string() == kUnlimited) return BitRate{};
    return value.as_rate();
  }
  TransportChoice::Value operator()(const TransportOption::Share&) const {
    return value.as_probability();
  }
  TransportChoice::Value operator()(const TransportOption::CountOrShare& kind) const {
    if (value.is_scalar() && value.as_string().ends_with('%')) return value.as_probability();
    return static_cast<uint32_t>(value.as_integer(1, kind.max));
  }
  TransportChoice::Value operator()(const TransportOption::Evs&) const {
    return parse_ev_profile(value, topology);
  }
  TransportChoice::Value operator()(const TransportOption::Word& kind) const {
    return static_cast<uint32_t>(value.as_word(kind.words));
  }
};

std::string written(const TransportOption& option, const TransportChoice::Value& value) {
  if (const auto* time = std::get_if<FabricTime>(&value)) return exact(*time);
  if (const auto* share = std::get_if<Probability>(&value)) return exact(*share);
  if (const auto* rate = std::get_if<BitRate>(&value)) {
    return rate->bps == 0 ? std::string(kUnlimited) : exact(*rate);
  }
  if (const auto* evs = std::get_if<EvProfile>(&value)) return to_yaml(*evs);
  const uint32_t number = std::get<uint32_t>(value);
  if (std::holds_alternative<TransportOption::Switch>(option.kind)) return number ? "on" : "off";
  if (const auto* word = std::get_if<TransportOption::Word>(&option.kind)) {
    return word->words[number];
  }
  return std::to_string(number);
}

struct GetValue {
  const TransportProfile& profile;

  template <class Kind>
  TransportChoice::Value operator()(const Kind& kind) const {
    return profile.*kind.member;
  }
  TransportChoice::Value operator()(const TransportOption::Switch& kind) const {
    return uint32_t{profile.*kind.member};
  }
  TransportChoice::Value operator()(const TransportOption::CountOrShare& kind) const {
    if (profile.*kind.count != 0) return profile.*kind.count;
    return profile.*kind.share;
  }
  TransportChoice::Value operator()(const TransportOption::Word& kind) const {
    return static_cast<uint32_t>(kind.get(profile));
  }
};

struct SetValue {
  TransportProfile& profile;
  const TransportChoice::Value& value;

  template <class Kind>
  void operator()(const Kind& kind) const {
    auto& member = profile.*kind.member;
    member = std::get<std::remove_reference_t<decltype(member)>>(value);
  }
  void operator()(const TransportOption::Switch& kind) const {
    profile.*kind.member = std::get<uint32_t>(value) != 0;
  }
  void operator()(const TransportOption::CountOrShare& kind) const {
    const auto* share = std::get_if<Probability>(&value);
    profile.*kind.count = share ? 0 : std::get<uint32_t>(value);
    if (share) profile.*kind.share = *share;
  }
  void operator()(const TransportOption::Word& kind) const {
    kind.set(profile, std::get<uint32_t>(value));
  }
};

}  // namespace

const std::vector<std::string>& transport_profiles() {
  static const std::vector<std::string> kProfiles{"lab", "production", "roce"};
  return kProfiles;
}

void replace_options(TransportChoice& choice, const TransportChoice& by) {
  for (const auto& option : by.overrides) {
    const auto place =
        std::lower_bound(choice.overrides.begin(), choice.overrides.end(), option,
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    if (place != choice.overrides.end() && place->first == option.first) {
      *place = option;
    } else {
      choice.overrides.insert(place, option);
    }
  }
}

TransportChoice parse_transport(const YamlValue& value, const Topology& topology) {
  TransportChoice choice;
  if (value.is_scalar()) {
    choice.profile = transport_profiles()[value.as_word(transport_profiles())];
    return choice;
  }
  const std::span<const TransportOption> options = transport_options();
  std::vector<std::string_view> known{"profile"};
  for (const TransportOption& option : options) known.push_back(option.name);
  value.only_keys(known);
  if (const auto profile = value.get("profile")) {
    choice.profile = transport_profiles()[profile->as_word(transport_profiles())];
  }
  for (size_t i = 0; i < options.size(); ++i) {
    const auto found = value.get(options[i].name);
    if (found)
      choice.overrides.emplace_back(i, std::visit(ReadValue{*found, topology}, options[i].kind));
  }
  return choice;
}

std::string to_yaml(const TransportChoice& choice) {
  const std::string options = options_to_yaml(choice);
  const std::string more = choice.overrides.empty() ? "}" : ", " + options.substr(1);
  return "{profile: " + choice.profile + more;
}

std::string options_to_yaml(const TransportChoice& choice) {
  std::string text;
  for (const auto& [index, value] : choice.overrides) {
    const TransportOption& option = transport_options()[index];
    text += (text.empty() ? "{" : ", ") + std::string(option.name) + ": " + written(option, value);
  }
  return text.empty() ? "{}" : text + "}";
}

std::string shown_value(const TransportOption& option, const TransportProfile& profile) {
  const TransportChoice::Value value = std::visit(GetValue{profile}, option.kind);
  if (const auto* time = std::get_if<FabricTime>(&value)) return to_string(*time);
  return written(option, value);
}

TransportProfile make_profile(const TransportChoice& choice, const Topology& topology) {
  TransportProfile profile = make_profile(std::string_view(choice.profile), topology);
  profile.cnp_interval = {};
  const auto is_set = [&](std::string_view name) {
    return std::any_of(choice.overrides.begin(), choice.overrides.end(), [&](const auto& option) {
      return transport_options()[option.first].name == name;
    });
  };
  // Who gives the time of a compressed timer has compressed timers.
  if (is_set("rc_ack_timeout") || is_set("rc_timer")) profile.timers = RcTimers::kCompressed;
  for (const auto& [index, value] : choice.overrides) {
    std::visit(SetValue{profile, value}, transport_options()[index].kind);
  }
  if (!is_set("cnp_scope")) profile.cnp_scope = cnp_scope_of(profile.dcqcn);
  if (profile.cnp_interval == FabricTime::zero()) {  // its parameters', if no option sets it
    const DcqcnPlace place{topology.host_rate, profile.base_rtt};
    profile.cnp_interval =
        cnp_interval_of(profile.dcqcn, profile.dcqcn_scaled ? DcqcnScale(place) : std::nullopt);
  }
  return profile;
}

std::string loss_timers_text(const TransportChoice& choice, const Topology& topology, bool mrc,
                             bool rc) {
  const TransportProfile profile = make_profile(choice, topology);
  std::string text = "NIC " + topology.nic.name + ", transport " + profile.name + ": ";
  if (mrc) {
    text += "reorder window " + to_string(profile.reorder_window) + ", tail probe " +
            to_string(profile.tail_probe) + ", ACK timeout " + to_string(profile.ack_timeout);
  }
  if (!rc) return text;
  const RcTimes times = rc_times(profile);
  text += (mrc ? "; " : "") + ("RC's ACK timeout " + to_string(times.first()));
  if (times.regular != times.first()) text += " and then up to " + to_string(times.regular);
  return text;
}

}  // namespace mrclab::endpoint
