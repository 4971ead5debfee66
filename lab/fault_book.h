#pragma once
// Every fault of a lab, with its instants: those of its scenario, those by hand, and what others did
// to it. Compiled as one list, so that faults that overlap compose whoever made them. Pure.

#include <optional>
#include <string>
#include <vector>

#include "fabric/topology.h"
#include "faults/fault.h"

namespace mrclab::lab {

enum class FaultSource : uint8_t {
  kScenario,
  kHand,
  kOutside,  ///< somebody did something to the lab with other tools
};
std::string_view name_of(FaultSource source);

struct BookedFault {
  faults::Fault fault;
  FaultSource source = FaultSource::kScenario;
  std::string noticed = {};  ///< kOutside: what was seen
};

/// Where a fault is at an instant.
enum class FaultStage : uint8_t { kToCome, kInForce, kOver, kCancelled };
std::string_view name_of(FaultStage stage);

class FaultBook {
 public:
  /// `topology` outlives the book.
  FaultBook(const Topology& topology, std::vector<faults::Fault> scenario);

  /// Returns its number. Throws InputError when there are too many.
  uint32_t add(BookedFault fault);
  /// What the fault holds ends at `at`, if it has not ended before; what would begin later does not.
  void mend(uint32_t number, FabricTime at);
  /// The faults that are meant and can be mended at `at`, none of them from outside: "" is all that
  /// are in force, "all" those that are to come as well; a number; a kind; or a pattern of the names
  /// of what they are about. Throws InputError for a word that means none.
  std::vector<uint32_t> select(const std::string& word, FabricTime at) const;

  const std::vector<BookedFault>& entries() const { return entries_; }
  FaultStage stage(uint32_t number, FabricTime now) const;
  /// In the order of numbers.
  std::vector<faults::Fault> faults() const;
  std::vector<ScheduledEffect> schedule() const;

 private:
  bool is_about(const faults::Fault& fault, const std::string& pattern) const;

  const Topology& topology_;
  std::vector<BookedFault> entries_;
};

}  // namespace mrclab::lab
