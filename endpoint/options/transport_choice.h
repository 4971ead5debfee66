#pragma once
// Which transport a scenario asks for: a profile and the options that replace single values of it.
//
//   transport: lab
//   transport: {profile: lab, evs: 64, window_percent: 100, ack_timeout: 8rtt, icrc: on}
//
// All options stand in one table (transport_options.cc): reading, writing, checking and the
// documentation come from it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "fabric/base/units.h"
#include "fabric/text/yaml.h"

namespace mrclab::endpoint {

/// What a transport option is and which values of the profile it sets.
struct TransportOption {
  struct Integer {
    uint32_t TransportProfile::*member;
    int64_t min, max;
  };
  struct Time {
    FabricTime TransportProfile::*member;  ///< above 0
  };
  struct Switch {
    bool TransportProfile::*member;
  };
  struct Rate {
    BitRate TransportProfile::*member;  ///< zero: unlimited
  };
  struct Share {
    Probability TransportProfile::*member;
  };
  /// "8" sets the count; "25%" sets the share, and the count to 0.
  struct CountOrShare {
    uint32_t TransportProfile::*count;
    Probability TransportProfile::*share;
    int64_t max;
  };
  struct Evs {
    EvProfile TransportProfile::*member;
  };
  struct Word {
    std::vector<std::string> words;
    size_t (*get)(const TransportProfile& profile);
    void (*set)(TransportProfile& profile, size_t word);
  };
  std::string_view name;
  std::string_view about;  ///< one line, with the source of the rule
  std::variant<Integer, Time, Switch, Rate, Share, CountOrShare, Evs, Word> kind;
  /// The value by the letter of MRC's and UEC's documents, where the default is a rule of ours; empty: it is none.
  std::string_view letter = {};
};
std::span<const TransportOption> transport_options();
/// All rules of ours switched off, as in a scenario's `transport:`, without braces: "skip_holds: off, nscc_rules: uec".
std::string letter_options();
/// The names that a choice's profile may have.
const std::vector<std::string>& transport_profiles();

/// Options that are not named take the profile's value.
struct TransportChoice {
  /// A number, switch or place of a word; a time; a rate; a share; entropy values.
  using Value = std::variant<uint32_t, FabricTime, BitRate, Probability, EvProfile>;

  std::string profile = "lab";                      ///< "lab", "production" or "roce"
  std::vector<std::pair<size_t, Value>> overrides;  ///< by place in transport_options(), ascending
  bool operator==(const TransportChoice&) const = default;
};

/// Puts the options that `by` names in the place of the same ones of `choice`, or beside them. The profile
/// stays.
void replace_options(TransportChoice& choice, const TransportChoice& by);

/// Reads the profile's word alone or a map. Throws InputError with the position.
TransportChoice parse_transport(const YamlValue& value, const Topology& topology);
/// The choice as a map in a file; reads back as the same choice.
std::string to_yaml(const TransportChoice& choice);
/// Its options alone: "{qps: 8, dcqcn: off}".
std::string options_to_yaml(const TransportChoice& choice);

/// The value that a profile has for an option, for people: "22.0416us", "on", "64".
std::string shown_value(const TransportOption& option, const TransportProfile& profile);

/// The profile with the options of the choice in place.
TransportProfile make_profile(const TransportChoice& choice, const Topology& topology);

/// By what losses are found: "NIC ideal, transport lab: reorder window 19.29us, tail probe 38.57us, ACK timeout 88.17us", of
/// MRC, RC or both.
std::string loss_timers_text(const TransportChoice& choice, const Topology& topology, bool mrc,
                             bool rc);

}  // namespace mrclab::endpoint
