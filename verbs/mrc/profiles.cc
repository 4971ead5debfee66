// Profiles of the controller. The host keeps them and applies the rules of their states (INIT, OFFLINE, ONLINE; EBUSY
// while queue pairs use one); here arrays of any length are carried in pieces.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/mrc/control.h"

using namespace mrclab::mrc;
namespace verbs = mrclab::verbs;

namespace {

constexpr int kMaxArray = 1 << 16;  ///< of a caller's arrays

int put_fields(const EvFieldAttr* fields, int count, verbs::ProfileWire& wire) {
  if (count < 0 || (count > 0 && fields == nullptr)) return EINVAL;
  if (count > static_cast<int>(verbs::kMaxEvFields)) return E2BIG;
  wire.field_count = static_cast<uint32_t>(count);
  for (int i = 0; i < count; ++i) {
    wire.fields[i] = {fields[i].width, fields[i].init_val, fields[i].min_val, fields[i].max_val,
                      fields[i].mask};
  }
  return 0;
}

/// Room for `have` of `*count`: E2BIG and the number that there are in `*count`.
int check_room(uint32_t have, const void* array, int* count) {
  const int room = *count;
  *count = static_cast<int>(have);
  if (room < static_cast<int>(have)) return E2BIG;
  return have > 0 && array == nullptr ? EINVAL : 0;
}

int entry_to_wire(const EvEntry& from, uint32_t op, verbs::EvEntryWire& to) {
  to = {};
  if (const int error = value_of(from.ev, to.ev)) return error;
  if (op == kReplaceEv) {
    if (const int error = value_of(from.replacement, to.replacement)) return error;
  }
  to.state = from.state;
  to.flags = from.flags;
  return 0;
}

/// Entries by pieces of kMaxEvEntries. On an error those before it have been applied, as the API has it.
int modify_entries(mrc_context& context, verbs::ProfileWire& wire, const EvProfileAttr& attr) {
  const int count = attr.ev_op.count;
  if (count < 0 || count > kMaxArray || (count > 0 && attr.ev_op.entries == nullptr)) return EINVAL;
  if (attr.ev_op.op != kReplaceEv && attr.ev_op.op != kModifyEvState) return EINVAL;
  const uint32_t others = wire.mask & ~kProfileEvOp;
  const uint32_t state = wire.mask & kProfileState;
  // What else is set, is set first, but for the state: an array is filled before its profile goes ONLINE.
  if ((others & ~state) != 0) {
    wire.mask = others & ~state;
    if (const int error = modify_profile(context, wire)) return error;
  }
  for (int done = 0; done < count;) {
    const int piece = std::min(count - done, static_cast<int>(verbs::kMaxEvEntries));
    int error = 0;
    int good = 0;
    for (; good < piece && error == 0; ++good) {
      error = entry_to_wire(attr.ev_op.entries[done + good], attr.ev_op.op, wire.entries[good]);
    }
    wire.entry_count = static_cast<uint32_t>(error != 0 ? good - 1 : good);
    wire.mask = kProfileEvOp;
    wire.op = attr.ev_op.op;
    if (wire.entry_count > 0) {
      if (const int refused = modify_profile(context, wire)) return refused;
    }
    if (error != 0) return error;
    done += piece;
  }
  if (state == 0) return 0;
  wire.mask = state;
  wire.entry_count = 0;
  return modify_profile(context, wire);
}

int query_array(mrc_context& context, uint64_t id, EvProfileAttr& attr) {
  verbs::ProfileWire wire{};
  uint32_t first = 0;
  const int room = attr.ev_op.count;
  do {
    wire.id = id;
    wire.kind = verbs::ProfileKind::kEv;
    wire.mask = kProfileEvOp;
    wire.op = kQueryEvArray;
    wire.first = first;
    if (const int error = query_profile(context, wire)) return error;
    if (first == 0) {
      attr.ev_op.count = room;
      const int error = check_room(wire.count, attr.ev_op.entries, &attr.ev_op.count);
      if (error != 0) return error;
    }
    for (uint32_t i = 0; i < wire.entry_count && first + i < static_cast<uint32_t>(room); ++i) {
      EvEntry& entry = attr.ev_op.entries[first + i];
      entry = {};
      entry.ev = ev_of(wire.entries[i].ev);
      entry.state = wire.entries[i].state;
    }
    first += wire.entry_count;
  } while (wire.entry_count > 0 && first < wire.count);
  return 0;
}

int query_states(mrc_context& context, uint64_t id, EvProfileAttr& attr) {
  const int count = attr.ev_op.count;
  if (count < 0 || count > kMaxArray || (count > 0 && attr.ev_op.entries == nullptr)) return EINVAL;
  for (int done = 0; done < count;) {
    const int piece = std::min(count - done, static_cast<int>(verbs::kMaxEvEntries));
    verbs::ProfileWire wire{};
    wire.id = id;
    wire.kind = verbs::ProfileKind::kEv;
    wire.mask = kProfileEvOp;
    wire.op = kQueryEvState;
    wire.entry_count = static_cast<uint32_t>(piece);
    for (int i = 0; i < piece; ++i) {
      if (const int error =
              entry_to_wire(attr.ev_op.entries[done + i], kQueryEvState, wire.entries[i])) {
        return error;
      }
    }
    if (const int error = query_profile(context, wire)) return error;
    for (int i = 0; i < piece; ++i) attr.ev_op.entries[done + i].state = wire.entries[i].state;
    done += piece;
  }
  return 0;
}

bool both_ops(int mask) {
  constexpr int kBoth = kProfileEvOp | kProfileFieldsOp;
  return (mask & kBoth) == kBoth;
}

}  // namespace

int mrc_ctl_modify_ev_fmt_profile(mrc_context* context, uint64_t id, FormatProfileAttr* attr,
                                  int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr) return plain_error(EINVAL);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kFormat;
  wire.mask = static_cast<uint32_t>(mask);
  wire.state = attr->state;
  wire.current_state = attr->cur_state;
  wire.mode = attr->mode;
  wire.op = attr->op.op;
  if (wire.mask & kFormatOpBit) {
    if (attr->op.op != kModifyFormatFields || attr->op.count < 0 ||
        (attr->op.count > 0 && attr->op.fields == nullptr)) {
      return plain_error(EINVAL);
    }
    if (attr->op.count > static_cast<int>(verbs::kMaxEvFields)) return plain_error(E2BIG);
    wire.field_count = static_cast<uint32_t>(attr->op.count);
    for (int i = 0; i < attr->op.count; ++i) wire.fields[i].width = attr->op.fields[i].width;
  }
  std::memcpy(wire.vendor, attr->vendor, sizeof wire.vendor);
  const int error = modify_profile(*context, wire);
  return error != 0 ? plain_error(error) : 0;
}

int mrc_ctl_query_ev_fmt_profile(mrc_context* context, uint64_t id, FormatProfileAttr* attr,
                                 int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr) return plain_error(EINVAL);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kFormat;
  wire.mask = static_cast<uint32_t>(mask);
  if ((wire.mask & kFormatOpBit) && attr->op.op != kQueryFormatFields) return plain_error(EINVAL);
  if (const int error = query_profile(*context, wire)) return plain_error(error);
  const auto bits = static_cast<uint32_t>(mask);
  if (bits & kFormatState) attr->state = wire.state;
  if (bits & kFormatCurState) attr->cur_state = wire.current_state;
  if (bits & kFormatModeBit) attr->mode = wire.mode;
  if (bits & kFormatVendor) std::memcpy(attr->vendor, wire.vendor, sizeof attr->vendor);
  if (bits & kFormatOpBit) {
    if (const int error = check_room(wire.field_count, attr->op.fields, &attr->op.count)) {
      return plain_error(error);
    }
    for (uint32_t i = 0; i < wire.field_count; ++i) {
      attr->op.fields[i].width = static_cast<uint8_t>(wire.fields[i].width);
    }
  }
  return 0;
}

int mrc_ctl_modify_ev_profile(mrc_context* context, uint64_t id, EvProfileAttr* attr, int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr || both_ops(mask)) return plain_error(EINVAL);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kEv;
  wire.mask = static_cast<uint32_t>(mask);
  wire.state = attr->state;
  wire.current_state = attr->cur_state;
  wire.mode = attr->mode;
  wire.format_id = attr->format_id;
  wire.count = attr->count;
  wire.min_active = attr->min_active;
  wire.event_mask = static_cast<uint32_t>(attr->event_mask);
  std::memcpy(wire.vendor, attr->vendor, sizeof wire.vendor);
  int error = 0;
  if (wire.mask & kProfileFieldsOp) {
    if (attr->fields_op.op != kModifyFields) return plain_error(EINVAL);
    error = put_fields(attr->fields_op.fields, attr->fields_op.count, wire);
    if (error != 0) return plain_error(error);
  }
  error = wire.mask & kProfileEvOp ? modify_entries(*context, wire, *attr)
                                   : modify_profile(*context, wire);
  return error != 0 ? plain_error(error) : 0;
}

int mrc_ctl_query_ev_profile(mrc_context* context, uint64_t id, EvProfileAttr* attr, int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr || both_ops(mask)) return plain_error(EINVAL);
  const auto bits = static_cast<uint32_t>(mask);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kEv;
  wire.mask = bits & ~kProfileEvOp;
  if ((bits & kProfileFieldsOp) && attr->fields_op.op != kQueryFields) return plain_error(EINVAL);
  if (const int error = query_profile(*context, wire)) return plain_error(error);
  if (bits & kProfileState) attr->state = wire.state;
  if (bits & kProfileCurState) attr->cur_state = wire.current_state;
  if (bits & kProfileMode) attr->mode = wire.mode;
  if (bits & kProfileFormat) attr->format_id = wire.format_id;
  if (bits & kProfileCount) attr->count = wire.count;
  if (bits & kProfileMinActive) attr->min_active = wire.min_active;
  if (bits & kProfileEventMask) attr->event_mask = static_cast<int>(wire.event_mask);
  if (bits & kProfileVendor) std::memcpy(attr->vendor, wire.vendor, sizeof attr->vendor);
  if (bits & kProfileFieldsOp) {
    const int error = check_room(wire.field_count, attr->fields_op.fields, &attr->fields_op.count);
    if (error != 0) return plain_error(error);
    for (uint32_t i = 0; i < wire.field_count; ++i) {
      const verbs::EvFieldWire& field = wire.fields[i];
      attr->fields_op.fields[i] = {field.width, field.init_val, field.min_val, field.max_val,
                                   field.mask};
    }
  }
  if (!(bits & kProfileEvOp)) return 0;
  int error = EINVAL;
  if (attr->ev_op.op == kQueryEvArray) error = query_array(*context, id, *attr);
  if (attr->ev_op.op == kQueryEvState) error = query_states(*context, id, *attr);
  return error != 0 ? plain_error(error) : 0;
}

int mrc_ctl_modify_cc_profile(mrc_context* context, uint64_t id, CcProfileAttr* attr, int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr) return plain_error(EINVAL);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kCc;
  wire.mask = static_cast<uint32_t>(mask);
  wire.state = attr->state;
  wire.current_state = attr->cur_state;
  if ((wire.mask & kCcAlgorithm) && attr->algorithm != nullptr) {
    if (std::strcmp(attr->algorithm, "uet-1.0-nscc") != 0) return plain_error(EINVAL);
    wire.algorithm = 1;
  }
  if (wire.mask & kCcConfig) {
    if (attr->config == nullptr) return plain_error(EINVAL);
    static_assert(sizeof(NsccConfig) <= sizeof wire.config);
    std::memcpy(wire.config, attr->config, sizeof(NsccConfig));
  }
  std::memcpy(wire.vendor, attr->vendor, sizeof wire.vendor);
  const int error = modify_profile(*context, wire);
  return error != 0 ? plain_error(error) : 0;
}

int mrc_ctl_query_cc_profile(mrc_context* context, uint64_t id, CcProfileAttr* attr, int mask) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (attr == nullptr) return plain_error(EINVAL);
  const auto bits = static_cast<uint32_t>(mask);
  verbs::ProfileWire wire{};
  wire.id = id;
  wire.kind = verbs::ProfileKind::kCc;
  wire.mask = bits;
  if ((bits & kCcConfig) && attr->config == nullptr) return plain_error(EINVAL);
  if (const int error = query_profile(*context, wire)) return plain_error(error);
  if (bits & kCcState) attr->state = wire.state;
  if (bits & kCcCurState) attr->cur_state = wire.current_state;
  if (bits & kCcAlgorithm) attr->algorithm = wire.algorithm == 1 ? "uet-1.0-nscc" : nullptr;
  // The API declares it const for both directions; of a query it is where the answer goes.
  if (bits & kCcConfig)
    std::memcpy(const_cast<void*>(attr->config), wire.config, sizeof(NsccConfig));
  if (bits & kCcVendor) std::memcpy(attr->vendor, wire.vendor, sizeof attr->vendor);
  return 0;
}
