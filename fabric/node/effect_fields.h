#pragma once
// The one table of what effects consist of. Text, JSON, the order of targets and the meaning of "as
// built" are made from it. Fields are of the types WireId, PortRef, NodeId, PortId, EntropyValue,
// Usid, bool, uint32_t, Probability, BitErrorRate, FabricTime, BitRate, Bytes, or enumerations,
// whose words are in the table.

#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include "fabric/node/effect.h"
#include "fabric/text/enum_words.h"

namespace mrclab {

enum class FieldRole : uint8_t {
  kKey,    ///< which target the effect is about
  kState,  ///< what becomes of it; as built it has its default
};

template <class E, class Value>
struct EffectField {
  FieldRole role;
  std::string_view name;
  Value E::*member;
  std::span<const std::string_view> words = {};  ///< words of an enumeration, by value
};

namespace effect_table {

inline constexpr auto kLossWords = words_by_value<LossKind>({{LossKind::kNone, "none"},
                                                             {LossKind::kRandom, "random"},
                                                             {LossKind::kBursty, "bursty"},
                                                             {LossKind::kEveryNth, "every_nth"}});
inline constexpr auto kSwitchWords =
    words_by_value<SwitchWork>({{SwitchWork::kForwarding, "forwarding"},
                                {SwitchWork::kNoTable, "no_table"},
                                {SwitchWork::kHung, "hung"},
                                {SwitchWork::kDown, "down"}});
inline constexpr auto kRouteWords = words_by_value<RouteKind>({{RouteKind::kAsBuilt, "as_built"},
                                                               {RouteKind::kMissing, "missing"},
                                                               {RouteKind::kWrong, "wrong"}});
inline constexpr auto kEcnWords = words_by_value<EcnKind>(
    {{EcnKind::kAsBuilt, "as_built"}, {EcnKind::kOff, "off"}, {EcnKind::kAlways, "always"}});
inline constexpr auto kHostWords = words_by_value<HostWork>(
    {{HostWork::kRunning, "running"}, {HostWork::kPaused, "paused"}, {HostWork::kDown, "down"}});
inline constexpr auto kDrainWords = words_by_value<DrainKind>({{DrainKind::kAsBuilt, "as_built"},
                                                               {DrainKind::kSlow, "slow"},
                                                               {DrainKind::kStalled, "stalled"}});

inline constexpr auto kFecWords = words_by_value<FecCode>({{FecCode::kNone, "none"},
                                                           {FecCode::kKp4, "kp4"},
                                                           {FecCode::kKr4, "kr4"},
                                                           {FecCode::kLl, "ll"}});

inline constexpr auto kAttackWords = words_by_value<AttackKind>({{AttackKind::kLoop, "loop"},
                                                                 {AttackKind::kTenant, "tenant"},
                                                                 {AttackKind::kSpoof, "spoof"},
                                                                 {AttackKind::kProbes, "probes"},
                                                                 {AttackKind::kFlood, "flood"},
                                                                 {AttackKind::kNoEcn, "no_ecn"}});

inline constexpr auto kVerbsWords =
    words_by_value<VerbsStatus>({{VerbsStatus::kNone, "none"},
                                 {VerbsStatus::kFatal, "fatal"},
                                 {VerbsStatus::kRetryExceeded, "retry_exceeded"},
                                 {VerbsStatus::kRnrRetryExceeded, "rnr_retry_exceeded"},
                                 {VerbsStatus::kRemoteAccess, "remote_access"},
                                 {VerbsStatus::kRemoteInvalidRequest, "remote_invalid_request"},
                                 {VerbsStatus::kRemoteOperation, "remote_operation"},
                                 {VerbsStatus::kLocalProtection, "local_protection"},
                                 {VerbsStatus::kLocalLength, "local_length"}});

template <class E, class Value>
constexpr EffectField<E, Value> key(std::string_view name, Value E::*member,
                                    std::span<const std::string_view> words = {}) {
  return {FieldRole::kKey, name, member, words};
}
template <class E, class Value>
constexpr EffectField<E, Value> state(std::string_view name, Value E::*member,
                                      std::span<const std::string_view> words = {}) {
  return {FieldRole::kState, name, member, words};
}

}  // namespace effect_table

/// Name and fields of an effect, by its type.
template <class E>
constexpr auto fields_of() {
  using namespace effect_table;
  if constexpr (std::is_same_v<E, WireState>) {
    return std::tuple{key("wire", &E::wire), state("up", &E::up)};
  } else if constexpr (std::is_same_v<E, WireLoss>) {
    return std::tuple{key("wire", &E::wire),
                      key("one_ev", &E::one_ev),
                      key("ev", &E::ev),
                      state("kind", &E::kind, kLossWords),
                      state("loss", &E::loss),
                      state("enter_bad", &E::enter_bad),
                      state("leave_bad", &E::leave_bad),
                      state("every", &E::every)};
  } else if constexpr (std::is_same_v<E, WireErrors> || std::is_same_v<E, WireRate>) {
    return std::tuple{key("wire", &E::wire), state("rate", &E::rate)};
  } else if constexpr (std::is_same_v<E, WireDelay>) {
    return std::tuple{key("wire", &E::wire), state("fixed", &E::fixed), state("jitter", &E::jitter),
                      state("share", &E::share), state("overtaken", &E::overtaken)};
  } else if constexpr (std::is_same_v<E, WireDuplicates>) {
    return std::tuple{key("wire", &E::wire), state("share", &E::share)};
  } else if constexpr (std::is_same_v<E, PortCarrier>) {
    return std::tuple{key("port", &E::port), state("up", &E::up)};
  } else if constexpr (std::is_same_v<E, EvDenial>) {
    return std::tuple{key("host", &E::host), key("path", &E::ev), key("toward", &E::toward),
                      state("denied", &E::denied)};
  } else if constexpr (std::is_same_v<E, SwitchState>) {
    return std::tuple{key("switch", &E::node), state("work", &E::work, kSwitchWords)};
  } else if constexpr (std::is_same_v<E, SwitchErrors>) {
    return std::tuple{key("switch", &E::node), state("rate", &E::rate)};
  } else if constexpr (std::is_same_v<E, SwitchRoute>) {
    return std::tuple{key("switch", &E::node), key("usid", &E::usid),
                      state("kind", &E::kind, kRouteWords), state("port", &E::port)};
  } else if constexpr (std::is_same_v<E, SwitchTrim>) {
    return std::tuple{key("switch", &E::node), state("off", &E::off)};
  } else if constexpr (std::is_same_v<E, SwitchEcn>) {
    return std::tuple{key("switch", &E::node), state("kind", &E::kind, kEcnWords)};
  } else if constexpr (std::is_same_v<E, SwitchBuffer>) {
    return std::tuple{key("switch", &E::node), state("lost", &E::lost)};
  } else if constexpr (std::is_same_v<E, HostState>) {
    return std::tuple{key("host", &E::host), state("work", &E::work, kHostWords)};
  } else if constexpr (std::is_same_v<E, HostBurst>) {
    return std::tuple{key("host", &E::host), key("toward", &E::toward), state("size", &E::size)};
  } else if constexpr (std::is_same_v<E, HostStorm>) {
    return std::tuple{key("host", &E::host), state("storming", &E::storming)};
  } else if constexpr (std::is_same_v<E, WireCodewords>) {
    return std::tuple{key("wire", &E::wire), state("code", &E::code, kFecWords),
                      state("rate", &E::rate), state("propagation", &E::propagation),
                      state("seed", &E::seed)};
  } else if constexpr (std::is_same_v<E, HostAttack>) {
    return std::tuple{key("host", &E::host), key("toward", &E::toward),
                      key("kind", &E::kind, kAttackWords), state("rate", &E::rate)};
  } else if constexpr (std::is_same_v<E, HostVerbs>) {
    return std::tuple{key("host", &E::host), key("qp", &E::qp),
                      state("status", &E::status, kVerbsWords)};
  } else {
    static_assert(std::is_same_v<E, HostDrain>);
    return std::tuple{key("host", &E::host), state("kind", &E::kind, kDrainWords),
                      state("rate", &E::rate)};
  }
}

/// By place in the variant: the words in daemons' configurations, event logs and run folders.
inline constexpr std::array<std::string_view, std::variant_size_v<Effect>> kEffectNames{
    "wire_state",   "wire_loss",    "wire_errors", "wire_delay",     "wire_duplicates",
    "wire_rate",    "port_carrier", "ev_denial",   "switch_state",   "switch_errors",
    "switch_route", "switch_trim",  "switch_ecn",  "switch_buffer",  "host_state",
    "host_burst",   "host_drain",   "host_storm",  "wire_codewords", "host_attack",
    "host_verbs"};
constexpr std::string_view name_of(const Effect& effect) { return kEffectNames[effect.index()]; }

/// Calls `take(field, value)` for each field of an effect, in order; `E` may be const.
template <class E>
void for_each_field(E& effect, auto&& take) {
  std::apply([&](const auto&... field) { (take(field, effect.*field.member), ...); },
             fields_of<std::remove_const_t<E>>());
}

/// Happens once and leaves nothing to undo.
constexpr bool happens_once(const Effect& effect) {
  return std::holds_alternative<HostBurst>(effect) || std::holds_alternative<HostVerbs>(effect);
}

/// The effect that puts the same target into the state as built.
inline Effect as_built(const Effect& effect) {
  return std::visit(
      [](const auto& from) -> Effect {
        std::decay_t<decltype(from)> to;
        for_each_field(to, [&](const auto& field, auto& value) {
          if (field.role == FieldRole::kKey) value = from.*field.member;
        });
        return to;
      },
      effect);
}
inline bool is_as_built(const Effect& effect) { return effect == as_built(effect); }

}  // namespace mrclab
