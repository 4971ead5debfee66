#include "verbs/server/control/profile_table.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "endpoint/paths/ev_profile_values.h"
#include "verbs/server/control/profile_bits.h"

namespace mrclab::verbs {

namespace {

constexpr uint32_t kWidth = 32;
constexpr uint32_t kValuesInAll = 4 * ProfileTable::kMaxValues;

uint32_t ones(uint32_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }

bool neighbours(uint32_t from, uint32_t to) {
  return to <= kProfileOnline && (from > to ? from - to : to - from) == 1;
}

void copy_vendor(std::array<uint8_t, 128>& to, const ProfileWire& wire) {
  if (wire.mask & kSetVendor) std::memcpy(to.data(), wire.vendor, to.size());
}

/// What a field of an EV profile may be (mrc_ctl.h, restrictions of EV profiles).
bool can_be(const EvFieldWire& field) {
  if (field.width < 1 || field.width > kWidth) return false;
  const uint32_t widest = ones(field.width);
  const auto bits = static_cast<uint32_t>(std::popcount(field.mask));
  return field.init_val <= widest && field.mask <= widest && field.min_val <= field.max_val &&
         field.max_val <= (field.mask == 0 ? 0 : ones(bits));
}

/// Combinations of the fields' ranges, the last field running fastest, at most `count`.
std::vector<uint32_t> generated(const std::vector<EvFieldWire>& wire, uint32_t count) {
  std::vector<endpoint::EvField> fields;
  std::vector<uint32_t> counter;
  for (const EvFieldWire& field : wire) {
    fields.push_back({field.width, field.init_val, field.min_val, field.max_val, field.mask});
    counter.push_back(field.min_val);
  }
  const uint32_t bits = endpoint::generated_bits(fields);
  std::vector<uint32_t> values;
  while (values.size() < count) {
    uint64_t packed = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      packed = packed << std::popcount(fields[i].mask) | counter[i];
    }
    uint64_t joined = 0;
    const std::vector<uint32_t> parts = endpoint::expand_fields(fields, packed, bits);
    for (size_t i = 0; i < fields.size(); ++i) joined = joined << fields[i].width | parts[i];
    values.push_back(static_cast<uint32_t>(joined));
    size_t i = fields.size();
    while (i > 0 && counter[i - 1] == fields[i - 1].max) {
      --i;
      counter[i] = fields[i].min;
    }
    if (i == 0) break;
    ++counter[i - 1];
  }
  return values;
}

}  // namespace

int ProfileTable::modify(const ProfileWire& wire) {
  if (wire.field_count > kMaxEvFields || wire.entry_count > kMaxEvEntries) return EINVAL;
  if (wire.id == 0) return EINVAL;
  switch (wire.kind) {
    case ProfileKind::kFormat: return modify_format(wire);
    case ProfileKind::kEv: return modify_ev(wire);
    case ProfileKind::kCc: return modify_cc(wire);
  }
  return EINVAL;
}

int ProfileTable::modify_format(const ProfileWire& wire) {
  if ((wire.mask & ~(kSetState | kSetVendor | kFormatSetMode | kFormatSetFields)) != 0)
    return EINVAL;
  const auto found = formats_.find(wire.id);
  if (found == formats_.end() && formats_.size() >= kMaxProfiles) return ENOSPC;
  Format format = found == formats_.end() ? Format{} : found->second;
  const uint32_t others = wire.mask & ~kSetState;
  const bool leaves_init = (wire.mask & kSetState) && format.state == kProfileInit;
  if (others != 0 && format.state != kProfileOffline && !leaves_init) return EINVAL;
  if (wire.mask & kFormatSetMode) {
    if (wire.mode != kFormatStev) return EINVAL;
    format.mode = wire.mode;
  }
  if (wire.mask & kFormatSetFields) {
    uint32_t width = 0;
    format.widths.clear();
    for (uint32_t i = 0; i < wire.field_count; ++i) {
      const uint32_t one = wire.fields[i].width;
      if (one < 1 || one > 255) return EINVAL;
      width += one;
      format.widths.push_back(one);
    }
    if (width > kWidth) return E2BIG;
  }
  copy_vendor(format.vendor, wire);
  if (wire.mask & kSetState) {
    if (!neighbours(format.state, wire.state)) return EINVAL;
    if (wire.state == kProfileOffline && format.mode == 0) return EINVAL;
    if (wire.state == kProfileOnline && format.widths.empty()) return EINVAL;
    const bool used = std::any_of(evs_.begin(), evs_.end(), [&](const auto& ev) {
      return ev.second.state == kProfileOnline && ev.second.mode != kEvAuto &&
             ev.second.format == wire.id;
    });
    if (used) return EBUSY;
    format.state = wire.state;
  }
  if (format.state == kProfileInit) {
    formats_.erase(wire.id);
  } else {
    formats_[wire.id] = std::move(format);
  }
  return 0;
}

int ProfileTable::set_fields(EvProfile& profile, const ProfileWire& wire) const {
  uint32_t width = 0;
  for (uint32_t i = 0; i < wire.field_count; ++i) {
    if (!can_be(wire.fields[i])) return EINVAL;
    width += wire.fields[i].width;
  }
  if (width > kWidth) return E2BIG;
  profile.fields.assign(wire.fields, wire.fields + wire.field_count);
  return 0;
}

int ProfileTable::modify_ev(const ProfileWire& wire) {
  constexpr uint32_t kKnown = kSetState | kSetVendor | kEvSetMode | kEvSetFormat | kEvSetCount |
                              kEvSetMinActive | kEvSetEventMask | kEvEntries | kEvSetFields;
  if ((wire.mask & ~kKnown) != 0) return EINVAL;
  const auto found = evs_.find(wire.id);
  if (found == evs_.end() && evs_.size() >= kMaxProfiles) return ENOSPC;
  EvProfile profile = found == evs_.end() ? EvProfile{} : found->second;
  if (wire.mask == kEvEntries) {
    if (found == evs_.end()) return EINVAL;
    return modify_entries(found->second, wire);
  }
  if ((wire.mask & kEvEntries) != 0) return EINVAL;  // libmrc sends entries by themselves
  const uint32_t others = wire.mask & ~kSetState;
  const bool leaves_init = (wire.mask & kSetState) && profile.state == kProfileInit;
  if (others != 0 && profile.state != kProfileOffline && !leaves_init) return EINVAL;
  if (wire.mask & kEvSetMode) {
    if (wire.mode != kEvAuto && wire.mode != kEvExplicit && wire.mode != kEvGenerated)
      return EINVAL;
    profile.mode = wire.mode;
  }
  if (wire.mask & kEvSetFormat) profile.format = wire.format_id;
  if (wire.mask & kEvSetCount) {
    if (wire.count > kMaxValues) return EINVAL;
    if (used_values() - profile.count + wire.count > kValuesInAll) return ENOSPC;
    profile.count = wire.count;
  }
  if (wire.mask & kEvSetFields) {
    if (const int error = set_fields(profile, wire)) return error;
  }
  if (wire.mask & kEvSetMinActive) profile.min_active = wire.min_active;
  if (wire.mask & kEvSetEventMask) {
    if ((wire.event_mask & ~(kStateGood | kStateAssumedBad)) != 0) return EINVAL;
    profile.event_mask = wire.event_mask;
  }
  if (profile.min_active > profile.count) return EINVAL;
  copy_vendor(profile.vendor, wire);
  profile.values.resize(profile.mode == kEvExplicit ? profile.count : 0);
  if (profile.mode == kEvGenerated) profile.values = generated(profile.fields, profile.count);
  if (wire.mask & kSetState) {
    if (const int error = move(wire.id, profile, wire.state)) return error;
  }
  if (profile.state == kProfileInit) {
    evs_.erase(wire.id);
  } else {
    evs_[wire.id] = std::move(profile);
  }
  return 0;
}

int ProfileTable::check_for_online(const EvProfile& profile) const {
  if (profile.mode == kEvAuto) return 0;
  const auto format = formats_.find(profile.format);
  if (format == formats_.end() || format->second.state != kProfileOnline) return EINVAL;
  // At most as many fields as the format has, together not wider.
  const auto wide = [](uint32_t sum, const EvFieldWire& field) { return sum + field.width; };
  const uint32_t width = std::accumulate(profile.fields.begin(), profile.fields.end(), 0u, wide);
  const std::vector<uint32_t>& widths = format->second.widths;
  if (profile.fields.size() > widths.size() ||
      width > std::accumulate(widths.begin(), widths.end(), 0u)) {
    return E2BIG;
  }
  const bool unset =
      std::find(profile.values.begin(), profile.values.end(), 0u) != profile.values.end();
  return profile.values.empty() || unset ? EINVAL : 0;
}

int ProfileTable::move(uint64_t id, EvProfile& profile, uint32_t state) {
  if (!neighbours(profile.state, state)) return EINVAL;
  if (state == kProfileOffline && profile.state == kProfileInit) {
    if (profile.mode == 0) return EINVAL;
    if (profile.mode != kEvAuto &&
        (profile.count == 0 || profile.fields.empty() || !formats_.contains(profile.format))) {
      return EINVAL;
    }
  }
  if (state == kProfileOnline) {
    if (const int error = check_for_online(profile)) return error;
    if (const int error = put_online(id, profile)) return error;
  } else if (profile.state == kProfileOnline) {
    try {
      if (device_.query_ev_profile(id).users > 0) return EBUSY;
      endpoint::EvProfileAttributes off = device_.query_ev_profile(id);
      off.state = endpoint::EvProfileAttributes::State::kOffline;
      device_.modify_ev_profile(id, off);
      off.state = endpoint::EvProfileAttributes::State::kInit;
      device_.modify_ev_profile(id, off);
      for (const uint32_t ev : profile.denied) device_.deny_path({ev}, std::nullopt, false);
    } catch (const std::invalid_argument&) {
      return EBUSY;
    }
  }
  profile.state = state;
  return 0;
}

int ProfileTable::put_online(uint64_t id, const EvProfile& profile) {
  using State = endpoint::EvProfileAttributes::State;
  endpoint::EvProfileAttributes on;
  on.mode = profile.mode == kEvAuto ? endpoint::EvProfile::Mode::kAuto
                                    : endpoint::EvProfile::Mode::kExplicit;
  for (const uint32_t value : profile.values) on.values.push_back({value});
  // Copies weigh nothing here: a queue pair takes its values in turn.
  std::sort(on.values.begin(), on.values.end());
  on.values.erase(std::unique(on.values.begin(), on.values.end()), on.values.end());
  try {
    on.state = State::kOffline;
    device_.modify_ev_profile(id, on);
    on.state = State::kOnline;
    device_.modify_ev_profile(id, on);
    for (const uint32_t ev : profile.denied) device_.deny_path({ev}, std::nullopt, true);
  } catch (const std::invalid_argument&) {
    // A value that is no path of this fabric.
    try {
      on.state = State::kInit;
      device_.modify_ev_profile(id, on);
    } catch (const std::invalid_argument&) {
      // It never left that state.
    }
    return EINVAL;
  }
  return 0;
}

int ProfileTable::modify_entries(EvProfile& profile, const ProfileWire& wire) {
  const bool online = profile.state == kProfileOnline;
  if (wire.op != kEvReplace && wire.op != kEvSetState) return EINVAL;
  if (wire.op == kEvReplace && (online || profile.mode != kEvExplicit)) return EINVAL;
  for (uint32_t i = 0; i < wire.entry_count; ++i) {
    const EvEntryWire& entry = wire.entries[i];
    if (entry.state != kStateGood && entry.state != kStateDenied) return EINVAL;
    auto at = std::find(profile.values.begin(), profile.values.end(), entry.ev);
    if (at == profile.values.end()) return ENOENT;
    uint32_t named = entry.ev;
    if (wire.op == kEvReplace) {
      named = entry.replacement;
      do {
        *at = entry.replacement;
        at = std::find(at + 1, profile.values.end(), entry.ev);
      } while ((entry.flags & kEvAllCopies) != 0 && at != profile.values.end());
    } else if (entry.ev == 0) {
      return EINVAL;
    }
    const bool deny = entry.state == kStateDenied;
    const bool changes =
        deny ? profile.denied.insert(named).second : profile.denied.erase(named) > 0;
    if (online && changes) device_.deny_path({named}, std::nullopt, deny);
  }
  return 0;
}

int ProfileTable::modify_cc(const ProfileWire& wire) {
  if ((wire.mask & ~(kSetState | kSetVendor | kCcSetAlgorithm | kCcSetConfig)) != 0) return EINVAL;
  // Parameters of congestion control are the scenario's (`transport:`); a device has one set.
  if (wire.mask & kCcSetConfig) return EOPNOTSUPP;
  const auto found = ccs_.find(wire.id);
  if (found == ccs_.end() && ccs_.size() >= kMaxProfiles) return ENOSPC;
  CcProfile profile = found == ccs_.end() ? CcProfile{} : found->second;
  const bool leaves_init = (wire.mask & kSetState) && profile.state == kProfileInit;
  if ((wire.mask & ~kSetState) != 0 && profile.state != kProfileOffline && !leaves_init) {
    return EINVAL;
  }
  if (wire.mask & kCcSetAlgorithm) {
    if (wire.algorithm != 1) return EOPNOTSUPP;  // None at all is no option of a device's either.
    profile.algorithm = wire.algorithm;
  }
  copy_vendor(profile.vendor, wire);
  if (wire.mask & kSetState) {
    if (!neighbours(profile.state, wire.state) || !profile.algorithm) return EINVAL;
    profile.state = wire.state;
  }
  if (profile.state == kProfileInit) {
    ccs_.erase(wire.id);
  } else {
    ccs_[wire.id] = profile;
  }
  return 0;
}

uint32_t ProfileTable::used_values() const {
  uint32_t used = 0;
  for (const auto& [id, profile] : evs_) used += profile.count;
  return used;
}

ControlReply ProfileTable::limits() const {
  ControlReply reply{};
  reply.max_format_profiles = reply.max_profiles = reply.max_cc_profiles = kMaxProfiles;
  reply.max_count = kValuesInAll;
  reply.free_count = kValuesInAll - used_values();
  reply.max_count_profile = kMaxValues;
  reply.format_modes = kFormatStev;
  reply.modes = kEvAuto | kEvExplicit | kEvGenerated;
  return reply;
}

bool ProfileTable::is_online(uint64_t ev_profile) const {
  if (ev_profile == 0) return true;
  const auto found = evs_.find(ev_profile);
  return found != evs_.end() && found->second.state == kProfileOnline;
}

bool ProfileTable::is_cc_online(uint64_t cc_profile) const {
  const auto found = ccs_.find(cc_profile);
  return found != ccs_.end() && found->second.state == kProfileOnline;
}

uint32_t ProfileTable::event_mask_of(uint64_t ev_profile) const {
  if (ev_profile == 0) return kStateGood | kStateAssumedBad;
  const auto found = evs_.find(ev_profile);
  return found == evs_.end() ? 0 : found->second.event_mask;
}

void ProfileTable::note_state(uint64_t ev_profile, EntropyValue ev, uint32_t state) {
  const auto found = evs_.find(ev_profile);
  if (found == evs_.end()) return;
  const std::vector<uint32_t>& values = found->second.values;
  if (std::find(values.begin(), values.end(), ev.value) == values.end()) return;
  found->second.states[ev.value] = state;
}

}  // namespace mrclab::verbs
