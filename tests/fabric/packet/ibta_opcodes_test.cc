// Names of opcodes, and what is asked of opcodes that this lab implements: both tables must agree.

#include "fabric/packet/ibta_opcodes.h"

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"

using namespace mrclab;

TEST_CASE("what is asked of an opcode follows from the name that IBTA has for it") {
  size_t spoken = 0;
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<uint8_t>(value);
    const auto opcode = static_cast<Opcode>(byte);
    const IbtaOpcode known = ibta_opcode(byte);
    const std::string name(known.operation);
    CAPTURE(opcode_text(byte));
    const bool rc = known.transport == IbtaTransport::kRc;
    const bool send = name.starts_with("SEND") && name.find("Invalidate") == std::string::npos;
    const bool write = name.starts_with("RDMA WRITE");
    CHECK(is_rc_request(opcode) == (rc && (send || write)));
    const bool fetch = name.starts_with("RDMA READ") || name == "ATOMIC Acknowledge" ||
                       name == "CmpSwap" || name == "FetchAdd";
    CHECK(is_rc(opcode) == ((rc && (send || write || fetch || name == "Acknowledge")) ||
                            known.transport == IbtaTransport::kCnp));
    CHECK(is_write(opcode) ==
          (known.transport == IbtaTransport::kMrc && name.starts_with("write_")));
    if (!carries_data(opcode)) continue;
    ++spoken;
    const bool only =
        name.find("Only") != std::string::npos || name.find("_only") != std::string::npos;
    const bool last =
        name.find("Last") != std::string::npos || name.find("_last") != std::string::npos;
    const bool first =
        name.find("First") != std::string::npos || name.find("_first") != std::string::npos;
    CHECK(is_send(opcode) == send);
    CHECK(is_first(opcode) == (first || only));
    CHECK(is_last(opcode) == (last || only));
    CHECK(has_immediate(opcode) == (name.ends_with("with Immediate") || name.ends_with("_imm")));
  }
  CHECK(spoken == 18);
}

TEST_CASE("each opcode has a name, and those of nobody say so") {
  CHECK(opcode_text(0x0C) == "RC RDMA READ Request");
  CHECK(opcode_text(0x13) == "RC CmpSwap");
  CHECK(opcode_text(0x17) == "RC SEND Only with Invalidate");
  CHECK(opcode_text(0x2A) == "UC RDMA WRITE Only");
  CHECK(opcode_text(0x64) == "UD SEND Only");
  CHECK(opcode_text(0x81) == "CNP");
  CHECK(opcode_text(0xA0) == "XRC SEND First");
  CHECK(opcode_text(0xDC) == "MRC sack");
  CHECK(opcode_text(0xC1) == "vendor 0xc1");
  CHECK(opcode_text(0x15) == "reserved 0x15");
  CHECK(opcode_text(0x08 + 0x60) == "reserved 0x68");
  CHECK(ibta_opcode(0x64).header_bytes == 8);
  CHECK(ibta_opcode(0x12).header_bytes == 12);
  CHECK(ibta_opcode(0x54).header_bytes == 28 + 12);
}
