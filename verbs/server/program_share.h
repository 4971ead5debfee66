#pragma once
// What a host's device has for one of its programs (host_programs.h calls, a session implements it).

#include "endpoint/device/verbs_types.h"

namespace mrclab::verbs {

class ProgramShare {
 public:
  virtual ~ProgramShare() = default;
  /// Hands over what was noted. False: there was nothing.
  virtual bool deliver() = 0;

  // Within the host's events; they only take notes.
  virtual void note_completion(endpoint::CqHandle cq) = 0;
  /// A packet wrote to the memory of a program of the host, or the device has an event for one.
  virtual void note_something() = 0;
  virtual void note_power_lost() = 0;

  // While HostPrograms hands out.
  virtual void note_event(const endpoint::AsyncEvent& event) = 0;
  /// An instant that somebody asked for has come; everything up to it is delivered.
  virtual void wake() = 0;
};

}  // namespace mrclab::verbs
