#pragma once
// What a requester reports to its queue pair.

#include <cstdint>
#include <string_view>

#include "endpoint/paths/ev_state.h"
#include "fabric/base/ids.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

/// Gets what happened to a requester, at fabric time, in order.
class RequesterEvents {
 public:
  virtual ~RequesterEvents() = default;
  virtual void write_completed(uint64_t id) = 0;
  /// Called for each write that is not complete, before failed(). `status`: the failure, or
  /// kFlushed.
  virtual void write_failed(uint64_t id, std::string_view status) = 0;
  /// A transition that observers outside see: "good", "assumed_bad" or "denied".
  virtual void ev_changed(EntropyValue ev, EvState to) = 0;
  /// A backup took the active place of another value of its plane.
  virtual void ev_swapped(EntropyValue in, EntropyValue out) = 0;
  /// `cause` is "rack", "probe" or "timeout".
  virtual void loss_detected(EntropyValue ev, Psn psn, std::string_view cause) = 0;
  virtual void failed(std::string_view reason) = 0;
};

}  // namespace mrclab::endpoint
