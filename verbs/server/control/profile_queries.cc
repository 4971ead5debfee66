// What a controller is answered about profiles.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/server/control/profile_bits.h"
#include "verbs/server/control/profile_table.h"

namespace mrclab::verbs {

int ProfileTable::query(ProfileWire& wire) const {
  if (wire.entry_count > kMaxEvEntries) return EINVAL;
  switch (wire.kind) {
    case ProfileKind::kFormat: return query_format(wire);
    case ProfileKind::kEv: return query_ev(wire);
    case ProfileKind::kCc: return query_cc(wire);
  }
  return EINVAL;
}

int ProfileTable::query_format(ProfileWire& wire) const {
  const auto found = formats_.find(wire.id);
  const Format format = found == formats_.end() ? Format{} : found->second;
  wire.state = wire.current_state = format.state;
  wire.mode = format.mode;
  wire.entry_count = 0;
  wire.field_count = static_cast<uint32_t>(format.widths.size());
  for (uint32_t i = 0; i < wire.field_count; ++i) wire.fields[i] = {format.widths[i], 0, 0, 0, 0};
  std::memcpy(wire.vendor, format.vendor.data(), format.vendor.size());
  return 0;
}

int ProfileTable::query_ev(ProfileWire& wire) const {
  const auto found = evs_.find(wire.id);
  EvProfile profile;
  if (wire.id == 0) {
    profile.state = kProfileOnline;
    profile.mode = kEvAuto;
    profile.event_mask = event_mask_of(0);
  } else if (found != evs_.end()) {
    profile = found->second;
  }
  wire.state = wire.current_state = profile.state;
  wire.mode = profile.mode;
  wire.format_id = profile.format;
  wire.min_active = profile.min_active;
  wire.event_mask = profile.event_mask;
  wire.field_count = static_cast<uint32_t>(profile.fields.size());
  std::copy(profile.fields.begin(), profile.fields.end(), wire.fields);
  std::memcpy(wire.vendor, profile.vendor.data(), profile.vendor.size());
  // Generated values may be fewer than were asked for: count is what there is.
  wire.count =
      profile.mode == kEvGenerated ? static_cast<uint32_t>(profile.values.size()) : profile.count;
  if ((wire.mask & kEvEntries) == 0) {
    wire.entry_count = 0;
    return 0;
  }
  return query_entries(profile, wire);
}

int ProfileTable::query_entries(const EvProfile& profile, ProfileWire& wire) const {
  if (wire.op == kEvGiveState) {
    for (uint32_t i = 0; i < wire.entry_count; ++i) {
      const uint32_t ev = wire.entries[i].ev;
      if (ev == 0 ||
          std::find(profile.values.begin(), profile.values.end(), ev) == profile.values.end()) {
        return ENOENT;
      }
      wire.entries[i].state = state_of(profile, ev);
    }
    return 0;
  }
  if (wire.op != kEvGiveArray) return EINVAL;
  const auto size = static_cast<uint32_t>(profile.values.size());
  const uint32_t first = std::min(wire.first, size);
  wire.entry_count = std::min(size - first, kMaxEvEntries);
  for (uint32_t i = 0; i < wire.entry_count; ++i) {
    const uint32_t ev = profile.values[first + i];
    wire.entries[i] = {ev, 0, state_of(profile, ev), 0};
  }
  return 0;
}

uint32_t ProfileTable::state_of(const EvProfile& profile, uint32_t ev) const {
  if (profile.denied.contains(ev)) return kStateDenied;
  const auto seen = profile.states.find(ev);
  return seen == profile.states.end() ? uint32_t{kStateGood} : seen->second;
}

int ProfileTable::query_cc(ProfileWire& wire) const {
  if (wire.mask & kCcSetConfig) return EOPNOTSUPP;
  const auto found = ccs_.find(wire.id);
  CcProfile profile = found == ccs_.end() ? CcProfile{} : found->second;
  if (wire.id == 0) {
    profile.state = kProfileOnline;
    if (device_.query_cc_profile(0).algorithm == "uet-1.0-nscc") profile.algorithm = 1;
  }
  wire.state = wire.current_state = profile.state;
  wire.algorithm = profile.algorithm.value_or(0);
  wire.entry_count = wire.field_count = 0;
  std::memcpy(wire.vendor, profile.vendor.data(), profile.vendor.size());
  return 0;
}

}  // namespace mrclab::verbs
