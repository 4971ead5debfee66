#include "fabric/topology/forwarding.h"

#include "fabric/text/name_pattern.h"
#include "fabric/topology/speaker.h"

namespace mrclab {

Forwarding ForwardingChoice::of(std::string_view plane, std::string_view name) const {
  Forwarding forwarding = all;
  for (const Exception& e : exceptions) {
    if (matches_pattern(e.pattern, plane) || matches_pattern(e.pattern, name)) {
      forwarding = e.forwarding;
    }
  }
  return forwarding;
}

SpeakerProgram SpeakerChoice::of(std::string_view plane, std::string_view name) const {
  SpeakerProgram program = all;
  for (const Exception& e : exceptions) {
    if (matches_pattern(e.pattern, plane) || matches_pattern(e.pattern, name)) program = e.program;
  }
  return program;
}

}  // namespace mrclab
