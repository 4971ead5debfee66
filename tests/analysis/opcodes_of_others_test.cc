// What each packet to RoCEv2's port is called, over all opcodes, checksums and lengths, held against tshark.

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "analysis/traffic/frame_decoder.h"
#include "analysis/traffic/traffic_reader.h"
#include "fabric/base/byte_order.h"
#include "fabric/packet/ibta_opcodes.h"
#include "tests/support/capture_writer.h"
#include "tests/support/programs.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

namespace fs = std::filesystem;
using FrameBytes = std::vector<uint8_t>;

enum class Stack { kIpv4, kIpv4NoChecksum, kIpv4WrongChecksum, kIpv6 };
constexpr Stack kStacks[] = {Stack::kIpv4, Stack::kIpv4NoChecksum, Stack::kIpv4WrongChecksum,
                             Stack::kIpv6};

void put16(FrameBytes& frame, size_t at, uint16_t value) {
  frame[at] = static_cast<uint8_t>(value >> 8);
  frame[at + 1] = static_cast<uint8_t>(value);
}

/// Ethernet, IP, UDP to `port`, and `payload` bytes of zeros behind.
FrameBytes datagram(Stack stack, uint16_t port, size_t payload) {
  const bool ipv6 = stack == Stack::kIpv6;
  const size_t ip = 14, udp = ip + (ipv6 ? 40 : 20);
  FrameBytes frame(udp + 8 + payload);
  put16(frame, 12, ipv6 ? kEthertypeIpv6 : kEthertypeIpv4);
  if (ipv6) {
    frame[ip] = 0x60;
    put16(frame, ip + 4, static_cast<uint16_t>(8 + payload));
    frame[ip + 6] = kNextHeaderUdp;
    frame[ip + 7] = 64;
    frame[ip + 8] = frame[ip + 24] = 0x20;
    frame[ip + 23] = 1;
    frame[ip + 39] = 2;
  } else {
    frame[ip] = 0x45;
    put16(frame, ip + 2, static_cast<uint16_t>(28 + payload));
    put16(frame, ip + 6, 0x4000);
    frame[ip + 8] = 64;
    frame[ip + 9] = kNextHeaderUdp;
    frame[ip + 12] = frame[ip + 16] = 192;
    frame[ip + 15] = 1;
    frame[ip + 19] = 2;
    if (stack != Stack::kIpv4NoChecksum) put16(frame, ip + 10, ipv4_checksum(&frame[ip]));
    if (stack == Stack::kIpv4WrongChecksum) frame[ip + 10] ^= 0x55;
  }
  put16(frame, udp, 49'152);
  put16(frame, udp + 2, port);
  put16(frame, udp + 4, static_cast<uint16_t>(8 + payload));
  return frame;
}

/// A packet of this opcode with `behind` bytes between BTH and ICRC.
FrameBytes packet_of(Stack stack, uint8_t opcode, size_t behind) {
  FrameBytes frame = datagram(stack, kMrcUdpPort, kBthBytes + behind + kIcrcBytes);
  const size_t bth = frame.size() - kIcrcBytes - behind - kBthBytes;
  frame[bth] = opcode;
  put16(frame, bth + 2, 0xFFFF);
  frame[bth + 7] = 0x11;
  return frame;
}

DecodedFrame decoded(const FrameBytes& frame, bool carried = false) {
  const FormatSample sample;
  const LearnedFormat format;
  FrameDecoder decoder(sample, format);
  CaptureRecord record;
  record.bytes = frame;
  record.original_length = static_cast<uint32_t>(frame.size());
  DecodedFrame out;
  ForeignFrame foreign;
  decoder.decode(record, kLinkTypeEthernet, {.carried = carried}, out, foreign);
  return out;
}

IpChecksum checksum_of(Stack stack) {
  switch (stack) {
    case Stack::kIpv4NoChecksum: return IpChecksum::kOpen;
    case Stack::kIpv4WrongChecksum: return IpChecksum::kWrong;
    case Stack::kIpv4:
    case Stack::kIpv6: return IpChecksum::kRight;
  }
  return IpChecksum::kRight;
}

std::vector<std::vector<std::string>> rows_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::vector<std::vector<std::string>> rows;
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t n; (n = ::getline(&line, &room, pipe)) > 0;) {
    std::string text(line, static_cast<size_t>(n));
    while (text.ends_with('\n')) text.pop_back();
    std::vector<std::string> cells(1);
    for (const char c : text) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    rows.push_back(std::move(cells));
  }
  std::free(line);
  CHECK(::pclose(pipe) == 0);
  return rows;
}

/// How tshark 4 writes "RC SEND First".
std::string as_tshark_has_it(uint8_t value) {
  const IbtaOpcode opcode = ibta_opcode(value);
  const std::map<std::string_view, std::string> names{
      {"RC", "Reliable Connection (RC)"},
      {"UC", "Unreliable Connection (UC)"},
      {"RD", "Reliable Datagram (RD)"},
      {"UD", "Unreliable Datagram (UD)"},
      {"XRC", "Extended Reliable Connection (XRC)"}};
  const auto name = names.find(name_of(opcode.transport));
  return name == names.end() ? "" : name->second + " - " + std::string(opcode.operation);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

TEST_CASE(
    "a packet of each opcode that IBTA defines is RoCE, whatever its checksum, and no "
    "contradiction") {
  size_t packets = 0;
  for (size_t value = 0; value < 256; ++value) {
    const auto opcode = static_cast<uint8_t>(value);
    const IbtaOpcode known = ibta_opcode(opcode);
    if (known.transport == IbtaTransport::kMrc) continue;
    for (const Stack stack : kStacks) {
      const DecodedFrame out = decoded(packet_of(stack, opcode, known.header_bytes));
      CAPTURE(opcode_text(opcode));
      CHECK(out.decoded == (is_of_ibta(opcode) ? Decoded::kRoce : Decoded::kOtherOpcode));
      CHECK(out.opcode == opcode);
      CHECK(out.ip_checksum == checksum_of(stack));
      ++packets;
      if (known.header_bytes == 0) continue;
      const DecodedFrame cut = decoded(packet_of(stack, opcode, known.header_bytes - 4u));
      CHECK(cut.decoded == Decoded::kBadRoce);
      ++packets;
    }
  }
  CHECK(packets > 4 * 230);
}

TEST_CASE("a datagram to another port is no MRC, whatever its checksum") {
  for (const Stack stack : kStacks) {
    for (const size_t payload :
         {size_t{4}, size_t{40}, size_t{400}}) {  // of a few bytes: a DNS query
      CHECK(decoded(datagram(stack, 53, payload)).decoded == Decoded::kNotMrc);
    }
  }
}

TEST_CASE(
    "an MRC packet is read with an open or a wrong checksum, but not where all senders compute "
    "it") {
  for (const Stack stack : kStacks) {
    const FrameBytes ack = packet_of(stack, 0xD1, 4);
    CHECK(decoded(ack).decoded == Decoded::kSighting);
    CHECK(decoded(ack).ip_checksum == checksum_of(stack));
  }
  test::CaptureWriter writer;
  const uint32_t interface = writer.interface("eth0");
  for (const Stack stack : kStacks) {
    const FrameBytes ack = packet_of(stack, 0xD1, 4);
    writer.packet(0, interface, 1'000, ack, static_cast<uint32_t>(ack.size()));
  }
  const Traffic traffic = analyze_traffic(writer.bytes());
  CHECK(traffic.counters.checksum_open == 1);
  CHECK(traffic.counters.checksum_wrong == 1);
  CHECK(traffic.counters.malformed + traffic.counters.bad_roce + traffic.counters.not_mrc == 0);
  CHECK(traffic.counters.opcodes[0xD1] == 4);
}

TEST_CASE(
    "an MRC packet whose lengths contradict one another is malformed, and an endpoint operation "
    "unknown") {
  CHECK(decoded(packet_of(Stack::kIpv4, 0xD1, 8)).decoded == Decoded::kMalformed);
  CHECK(decoded(packet_of(Stack::kIpv6, 0xCA, 4)).decoded == Decoded::kMalformed);
  FrameBytes longer = packet_of(Stack::kIpv4, 0xD1,
                                4);  // UDP is longer than IP has room for: trimmed, as no ACK is
  put16(longer, 14 + 20 + 4, 200);
  CHECK(decoded(longer).decoded == Decoded::kMalformed);
  FrameBytes operation = packet_of(Stack::kIpv4, 0xD8, 16);
  CHECK(decoded(operation).decoded == Decoded::kSighting);
  operation[operation.size() - kIcrcBytes - 16 + 1] = 0x06;  // operation 3
  CHECK(decoded(operation).decoded == Decoded::kOtherOpcode);
}

TEST_SUITE("wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("tshark calls all opcodes what we call them") {
    std::map<size_t, std::string> theirs;
    for (const auto& row : rows_of("HOME=/nonexistent tshark -G values")) {
      if (row.size() == 4 && row[1] == "infiniband.bth.opcode") theirs[std::stoul(row[2])] = row[3];
    }
    REQUIRE(theirs.size() > 80);
    for (size_t value = 0; value < 256; ++value) {
      if (value == 0x80 || value == 0x81)
        continue;  // Wireshark 4.0 takes 0x80 for CNP (annex A17.9.3: 0x81)
      if (value == 0x1C || value == 0x1D) continue;  // annex A19 is younger than it
      const std::string ours = as_tshark_has_it(static_cast<uint8_t>(value));
      const auto their = theirs.find(value);
      const bool defined = their != theirs.end() && !their->second.ends_with("Reserved");
      CAPTURE(value);
      CHECK(lower(ours) == (defined ? lower(their->second) : ""));
    }
  }

  TEST_CASE("tshark sees the same opcode and checksum in each packet, and none malformed") {
    std::string pattern = (fs::temp_directory_path() / "mrclab-opcodes-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    const fs::path folder = pattern;
    std::vector<FrameBytes> frames;
    for (size_t value = 0; value < 256; ++value) {
      const auto opcode = static_cast<uint8_t>(value);
      if (!is_of_ibta(opcode)) continue;
      // Of RC a READ request, what answers without data and the atomics have no payload, nor has a CNP.
      const bool bare = opcode == 0x0C || (opcode >= 0x11 && opcode <= 0x14) || opcode == 0x81;
      const size_t behind = ibta_opcode(opcode).header_bytes + (bare ? 0u : 64u);
      for (const Stack stack : kStacks) frames.push_back(packet_of(stack, opcode, behind));
    }
    for (const Stack stack : kStacks) frames.push_back(datagram(stack, 9, 40));
    {
      std::ofstream file(folder / "all.pcap", std::ios::binary);
      const uint32_t header[] = {0xA1B2'3C4D, 0x0004'0002, 0, 0, 0x40000, 1};
      file.write(reinterpret_cast<const char*>(header), sizeof header);
      for (const FrameBytes& frame : frames) {
        const auto size = static_cast<uint32_t>(frame.size());
        const uint32_t record[] = {1, 0, size, size};
        file.write(reinterpret_cast<const char*>(record), sizeof record);
        file.write(reinterpret_cast<const char*>(frame.data()), size);
      }
    }
    const auto rows =
        rows_of("HOME=/nonexistent tshark -n -o ip.check_checksum:TRUE -r " +
                (folder / "all.pcap").string() +
                " -T fields -E occurrence=f -e infiniband.bth.opcode -e ip.checksum.status -e "
                "_ws.malformed");
    fs::remove_all(folder);
    REQUIRE(rows.size() == frames.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const DecodedFrame ours = decoded(frames[i]);
      CAPTURE(i);
      const std::string opcode = ours.opcode ? std::to_string(*ours.opcode) : "";
      CHECK(rows[i][0] == opcode);
      if (!rows[i][1].empty())
        CHECK((rows[i][1] == "1") == (ours.ip_checksum == IpChecksum::kRight));
      CHECK(rows[i].size() > 2);
      CHECK(rows[i][2].empty());
      CHECK(ours.decoded == (ours.opcode ? Decoded::kRoce : Decoded::kNotMrc));
    }
  }
}
