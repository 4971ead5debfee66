#include "fabric/packet/ibta_opcodes.h"

#include <array>
#include <charconv>

#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

using enum IbtaTransport;

// Bytes of the extended transport headers (IBTA volume 1, 9.3 and annexes A14 and A19).
constexpr uint8_t kReth = 16, kAeth = 4, kImmDt = 4, kIeth = 4, kAtomicEth = 28, kAtomicAckEth = 8,
                  kRdeth = 4, kDeth = 8, kXrcEth = 4, kFeth = 4;

struct Operation {
  std::string_view name;
  uint8_t header_bytes;
  bool response = false;
};

/// By the low five bits. Operations without a name are reserved.
constexpr std::array<Operation, 32> kOperations{{
    {"SEND First", 0},                                    // 0x00
    {"SEND Middle", 0},                                   // 0x01
    {"SEND Last", 0},                                     // 0x02
    {"SEND Last with Immediate", kImmDt},                 // 0x03
    {"SEND Only", 0},                                     // 0x04
    {"SEND Only with Immediate", kImmDt},                 // 0x05
    {"RDMA WRITE First", kReth},                          // 0x06
    {"RDMA WRITE Middle", 0},                             // 0x07
    {"RDMA WRITE Last", 0},                               // 0x08
    {"RDMA WRITE Last with Immediate", kImmDt},           // 0x09
    {"RDMA WRITE Only", kReth},                           // 0x0A
    {"RDMA WRITE Only with Immediate", kReth + kImmDt},   // 0x0B
    {"RDMA READ Request", kReth},                         // 0x0C
    {"RDMA READ response First", kAeth, true},            // 0x0D
    {"RDMA READ response Middle", 0, true},               // 0x0E
    {"RDMA READ response Last", kAeth, true},             // 0x0F
    {"RDMA READ response Only", kAeth, true},             // 0x10
    {"Acknowledge", kAeth, true},                         // 0x11
    {"ATOMIC Acknowledge", kAeth + kAtomicAckEth, true},  // 0x12
    {"CmpSwap", kAtomicEth},                              // 0x13
    {"FetchAdd", kAtomicEth},                             // 0x14
    {"", 0},                                              // 0x15
    {"SEND Last with Invalidate", kIeth},                 // 0x16
    {"SEND Only with Invalidate", kIeth},                 // 0x17
    {"", 0},                                              // 0x18
    {"", 0},                                              // 0x19
    {"", 0},                                              // 0x1A
    {"", 0},                                              // 0x1B
    {"FLUSH", kFeth + kReth},                             // 0x1C
    {"ATOMIC WRITE", kReth},                              // 0x1D
}};

constexpr uint8_t kLastOfUc = 0x0B, kLastOfRd = 0x14, kResync = 0x15;
constexpr uint8_t kSendOnly = 0x04, kSendOnlyImm = 0x05;
constexpr uint8_t kSendLastInvalidate = 0x16, kSendOnlyInvalidate = 0x17;
constexpr uint8_t kCnp16 = 16;  // reserved bytes behind the BTH of a CNP

IbtaOpcode defined(IbtaTransport transport, uint8_t operation, uint8_t more) {
  const Operation& of = kOperations[operation];
  if (of.name.empty()) return {};
  return {transport, of.name, static_cast<uint8_t>(of.header_bytes + more)};
}

IbtaOpcode of_rd(uint8_t operation) {
  if (operation == kResync) return {kRd, "RESYNC", kRdeth + kDeth};
  if (operation > kLastOfRd) return {};
  return defined(kRd, operation, kRdeth + (kOperations[operation].response ? 0 : kDeth));
}

IbtaOpcode of_xrc(uint8_t operation) {
  if (operation > kLastOfRd && operation != kSendLastInvalidate &&
      operation != kSendOnlyInvalidate) {
    return {};
  }
  return defined(kXrc, operation, kOperations[operation].response ? 0 : kXrcEth);
}

IbtaOpcode of_manufacturer(uint8_t value) {
  const std::string_view mrc = name_of(Opcode{value});
  if (mrc != "unknown") return {kMrc, mrc, 0};
  return {kManufacturer, "", 0};
}

}  // namespace

IbtaOpcode ibta_opcode(uint8_t value) {
  const uint8_t operation = value & 0x1F;
  switch (value >> 5) {
    case 0b000: return defined(kRc, operation, 0);
    case 0b001: return operation <= kLastOfUc ? defined(kUc, operation, 0) : IbtaOpcode{};
    case 0b010: return of_rd(operation);
    case 0b011:
      return operation == kSendOnly || operation == kSendOnlyImm ? defined(kUd, operation, kDeth)
                                                                 : IbtaOpcode{};
    case 0b100: return operation == 1 ? IbtaOpcode{kCnp, "CNP", kCnp16} : IbtaOpcode{};
    case 0b101: return of_xrc(operation);
    default: return of_manufacturer(value);
  }
}

std::string_view name_of(IbtaTransport transport) {
  switch (transport) {
    case kRc: return "RC";
    case kUc: return "UC";
    case kRd: return "RD";
    case kUd: return "UD";
    case kCnp: return "CNP";
    case kXrc: return "XRC";
    case kMrc: return "MRC";
    case kManufacturer: return "vendor";
    case kReserved: return "reserved";
  }
  return "unknown";
}

std::string opcode_text(uint8_t value) {
  const IbtaOpcode opcode = ibta_opcode(value);
  if (opcode.transport == kCnp) return "CNP";
  std::string text(name_of(opcode.transport));
  if (!opcode.operation.empty()) return text + " " + std::string(opcode.operation);
  char digits[2];
  const auto end = std::to_chars(digits, digits + 2, value, 16).ptr;
  return text + " 0x" + (value < 0x10 ? "0" : "") + std::string(digits, end);
}

bool is_of_ibta(uint8_t value) {
  switch (ibta_opcode(value).transport) {
    case kRc:
    case kUc:
    case kRd:
    case kUd:
    case kCnp:
    case kXrc: return true;
    case kMrc:
    case kManufacturer:
    case kReserved: return false;
  }
  return false;
}

}  // namespace mrclab
