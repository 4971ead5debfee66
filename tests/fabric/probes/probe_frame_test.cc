// Probes and reports as bytes and text: both ways, and any bytes at all.

#include "fabric/probes/probe_frame.h"

#include <doctest/doctest.h>

#include <vector>

#include "fabric/packet/headers.h"
#include "fabric/probes/probe_report.h"
#include "fabric/topology/path.h"

using namespace mrclab;

namespace {

std::vector<uint8_t> frame_of(ProbeForm form) {
  ProbeFrameSpec spec;
  spec.form = form;
  spec.probe = {ProbeKind::kT1, 3, 7};
  spec.tag = {0x01020304, 0xA0B0C0D0, FabricTime::from_ns(3'000'000'123)};
  spec.own_address = {0xfd, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 22};
  spec.carrier = {0x5f, 0, 0, 0, 0x23, 5, 0x13, 7, 0x23, 5, 0xe3, 2};
  std::vector<uint8_t> bytes(probe_bytes(form));
  write_probe(spec, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("a probe is read back as it was written, in both forms") {
  for (const ProbeForm form : {ProbeForm::kOwn, ProbeForm::kStamp}) {
    const std::vector<uint8_t> bytes = frame_of(form);
    CHECK(bytes.size() == (form == ProbeForm::kOwn ? 126 : 146));
    const auto seen = parse_probe(bytes);
    REQUIRE(seen);
    CHECK(seen->form == form);
    CHECK(seen->tag.sequence == 0x01020304);
    CHECK(seen->tag.nonce == (form == ProbeForm::kOwn ? 0xA0B0C0D0 : 0xC0D0));
    CHECK(seen->source == seen->destination);
    CHECK(seen->carried);
    CHECK_FALSE(seen->damaged);
    CHECK_FALSE(seen->trimmed);
  }
}

TEST_CASE("a STAMP packet has the sender's fields where RFC 8762 has them") {
  const std::vector<uint8_t> bytes = frame_of(ProbeForm::kStamp);
  const uint8_t* const p = bytes.data() + kBthOffset;
  CHECK(load_be<uint32_t>(p) == 0x01020304);   // sequence number
  CHECK(load_be<uint32_t>(p + 4) == 3);        // timestamp: seconds
  CHECK(load_be<uint32_t>(p + 8) == 123);      // nanoseconds
  CHECK(load_be<uint16_t>(p + 12) == 0x4001);  // error estimate: Z, multiplier 1
  CHECK(load_be<uint16_t>(p + 14) == 0xC0D0);  // SSID
  for (size_t i = 16; i < 44; ++i) CHECK(p[i] == 0);
  CHECK(load_be<uint16_t>(&bytes[kUdpOffset + 2]) == 862);
  CHECK(load_be<uint16_t>(&bytes[kUdpOffset + 6]) != 0);  // RFC 8200: a checksum is there
}

TEST_CASE("a flipped bit behind the carrier is noticed, and cut bytes are no probe") {
  for (const ProbeForm form : {ProbeForm::kOwn, ProbeForm::kStamp}) {
    const std::vector<uint8_t> bytes = frame_of(form);
    for (size_t bit = (kInnerOffset + 8) * 8; bit < bytes.size() * 8; ++bit) {
      std::vector<uint8_t> flipped = bytes;
      flipped[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8);
      const auto seen = parse_probe(flipped);
      CHECK((!seen || seen->damaged));
    }
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto seen = parse_probe(std::span(bytes).first(size));
      CHECK((!seen || seen->damaged));
    }
  }
}

TEST_CASE("a trimmed STAMP packet is recognised by its lengths") {
  std::vector<uint8_t> bytes = frame_of(ProbeForm::kStamp);
  bytes.resize(kTrimmedFrameBytes);
  store_be<uint16_t>(&bytes[kOuterOffset + 4], kTrimmedFrameBytes - kInnerOffset);
  const auto seen = parse_probe(bytes);
  REQUIRE(seen);
  CHECK(seen->trimmed);
  CHECK_FALSE(seen->damaged);
  CHECK(seen->tag.sequence == 0x01020304);
}

TEST_CASE("a report reads back, and other texts are none") {
  ProbeReport report;
  report.period = 12;
  report.sent = 20;
  report.lost = {"p0/t0", "p1/u2"};
  report.damaged = {"p1/u2"};
  report.slow = {"p2/x1"};
  report.late = {{11, "p5/u0"}};
  report.dark = {{294'649'000, "p3"}};
  report.lit = {{294'900'000, "p4"}};
  report.unsent = {"p3"};
  report.forged = 1;
  const std::string text = to_text(report);
  CHECK(
      text ==
      "period 12, sent 20, forged 1, lost p0/t0 p1/u2, damaged p1/u2, slow p2/x1, unsent p3, late "
      "11:p5/u0, dark 294649000:p3, lit 294900000:p4");
  CHECK(parse_probe_report(text) == report);
  for (const std::string_view other :
       {"", "period", "period x", "period 1, sent", "period 1, sent -1", "period 1, late p0/u0",
        "period 1, lust p0/u0", "period 99999999999999999999"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_probe_report(other));
  }
}
