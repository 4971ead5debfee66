#pragma once
// Which program speaks BGP for a switch that routes by itself (routing: fare): for one whose frames our daemon
// forwards its own speaker, for one whose frames the kernel forwards one of these.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/enum_words.h"

namespace mrclab {

enum class SpeakerProgram : uint8_t { kBgpd, kFrr, kBird, kExabgp };

inline constexpr SpeakerProgram kSpeakerPrograms[] = {
    SpeakerProgram::kBgpd, SpeakerProgram::kFrr, SpeakerProgram::kBird, SpeakerProgram::kExabgp};

constexpr std::string_view name_of(SpeakerProgram program) {
  constexpr auto kNames = words_by_value<SpeakerProgram>({{SpeakerProgram::kBgpd, "bgpd"},
                                                          {SpeakerProgram::kFrr, "frr"},
                                                          {SpeakerProgram::kBird, "bird"},
                                                          {SpeakerProgram::kExabgp, "exabgp"}});
  return kNames[static_cast<size_t>(program)];
}

/// A choice for all switches and exceptions from it, of which the last that matches counts.
struct SpeakerChoice {
  struct Exception {
    std::string pattern;  ///< as in ForwardingChoice
    SpeakerProgram program;
    bool operator==(const Exception&) const = default;
  };
  SpeakerProgram all = SpeakerProgram::kBgpd;
  std::vector<Exception> exceptions;

  SpeakerProgram of(std::string_view plane, std::string_view name) const;
  bool operator==(const SpeakerChoice&) const = default;
};

}  // namespace mrclab
