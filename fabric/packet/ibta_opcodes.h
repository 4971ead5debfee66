#pragma once
// Every value that the first byte of BTH can have, by its name in the InfiniBand Architecture Specification
// (IBTA), volume 1. This lab speaks MRC and a part of RC (Opcode in headers.h); captures of others have the rest.
//
//   bits 7 to 5   transport: 000 RC, 001 UC, 010 RD, 011 UD, 101 XRC, 11x the manufacturer's   (9.2.1, table 38)
//   bits 4 to 0   operation, with the same meaning in each transport that has it               (9.2.1, table 38)
//   0x81          CNP                                                                          (annex A17.9.3)
//   XRC           annex A14; FLUSH and ATOMIC WRITE: annex A19; Linux has all of them in include/rdma/ib_pack.h
//
// MRC 1.0 has its opcodes among the manufacturer's.

#include <cstdint>
#include <string>
#include <string_view>

namespace mrclab {

enum class IbtaTransport : uint8_t {
  kRc,
  kUc,
  kRd,
  kUd,
  kCnp,
  kXrc,
  kMrc,
  kManufacturer,
  kReserved
};
/// "RC", "UC", ...; "vendor" for the manufacturer's, "reserved" for what nobody has defined.
std::string_view name_of(IbtaTransport transport);

struct IbtaOpcode {
  IbtaTransport transport = IbtaTransport::kReserved;
  /// "RDMA READ Request"; MRC's as name_of(Opcode) has them; empty where nobody has defined one.
  std::string_view operation;
  /// Bytes of the headers between BTH and the payload. 0 for MRC (its own parser computes them) and where the transport
  /// is not defined here.
  uint8_t header_bytes = 0;
};

IbtaOpcode ibta_opcode(uint8_t value);
/// "RC RDMA READ Request", "vendor 0xc1", "reserved 0x15".
std::string opcode_text(uint8_t value);
/// Is it a packet of RoCEv2, by its opcode: one of the transports of IBTA, and no vendor's?
bool is_of_ibta(uint8_t value);

}  // namespace mrclab
