// RoCE as Wireshark sees it, without any plug-in of ours: every frame of a run in which packets are lost,
// marked and paused is decoded by its own dissectors, none is malformed, and its fields are what we meant.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fabric/packet/pause_frame.h"
#include "tests/support/capture_writer.h"
#include "tests/support/fabrics.h"
#include "tests/support/programs.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

using FrameBytes = std::vector<uint8_t>;

/// What a host sent while two wrote to one, some packets were lost, and its NIC paused them now and then.
std::vector<FrameBytes> roce_frames() {
  FabricShape shape = test::shape_of("roce", 2, 2, 2, 2);
  shape.routing.by_default = Routing::kEcmp;
  shape.lossless.pfc = true;
  const Topology topology = build_topology(shape);
  SimFabric::Options options;
  options.profile = make_profile("roce", topology);
  for (const uint32_t from : {0u, 1u}) {
    WriteSpec write;
    write.from = from;
    write.to = 2;
    write.size = {70'001};  // FIRST, MIDDLE, LAST with immediate, and pad
    write.count = 16;
    write.qps = 2;
    options.workloads.emplace_back(write);
    write.size = {513};
    write.count = 70;
    options.workloads.emplace_back(write);
  }
  SimFabric fabric(topology, options);
  for (const Wire& wire : topology.all_wires()) {
    fabric.apply(FabricTime::zero(), random_loss(wire.id, {5'000'000}));
  }
  fabric.apply(us(60), HostStorm{topology.host(2), true});
  fabric.apply(us(100), HostStorm{topology.host(2), false});
  std::vector<FrameBytes> frames;
  for (test::RecordingObserver& observer : fabric.observers) {
    observer.on_packet = [&](const PacketRecord& r) {
      if (r.direction != Direction::kEgress || r.event != PacketEvent::kPassed) return;
      if (r.frame && frames.size() < 20'000) {
        frames.emplace_back(r.frame.bytes().begin(), r.frame.bytes().end());
      }
    };
  }
  fabric.run_until(us(2'000));
  return frames;
}

/// The columns that tshark is asked for.
constexpr const char* kColumns[] = {
    "infiniband.bth.opcode",  "infiniband.bth.destqp",    "infiniband.bth.psn",
    "infiniband.bth.a",       "infiniband.reth.va",       "infiniband.reth.r_key",
    "infiniband.reth.dmalen", "infiniband.immdt",         "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",    "infiniband.invariant.crc", "macc.opcode",
    "macc.cbfc.enbv.c3",      "macc.cbfc.pause_time.c3",  "udp.dstport",
    "_ws.malformed",          "_ws.expert.severity",      "frame.protocols"};
using Row = std::map<std::string, std::string>;

uint64_t number(const std::string& text) {
  return text.empty() ? ~uint64_t{0} : std::stoull(text, nullptr, 0);
}

std::vector<Row> shown_by_tshark(const std::filesystem::path& capture) {
  std::string command = "HOME=/nonexistent tshark -n -r " + capture.string() +
                        " -T fields -E separator=/t -E occurrence=f";
  for (const char* column : kColumns) command += std::string(" -e ") + column;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::vector<Row> rows;
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t n; (n = ::getline(&line, &room, pipe)) > 0;) {
    Row row;
    size_t column = 0;
    for (ssize_t i = 0; i < n && line[i] != '\n'; ++i) {
      if (line[i] == '\t') {
        ++column;
      } else {
        row[kColumns[column]] += line[i];
      }
    }
    rows.push_back(std::move(row));
  }
  std::free(line);
  CHECK(::pclose(pipe) == 0);
  return rows;
}

/// What it should have shown, of an RC packet.
void check_packet(const FrameBytes& frame, Row row) {
  MrcPacket packet;
  REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
  CHECK(number(row["infiniband.bth.opcode"]) == static_cast<uint64_t>(packet.bth.opcode));
  CHECK(number(row["infiniband.bth.destqp"]) == packet.bth.destination_qp.value);
  CHECK(number(row["infiniband.bth.psn"]) == packet.bth.psn.value());
  CHECK((row["infiniband.bth.a"] == "1" || row["infiniband.bth.a"] == "True") ==
        packet.bth.ack_request);
  if (packet.bth.opcode == Opcode::kCongestionNotification) return;  // Wireshark 4.0 has no CNP
  const uint8_t* const crc = &frame[frame.size() - kIcrcBytes];
  const uint32_t in_order = uint32_t{crc[0]} << 24 | uint32_t{crc[1]} << 16 | crc[2] << 8u | crc[3];
  CHECK(number(row["infiniband.invariant.crc"]) == in_order);
  if (const auto* request = std::get_if<RcHeaders>(&packet.extension)) {
    const Reth none{~uint64_t{0}, 0, 0};
    const Reth reth = request->reth.value_or(none);
    CHECK(number(row["infiniband.reth.va"]) == reth.va);
    if (request->reth) {
      CHECK(number(row["infiniband.reth.r_key"]) == reth.rkey);
      CHECK(number(row["infiniband.reth.dmalen"]) == reth.dma_length);
    }
    CHECK(row.contains("infiniband.immdt") == request->immediate.has_value());
  } else {
    const Aeth& aeth = std::get<Aeth>(packet.extension);
    CHECK(number(row["infiniband.aeth.syndrome"]) == aeth.syndrome);
    CHECK(number(row["infiniband.aeth.msn"]) == aeth.msn);
  }
}

}  // namespace

TEST_SUITE("wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("every frame of a RoCE run is decoded without a plug-in, and none is malformed") {
    const std::vector<FrameBytes> frames = roce_frames();
    REQUIRE(frames.size() > 1'000);
    test::CaptureWriter writer;
    writer.interface("any");
    uint64_t t = 0;
    for (const FrameBytes& frame : frames) {
      writer.packet(0, test::kInbound, ++t, frame, static_cast<uint32_t>(frame.size()));
    }
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("roce-" + std::to_string(::getpid()) + ".pcapng");
    writer.save(file);
    const std::vector<Row> rows = shown_by_tshark(file);
    std::filesystem::remove(file);
    REQUIRE(rows.size() == frames.size());
    std::map<uint64_t, uint64_t> opcodes;
    uint64_t pauses = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      Row row = rows[i];
      CAPTURE(i);
      CAPTURE(row["frame.protocols"]);
      CHECK_FALSE(row.contains("_ws.malformed"));
      if (is_mac_control(frames[i])) {
        ++pauses;
        CHECK(row["frame.protocols"].find("macc") != std::string::npos);
        CHECK(number(row["macc.opcode"]) == 0x0101);
        CHECK(number(row["macc.cbfc.pause_time.c3"]) == lossless_quanta(frames[i]).value());
        continue;
      }
      CHECK(row["frame.protocols"].find("infiniband") != std::string::npos);
      ++opcodes[number(row["infiniband.bth.opcode"])];
      check_packet(frames[i], row);
    }
    CHECK(pauses > 4);
    // FIRST, MIDDLE, LAST with immediate, ONLY with and without one, acknowledgements, CNPs.
    for (const uint64_t opcode : {0x06, 0x07, 0x09, 0x0A, 0x0B, 0x11, 0x81}) {
      CAPTURE(opcode);
      CHECK(opcodes[opcode] > 0);
    }
  }
}
