#include "endpoint/transport_choice.h"

namespace mrclab::endpoint {

TransportChoice parse_transport(const YamlValue& value) {
  static const std::vector<std::string> kProfiles{"lab", "production"};
  TransportChoice choice;
  if (value.is_scalar()) {
    choice.profile = kProfiles[value.as_word(kProfiles)];
    return choice;
  }
  value.only_keys({"profile", "active_evs", "window_percent", "ack_timeout", "icrc"});
  if (const auto profile = value.get("profile")) {
    choice.profile = kProfiles[profile->as_word(kProfiles)];
  }
  if (const auto evs = value.get("active_evs")) {
    choice.active_evs = static_cast<uint32_t>(evs->as_integer(1, 4096));
  }
  if (const auto percent = value.get("window_percent")) {
    choice.window_percent = static_cast<uint32_t>(percent->as_integer(1, 1000));
  }
  if (const auto timeout = value.get("ack_timeout")) {
    choice.ack_timeout = timeout->as_time();
    if (*choice.ack_timeout == FabricTime::zero()) timeout->fail_expecting("a duration above 0");
  }
  if (const auto icrc = value.get("icrc")) choice.icrc = icrc->as_bool();
  return choice;
}

std::string to_yaml(const TransportChoice& choice) {
  std::string text = "{profile: " + choice.profile;
  if (choice.active_evs) text += ", active_evs: " + std::to_string(*choice.active_evs);
  if (choice.window_percent) text += ", window_percent: " + std::to_string(*choice.window_percent);
  if (choice.ack_timeout) text += ", ack_timeout: " + exact(*choice.ack_timeout);
  if (choice.icrc) text += std::string(", icrc: ") + (*choice.icrc ? "on" : "off");
  return text + "}";
}

TransportProfile make_profile(const TransportChoice& choice, const Topology& topology) {
  TransportProfile profile = make_profile(std::string_view(choice.profile), topology);
  if (choice.active_evs) profile.ev_limit = *choice.active_evs;
  if (choice.window_percent) profile.window_percent = *choice.window_percent;
  if (choice.ack_timeout) profile.ack_timeout = *choice.ack_timeout;
  if (choice.icrc) profile.icrc = *choice.icrc;
  return profile;
}

}  // namespace mrclab::endpoint
