#pragma once
// Packets that are changed or invented on the way by an attacker with knowledge of the format. Every
// choice comes from a few numbers, so that a fuzzer can steer it.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/packet/headers.h"

namespace mrclab::test {

/// The numbers that one forgery is made of.
struct ForgeryChoice {
  uint8_t field = 0;
  uint8_t variant = 0;
  uint16_t value = 0;
};

/// The frame with one field of its headers changed and a right ICRC. Empty if the frame is none of
/// MRC's or was trimmed.
std::optional<std::vector<uint8_t>> forge_field(std::span<const uint8_t> frame,
                                                ForgeryChoice choice);

/// A control packet that was never sent: opcode `choice.field`, from and to the same queue pairs as
/// `frame`, about a PSN near `near`.
std::optional<std::vector<uint8_t>> forge_control(std::span<const uint8_t> frame, Psn near,
                                                  ForgeryChoice choice);

/// What a switch makes of a frame that it trims. Control packets and small ones stay whole.
std::vector<uint8_t> trimmed_by_switch(std::span<const uint8_t> frame, uint8_t dscp);

/// Could a transport acknowledgement or data, of either transport, be what these bytes decode to? Only these two may make a
/// receiver's memory or a completion wrong when they are forged with a right ICRC.
bool is_write_or_ack(std::span<const uint8_t> frame);

}  // namespace mrclab::test
