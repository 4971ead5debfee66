#pragma once
// What a lesson's task asks a student to do: which faults, on what, when and for how long; and whether a session
// has done it. A measurement alone shows that something happened, not what.
//
//   deed: |
//     - {flap: {link: "p*.t0-*:u*", count: 5, down: 10us, up: 15us}, on: one, from: 240us, until: 320us}
//
// Behind the kind stands a fault's body: its targets are those that may be hit, its settings are to be as they
// are here, and those that it leaves out are free.

#include <string>
#include <vector>

#include "faults/fault.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

struct Deed {
  enum class On : uint8_t {
    kSome,  ///< of the targets, none besides
    kOne,   ///< one of them
    kAll,   ///< every one; several faults may do that together
  };
  faults::Fault fault;  ///< its kind, targets and settings
  On on = On::kSome;
  FabricTime from, until = FabricTime::never();  ///< in which it begins
  FabricTime lasts;  ///< at least so long; never(): to the end and not ended by hand
  FabricTime over = FabricTime::never();  ///< by when it has ended by itself
  std::string
      asked;  ///< as a sentence: "flap of one of p*.t0-*:u*, count 5, beginning from 240us to 320us"
};

/// The text of a `deed:`, for the fabric of a lesson; empty text: none. Throws InputError.
std::vector<Deed> parse_deeds(const std::string& text, const Scenario& scenario);

/// What of the deeds is not among the faults of the session, as a sentence; empty: all of it is done. Faults
/// that are none of the deeds must be over when the first of these begins, and where there are no deeds there
/// may be no fault at all.
std::string missing_deed(const std::vector<Deed>& deeds, const Scenario& session);

/// What was asked for and whether a session has it.
struct DeedSeen {
  std::string asked;
  bool done = false;
  std::string found;  ///< the session's faults that do it, each with its time; else what is missing
};
/// One for each deed; of no deeds one that asks for no fault.
std::vector<DeedSeen> seen_deeds(const std::vector<Deed>& deeds, const Scenario& session);

}  // namespace mrclab::lab
