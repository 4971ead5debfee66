#pragma once
// Which ranks exchange with which: the groups of a job by the names that its phases use.
//
// Dimensions stand inner to outer, as Megatron-LM orders ranks: of {tp: 2, pp: 2, dp: 2} ranks 0 and 1 are a tp group,
// 0 and 2 a pp group, 0 and 4 a dp group. "ep+dp" is the group of all that differ in these dimensions alone, "all" all.

#include <map>
#include <string>
#include <vector>

#include "job/plan/job_spec.h"

namespace mrclab::job {

/// All groups of one name. Ranks of a group are in its order; a rank is in one of them at most.
struct NamedGroups {
  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  std::vector<std::vector<uint32_t>> groups;
  std::vector<uint32_t> group_of;  ///< by rank; kNone: in none
  std::vector<uint32_t> place_of;  ///< by rank: its place in its group
};

class JobGroups {
 public:
  /// Throws InputError where dimensions do not multiply to the ranks, or a list is none of theirs.
  explicit JobGroups(const JobSpec& spec);

  /// Throws InputError for a name that is none, with those that are.
  const NamedGroups& named(const std::string& name);
  /// Ranks in a group of the dimension, 1 where there is none of this name.
  uint32_t size_of(const std::string& dimension) const;
  uint32_t place_in(const std::string& dimension, uint32_t rank) const;
  /// Has a group of this name ranks of several stages (places in pp)?
  bool crosses_stages(const std::string& name);

 private:
  NamedGroups of_dimensions(const std::vector<const GroupKind*>& dimensions) const;
  NamedGroups of_lists(const GroupKind& kind) const;
  uint32_t place_in(const GroupKind& dimension, uint32_t rank) const;
  std::vector<const GroupKind*> dimensions_in(const std::string& name) const;

  const uint32_t ranks_;
  std::vector<GroupKind> kinds_;
  std::map<std::string, uint32_t> strides_;  ///< of dimensions
  std::map<std::string, NamedGroups> named_;
};

}  // namespace mrclab::job
