// What opcodes mean.

#include "fabric/packet/header_values.h"

namespace mrclab {
namespace {

/// InfiniBand specification 9.2.2: the operation's place among FIRST, MIDDLE, LAST, LAST with immediate,
/// ONLY, ONLY with immediate. MRC's writes have the numbers of RC's in their low five bits.
enum Place : uint8_t { kFirst, kMiddle, kLast, kLastImm, kOnly, kOnlyImm };
Place place_in_message(Opcode opcode) {
  return static_cast<Place>((static_cast<uint8_t>(opcode) & 0x1F) % 6);
}

}  // namespace

bool is_send(Opcode opcode) { return opcode <= Opcode::kSendOnlyImm; }

bool has_immediate(Opcode opcode) {
  const Place place = place_in_message(opcode);
  return place == kLastImm || place == kOnlyImm;
}

bool is_first(Opcode opcode) {
  const Place place = place_in_message(opcode);
  return place == kFirst || place == kOnly || place == kOnlyImm;
}

bool is_last(Opcode opcode) {
  const Place place = place_in_message(opcode);
  return place != kFirst && place != kMiddle;
}

}  // namespace mrclab
