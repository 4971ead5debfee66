#pragma once
// Profiles of a host's device and the rules of their states, from mrc_ctl.h of the OCP MRC API 1.0.1:
//
//   INIT -> OFFLINE -> ONLINE -> OFFLINE -> INIT     what one call sets besides the state, is set first
//
//   kind      before OFFLINE                 before ONLINE                       changed in
//   format    mode                           fields                              OFFLINE
//   EV        mode; but for AUTO a format    format ONLINE; an explicit array    OFFLINE; states of entropy
//             that is not INIT, count,       without unset values                values ONLINE, too
//             fields
//   CC        algorithm                      -                                   OFFLINE
//
// A change that breaks a rule is EINVAL and changes nothing, apart from entries, which are applied up to the first
// that is refused (ENOENT: no such value). Leaving ONLINE while queue pairs use the profile, or a format that a profile
// which is ONLINE uses, is EBUSY. More fields, or wider ones, than the device has: E2BIG. Profile 0 is there from
// the start, AUTO and ONLINE, and is what a queue pair has that names none; it cannot be changed.
//
// Of formats there is STEV, whose 32 bits are the entropy value of fabric/topology/ev_path.h: SRv6 carriers are computed
// from it for each destination.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "endpoint/host/verbs.h"
#include "verbs/protocol/messages.h"

namespace mrclab::verbs {

class ProfileTable {
 public:
  static constexpr uint32_t kMaxProfiles = 64;  ///< of each kind, besides 0
  static constexpr uint32_t kMaxValues =
      4096;  ///< of one profile, and of all together 4 times that

  /// The device gets what is ONLINE. It outlives the table.
  explicit ProfileTable(endpoint::Device& device) : device_(device) {}

  /// 0 or an errno.
  int modify(const ProfileWire& wire);
  /// Fills in what `wire.mask` asks for. 0 or an errno.
  int query(ProfileWire& wire) const;
  ControlReply limits() const;

  /// May a queue pair use it (0: always)?
  bool is_online(uint64_t ev_profile) const;
  bool is_cc_online(uint64_t cc_profile) const;
  /// Which states of entropy values the controller wants to see events of: bits of mrc_ctl.h.
  uint32_t event_mask_of(uint64_t ev_profile) const;
  /// An event said so; remembered for queries.
  void note_state(uint64_t ev_profile, EntropyValue ev, uint32_t state);

 private:
  struct Format {
    uint32_t state = 0;
    uint32_t mode = 0;
    std::vector<uint32_t> widths;
    std::array<uint8_t, 128> vendor{};
  };
  struct EvProfile {
    uint32_t state = 0;
    uint32_t mode = 0;
    uint64_t format = 0;
    uint32_t count = 0, min_active = 0, event_mask = 0;
    std::vector<EvFieldWire> fields;
    std::vector<uint32_t>
        values;  ///< explicit: `count` of them, 0 is unset; generated: what the fields come to
    std::set<uint32_t> denied;
    std::map<uint32_t, uint32_t> states;  ///< of the last event
    std::array<uint8_t, 128> vendor{};
  };
  struct CcProfile {
    uint32_t state = 0;
    std::optional<uint32_t> algorithm;
    std::array<uint8_t, 128> vendor{};
  };

  int modify_format(const ProfileWire& wire);
  int modify_ev(const ProfileWire& wire);
  int modify_cc(const ProfileWire& wire);
  int modify_entries(EvProfile& profile, const ProfileWire& wire);
  int set_fields(EvProfile& profile, const ProfileWire& wire) const;
  int move(uint64_t id, EvProfile& profile, uint32_t state);
  int check_for_online(const EvProfile& profile) const;
  int put_online(uint64_t id, const EvProfile& profile);
  int query_format(ProfileWire& wire) const;
  int query_ev(ProfileWire& wire) const;
  int query_cc(ProfileWire& wire) const;
  int query_entries(const EvProfile& profile, ProfileWire& wire) const;
  uint32_t state_of(const EvProfile& profile, uint32_t ev) const;
  uint32_t used_values() const;

  endpoint::Device& device_;
  std::map<uint64_t, Format> formats_;
  std::map<uint64_t, EvProfile> evs_;
  std::map<uint64_t, CcProfile> ccs_;
};

}  // namespace mrclab::verbs
