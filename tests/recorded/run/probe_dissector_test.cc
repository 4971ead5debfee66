// tshark with our dissector, and without it, on probes of both forms that a run in the simulator sent.

#include <doctest/doctest.h>

#include "fabric/neighbours/lldp_frame.h"
#include "fabric/probes/mapper_message.h"
#include "fabric/probes/probe_frame.h"
#include "fabric/probes/probe_route.h"
#include "fabric/topology/path.h"
#include "recorded/run/wireshark_dissector.h"
#include "tests/recorded/run/dissector_agreement.h"
#include "tests/support/capture_writer.h"
#include "tests/support/fabrics.h"
#include "tests/support/programs.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

/// A probe of each kind from h5, as it leaves.
std::vector<std::vector<uint8_t>> probes(const Topology& topology, ProbeForm form) {
  std::vector<std::vector<uint8_t>> frames;
  for (const Probe& probe :
       {Probe{ProbeKind::kT0, 3}, {ProbeKind::kT1, 3, 2}, {ProbeKind::kCross, 3, 2, 0, 1}}) {
    ProbeFrameSpec spec;
    spec.form = form;
    spec.probe = probe;
    spec.tag = {static_cast<uint32_t>(frames.size() + 7), 0x0A0B0C0D,
                FabricTime::from_ns(1'500'000'002)};
    spec.own_address = host_address(topology, 5);
    spec.carrier = probe_carrier(topology, 5, probe);
    frames.emplace_back(probe_bytes(form));
    write_probe(spec, frames.back());
  }
  return frames;
}

std::vector<std::string> lines_of(const Tshark& tshark,
                                  const std::vector<std::vector<uint8_t>>& frames,
                                  const std::string& options) {
  const ScratchFile file("probes.pcapng");
  CaptureWriter writer;
  writer.interface("any");
  uint64_t t = 0;
  for (const auto& frame : frames) {
    writer.packet(0, kInbound, ++t, frame, static_cast<uint32_t>(frame.size()));
  }
  writer.save(file.path());
  std::vector<std::string> lines;
  tshark.lines(file.path(), options, [&](const std::string& line) { lines.push_back(line); });
  return lines;
}

}  // namespace

TEST_SUITE("wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("tshark with our dissector names probes of our form, field by field") {
    const Topology topology = octet();
    const Tshark tshark(lab::wireshark_dissector(&topology));
    const auto lines = lines_of(
        tshark, probes(topology, ProbeForm::kOwn),
        "-T fields -E separator=/s -e _ws.col.Protocol -e mapper.probe.kind -e mapper.probe.plane -e "
        "mapper.probe.uplink -e mapper.probe.sequence -e mapper.probe.nonce -e mapper.probe.sent");
    CHECK(lines == std::vector<std::string>{"PROBE 0 3 0 7 0x0a0b0c0d 1500000002000",
                                            "PROBE 1 3 2 8 0x0a0b0c0d 1500000002000",
                                            "PROBE 2 3 2 9 0x0a0b0c0d 1500000002000"});
    const auto carriers =
        lines_of(tshark, probes(topology, ProbeForm::kOwn), "-T fields -e mapper.carrier");
    REQUIRE(carriers.size() == 3);
    CHECK(carriers[1].find("p3.t0-1 > p3.t1-2 > p3.t0-1 > h5:p3") != std::string::npos);
  }

  TEST_CASE("tshark reads our LLDP frames field by field, and finds nothing malformed") {
    const Topology topology = octet();
    const Tshark tshark(lab::wireshark_dissector(&topology));
    FramePool pool(4);
    std::vector<std::vector<uint8_t>> frames;
    for (const char* port : {"h5:p3", "p3.t0-1:u2"}) {
      const Frame frame =
          make_lldp(pool, topology, topology.find_port(port).value(), 121, {false, {}});
      frames.emplace_back(frame.bytes().begin(), frame.bytes().end());
    }
    const std::string fields =
        "-T fields -E separator=/s -e lldp.tlv.system.name -e lldp.port.id -e lldp.time_to_live "
        "-e lldp.orgtlv.oui -e _ws.malformed";
    for (std::string& line : lines_of(tshark, frames, fields)) {
      CAPTURE(line);
      const bool host = line.starts_with("h5 p3 121 ");
      CHECK((host || line.starts_with("p3.t0-1 u2 121 ")));
      CHECK(line.find("alformed") == std::string::npos);
    }
  }

  TEST_CASE(
      "STAMP probes are STAMP to our dissector, and TWAMP-Test with a right checksum to Wireshark's own") {
    const Topology topology = octet();
    const Tshark tshark(lab::wireshark_dissector(&topology));
    const auto frames = probes(topology, ProbeForm::kStamp);
    CHECK(lines_of(tshark, frames,
                   "-T fields -E separator=/s -e _ws.col.Protocol -e mapper.stamp.seq_number -e "
                   "mapper.stamp.seconds -e mapper.stamp.nanoseconds -e mapper.stamp.ssid") ==
          std::vector<std::string>{"STAMP 7 1 500000002 0x0c0d", "STAMP 8 1 500000002 0x0c0d",
                                   "STAMP 9 1 500000002 0x0c0d"});
    CHECK(lines_of(
              tshark, frames,
              "-o udp.check_checksum:TRUE -d udp.port==862,twamp.test -T fields -E separator=/s "
              "-e twamp.test.seq_number -e twamp.test.error_estimate.z -e udp.checksum.status") ==
          std::vector<std::string>{"7 1,0 1", "8 1,0 1", "9 1,0 1"});
  }

  TEST_CASE(
      "tshark with our dissector names a mapper's reports and lists, and finds their checksums right") {
    const Topology topology = octet();
    const Tshark tshark(lab::wireshark_dissector(&topology));
    const auto frame_of = [&](const MapperMessage& message) {
      MessageFrameSpec spec;
      spec.source = spec.outer_source = host_address(topology, 0);
      spec.destination = host_address(topology, 5);
      spec.carrier = make_carrier(topology, 0, 5, Path{3, 2});
      spec.session = 0x0A0B0C0D;
      std::vector<uint8_t> frame(message_bytes(message));
      write_message(spec, message, frame);
      return frame;
    };
    const DeniedList list{77, {{PartKind::kLink, 3, 2, 1}, {PartKind::kPort, 4, 0, 6}}};
    const AgentReport report{9, 70, {ProbeFate::kBack, ProbeFate::kLost, ProbeFate::kSlow}};
    CHECK(lines_of(tshark, {frame_of(list), frame_of(report)},
                   "-o udp.check_checksum:TRUE -T fields -E separator=/s -e _ws.col.Protocol -e "
                   "_ws.col.Info -e mapper.message.count -e mapper.message.list -e "
                   "mapper.part.uplink -e udp.checksum.status") ==
          std::vector<std::string>{"MAPPER list link 3 2 1 port 4 0 6 2 77 2,0 1",
                                   "MAPPER report 3 70  1"});
  }
}
