#pragma once
// The faults of a lab, with their instants: those of its scenario, those by hand, and changes from
// outside. Compiled as one list, so that overlapping faults compose whatever their source. A
// persistent lab takes faults that are over out of the book, so that it does not grow
// (live/world/fault_record.h). Pure.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "faults/fault.h"

namespace mrclab::lab {

enum class FaultSource : uint8_t {
  kScenario,
  kHand,
  kOutside,  ///< another program changed the lab
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
  uint32_t book_fault(BookedFault fault);
  /// What the fault holds ends at `at`, if it has not ended before; what
  /// would begin later does not.
  void heal(uint32_t number, FabricTime at);
  /// The faults that are meant and can be healed at `at`, none of them from outside: "" is all that
  /// are in force, "all" those that are to come as well; a number; a kind; or a pattern of the
  /// names of what they are about. Throws InputError for a word that means none.
  std::vector<uint32_t> select(const std::string& word, FabricTime at) const;

  /// The numbers of the faults that are cancelled, or over and without any effect after `settled`.
  std::vector<uint32_t> finished_faults(FabricTime settled) const;
  /// Removes one of these. select() still finds its number, kind and target names.
  void drop_fault(uint32_t number);
  /// The instant by which `count` of the faults in the book are over; never()
  /// if so many never will be.
  FabricTime when_over(size_t count) const;

  /// The faults in the book by number.
  const std::map<uint32_t, BookedFault>& entries() const { return entries_; }
  /// How many faults there ever were; their numbers are 0 to total() - 1.
  uint32_t total() const { return total_; }
  FaultStage stage(uint32_t number, FabricTime now) const;
  /// The faults in the book, in the order of their numbers.
  std::vector<faults::Fault> faults() const;
  /// The effects of the faults in the book; ScheduledEffect::fault is a fault's number.
  std::vector<ScheduledEffect> schedule() const;

 private:
  /// The names by which a pattern can mean the fault.
  std::set<std::string> names_of(const faults::Fault& fault) const;
  bool forgot(const std::string& word) const;
  /// Refuses a pattern that names what the fabric does not have.
  void check_names(const std::string& word) const;

  const Topology* topology_;  ///< so that a changed copy can take the place of this one
  std::map<uint32_t, BookedFault> entries_;
  uint32_t total_ = 0;
  // Kinds and names of faults that are out of the book. Bounded by the kinds and names that there
  // are.
  std::set<faults::FaultKind> forgotten_kinds_;
  std::set<std::string> forgotten_names_;
};

}  // namespace mrclab::lab
