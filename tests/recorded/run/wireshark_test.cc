// tshark with the generated dissector against our own decoder, field by field: frames made at random,
// a sample of short runs, and what daemons and libpcap capture of a live one. MRCLAB_NIGHTLY=1 takes
// the captures of every node in every incident: of each the first 300 packets of every kind, and from
// there on one in so many, some 12,000 in all.

#include "recorded/run/wireshark_dissector.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/capture/open_capture.h"
#include "analysis/judge/analyze.h"
#include "fabric/packet/trailer.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "lab/run/run_taps.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/recorded/run/dissector_agreement.h"
#include "tests/support/bundle_of.h"
#include "tests/support/capture_writer.h"
#include "tests/support/programs.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;
namespace fs = std::filesystem;

namespace {

using Bytes8 = std::vector<uint8_t>;

/// Puts a trailer behind a frame, as on a veth.
Bytes8 with_trailer(Bytes8 frame, Numbers& n, DropCause lost = DropCause::kNone) {
  TimeTrailer trailer;
  trailer.lab = n.next<uint32_t>();
  trailer.wire = WireId{n.next<uint32_t>()};
  trailer.incarnation = n.next<uint32_t>();
  trailer.modelled_size = static_cast<uint32_t>(frame.size());
  trailer.sequence = n.next<uint64_t>();
  trailer.start = FabricTime::from_ps(n.next<int64_t>() & 0xFFFF'FFFF'FFFF);
  trailer.end = trailer.start + FabricTime::from_ps(n.below(1u << 30));
  trailer.flight = FabricTime::from_ps(n.below(1u << 30));
  trailer.lost = lost;
  const size_t at = frame.size();
  frame.resize(at + kTrailerBytes);
  write_trailer(trailer, std::span<uint8_t, kTrailerBytes>(&frame[at], kTrailerBytes));
  return frame;
}

Bytes8 any_frame(Opcode opcode, uint64_t seed) {
  MrcFrameSpec spec = random_spec(opcode, seed, seed % 97);
  spec.ev.value |= 0xC000;  // as all senders: RoCEv2's range of ports
  if (seed % 5 == 0) spec.udp_port = kMrcUdpPortAlternate;
  return build_frame(spec);
}

/// Frames of every opcode with any values: plain, trimmed, cut, with trailers, lost.
std::vector<Bytes8> all_kinds_of_frames(uint64_t per_opcode) {
  std::vector<Bytes8> frames;
  FramePool pool;
  Numbers n{7};
  for (const Opcode opcode : kAllOpcodes) {
    for (uint64_t seed = 0; seed < per_opcode; ++seed) {
      Bytes8 frame = any_frame(opcode, seed * 31 + static_cast<uint64_t>(opcode));
      frames.push_back(frame);
      frames.push_back(with_trailer(frame, n));
      if (is_write(opcode)) frames.push_back(with_trailer(trim(frame), n));
      const Frame whole = pool.copy(frame);
      const Frame lost = make_void_frame(pool, whole);
      const auto bytes = lost.bytes();
      frames.push_back(with_trailer({bytes.begin(), bytes.end()}, n, DropCause::kWireLoss));
      frames.back()[frames.back().size() - 1 - seed % 64] ^= static_cast<uint8_t>(seed % 3 == 0);
      frame.resize(std::min<size_t>(frame.size(), 160));
      frames.push_back(frame);
      frames.push_back(with_trailer(frame, n));  // its payload is elided
    }
  }
  return frames;
}

fs::path save(const ScratchFile& file, const std::vector<Bytes8>& frames) {
  CaptureWriter writer;
  writer.interface("any");
  uint64_t t = 0;
  for (const Bytes8& frame : frames) {
    writer.packet(0, kInbound, ++t, frame, static_cast<uint32_t>(frame.size()));
  }
  writer.save(file.path());
  return file.path();
}

/// Up to `each` packets of every kind that the capture has, and `more` from all over it. `rest`: what
/// is no whole MRC frame, such as void frames, is a kind as well.
std::vector<Bytes8> sample(const fs::path& capture, size_t each, size_t more = 0,
                           bool rest = false) {
  uint64_t records = 0, index = 0;
  analysis::CaptureRecord record;
  for (const auto reader = analysis::open_capture(capture); reader->next(record);) ++records;
  const uint64_t every = more == 0 ? UINT64_MAX : records / more + 1;
  std::map<std::tuple<Opcode, bool, bool, ParseError>, size_t> taken;
  std::vector<Bytes8> frames;
  const auto reader = analysis::open_capture(capture);
  while (reader->next(record)) {
    MrcPacket packet;
    const ParseError error = parse_mrc_frame(record.bytes, packet, {true});
    if (error != ParseError::kNone && !rest) continue;
    if (error != ParseError::kNone) packet = {};
    size_t& count = taken[{packet.bth.opcode, packet.trimmed, packet.bth.retransmission, error}];
    if (++count > each && ++index % every != 0) continue;
    frames.emplace_back(record.bytes.begin(), record.bytes.end());
  }
  return frames;
}

void say(const char* what, const Agreement& agreement) {
  std::string kinds;
  for (const auto& [kind, count] : agreement.kinds) {
    kinds += "\n  " + kind + " " + std::to_string(count);
  }
  MESSAGE(std::string(what) << ": " << agreement.fields - agreement.wrong << " of "
                            << agreement.fields << " fields agree in " << agreement.packets
                            << " packets, " << agreement.mrc << " of them MRC, "
                            << agreement.trailers << " with a trailer" << kinds);
}

bool every_incident() { return std::getenv("MRCLAB_NIGHTLY") != nullptr; }

/// Runs in the simulator that between them hold every kind of packet.
std::vector<lab::Scenario> scenarios() {
  std::vector<lab::Scenario> result;
  for (const char* name : {"link-flap", "incast-victim"}) {
    if (!every_incident()) result.push_back(lab::load_scenario(name));
  }
  if (!every_incident()) return result;
  for (const std::string& name : mrclab::lab::shipped_names("incidents")) {
    result.push_back(lab::load_scenario(name));
    result.back().captures = lab::CaptureScope::kAll;
  }
  return result;
}

}  // namespace

TEST_SUITE("wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("tshark and our decoder agree on every field of frames of every kind") {
    const Tshark tshark(lab::wireshark_dissector(nullptr));
    const ScratchFile file("kinds.pcapng");
    Agreement agreement;
    compare(tshark, save(file, all_kinds_of_frames(12)), agreement);
    say("random frames", agreement);
    CHECK(agreement.first_wrong == "");
    CHECK(agreement.wrong == 0);
    CHECK(agreement.mrc > 500);
    CHECK(agreement.trailers > 300);
  }

  TEST_CASE("tshark and our decoder agree on every field of the captures of incidents") {
    Agreement agreement;
    for (const lab::Scenario& scenario : scenarios()) {
      const TemporaryRuns runs;
      const Tshark tshark(lab::wireshark_dissector(&scenario.topology));
      const auto result = runs.run(scenario);
      const fs::path capture = result.folder.captures() / "sim.pcapng";
      const ScratchFile file("sample.pcapng");
      const auto frames = every_incident() ? sample(capture, 300, 12'000) : sample(capture, 150);
      const uint64_t fields = agreement.fields;
      compare(tshark, save(file, frames), agreement);
      if (every_incident()) {
        MESSAGE(scenario.name << ": " << frames.size() << " packets, " << agreement.fields - fields
                              << " fields");
      }
    }
    say("incidents", agreement);
    CHECK(agreement.first_wrong == "");
    CHECK(agreement.wrong == 0);
    for (const char* kind :
         {"write_middle", "sent again write_middle", "trimmed write_middle", "sack", "nack",
          "probe_request", "endpoint_request", "endpoint_response"}) {
      CHECK_MESSAGE(agreement.kinds.contains(kind), kind);
    }
  }

  TEST_CASE("a field at a wrong place is found") {
    std::string text = lab::wireshark_dissector(nullptr);
    const std::string right = "label=\"Cumulative PSN\", bit=104, width=24";
    const size_t at = text.find(right);
    REQUIRE(at != std::string::npos);
    text.replace(at, right.size(), "label=\"Cumulative PSN\", bit=96, width=24");
    const ScratchFile file("shifted.pcapng");
    Agreement agreement;
    compare(Tshark(text), save(file, {any_frame(Opcode::kSack, 3)}), agreement);
    CHECK(agreement.wrong == 1);
    CHECK(agreement.first_wrong.find("mrc.seth.cack_psn") != std::string::npos);
  }

  TEST_CASE("no bytes at all make the dissector fail, and what is malformed is said") {
    std::vector<Bytes8> frames = all_kinds_of_frames(every_incident() ? 400 : 15);
    for (size_t i = 0; i < 100; ++i) {
      frames.push_back(bundle_of({frames[i], frames[i + 1], frames[i + 2]}));
    }
    Numbers n{11};
    for (Bytes8& frame : frames) {
      for (uint32_t changes = 1 + n.below(4); changes > 0; --changes) {
        frame[14 + n.below(static_cast<uint32_t>(frame.size()) - 14)] = n.next<uint8_t>();
      }
      if (n.flip()) frame.resize(n.below(static_cast<uint32_t>(frame.size())) + 1);
    }
    const Topology octet = read_fabric_file(lab::find_fabric("octet"));
    const Tshark tshark(lab::wireshark_dissector(&octet));
    const ScratchFile file("mutated.pcapng");
    save(file, frames);
    uint64_t lua_errors = 0, mrc = 0, malformed = 0;
    std::string first;
    tshark.lines(file.path(), "-V", [&](const std::string& line) {
      mrc += line.starts_with("Multipath Reliable Connection") ? 1 : 0;
      malformed += line.find("[Malformed: ") != std::string::npos ? 1 : 0;
      if (line.find("Lua Error") == std::string::npos && line.find(".lua:") == std::string::npos)
        return;
      if (lua_errors++ == 0) first = line;
    });
    CHECK(first == "");
    CHECK(lua_errors == 0);
    CHECK(mrc > frames.size() / 4);
    CHECK(malformed > 10);
  }

  TEST_CASE("the frames of a bundle are dissected as if each had come alone") {
    std::vector<Bytes8> frames = all_kinds_of_frames(1);
    for (size_t bytes = 0, i = 0; i < frames.size(); ++i) {  // what an IPv6 packet has room for
      bytes += frames[i].size() + kBundledLengthBytes;
      if (bytes > 60'000) frames.resize(i);
    }
    const Tshark tshark(lab::wireshark_dissector(nullptr));
    const ScratchFile alone("alone.pcapng"), together("together.pcapng");
    save(alone, frames);
    save(together, {bundle_of(frames)});
    const std::vector<std::string> fields{"mrc.bth.psn",   "mrc.ev",        "mrc.payload_length",
                                          "mrc.trimmed",   "mrc.error",     "mrctime.sequence",
                                          "mrctime.valid", "mrcvoid.count", "mrctime.lost"};
    std::string options = "-T fields";
    for (const std::string& field : fields) options += " -e " + field;
    // Of each field the values in all packets.
    const auto values = [&](const fs::path& capture) {
      std::vector<std::string> all(fields.size());
      tshark.lines(capture, options, [&](const std::string& line) {
        std::istringstream columns(line);
        std::string value;
        for (std::string& values_of_field : all) {
          if (!std::getline(columns, value, '\t') || value.empty()) continue;
          values_of_field += (values_of_field.empty() ? "" : ",") + value;
        }
      });
      return all;
    };
    const std::vector<std::string> shown = values(together.path());
    CHECK(shown == values(alone.path()));
    CHECK(std::count(shown.begin(), shown.end(), "") == 0);
  }

  TEST_CASE("what is no MRC on RoCEv2's port stays with Wireshark's own dissector") {
    Bytes8 frame = any_frame(Opcode::kWriteOnly, 1);
    frame[kBthOffset] = 0x04;  // RC SEND only
    const Tshark tshark(lab::wireshark_dissector(nullptr));
    const ScratchFile file("rocev2.pcapng");
    save(file, {frame});
    std::vector<std::string> shown;
    tshark.lines(file.path(), "-T fields -e infiniband.bth.opcode -e mrc.bth.opcode",
                 [&](const auto& line) { shown.push_back(line); });
    REQUIRE(shown.size() == 1);
    CHECK(shown[0] == "4\t");
  }

  TEST_CASE("the summary line says what a reader looks for, with the names of the fabric") {
    const Topology octet = read_fabric_file(lab::find_fabric("octet"));
    MrcFrameSpec spec;
    spec.carrier = make_carrier(octet, 0, 5, {3, 1});
    spec.inner_destination = host_address(octet, 5);
    spec.ev = ev_of({3, 1});
    spec.bth.opcode = Opcode::kSack;
    spec.bth.destination_qp = {0x12};
    Seth seth;
    seth.cumulative = Psn{123};
    seth.sack_offset = 1;
    seth.bitmap = 0b1011'0000;
    seth.mark = SackMark::kSkipOnce;
    spec.extension = seth;
    const Tshark tshark(lab::wireshark_dissector(&octet));
    const ScratchFile file("sack.pcapng");
    save(file, {build_frame(spec)});
    std::vector<std::string> shown;
    tshark.lines(file.path(), "-T fields -e _ws.col.Protocol -e _ws.col.Info -e mrc.carrier",
                 [&](const auto& line) { shown.push_back(line); });
    REQUIRE(shown.size() == 1);
    CHECK(shown[0] ==
          "MRC\tSACK qp 0x12 psn 0 cum 123 +128-129,131 skip_once p3/u1\t"
          "2300 1301 2301 e301 (p3.t0-0 > p3.t1-1 > p3.t0-1 > h5:p3)");
  }

  TEST_CASE("packets without a carrier are read over IPv6 and IPv4, with the whole entropy value") {
    const Tshark tshark(lab::wireshark_dissector(nullptr));
    for (const auto& [kind, chosen, path] :
         {std::tuple{Encapsulation::kIpv6, Chosen::kByHashIpv6, "p3/e17"},
          std::tuple{Encapsulation::kIpv4, Chosen::kByHashIpv4, "p3/f17"}}) {
      MrcFrameSpec spec;
      spec.encapsulation = kind;
      spec.inner_source = host_address_ipv4(1);
      spec.inner_destination = host_address_ipv4(5);
      spec.ev = ev_of({3, 17, chosen});
      spec.bth.opcode = Opcode::kNack;
      spec.extension = Neth{};
      const ScratchFile file("hashed.pcapng");
      save(file, {build_frame(spec)});
      std::vector<std::string> shown;
      tshark.lines(file.path(), "-T fields -e _ws.col.Protocol -e mrc.path -e mrc.ev -e mrc.error",
                   [&](const auto& line) { shown.push_back(line); });
      REQUIRE(shown.size() == 1);
      char expected[64];
      std::snprintf(expected, sizeof expected, "MRC\t%s\t0x%08x\t", path, spec.ev.value);
      CHECK(shown[0] == expected);
    }
  }

  TEST_CASE("a file of somebody else's is not overwritten") {
    const ScratchFile folder("plugins");
    const std::string text = lab::wireshark_dissector(nullptr);
    const fs::path file = lab::write_dissector(folder.path(), text);
    CHECK(lab::write_dissector(folder.path(), text) == file);
    std::ofstream(file) << "-- mine\n";
    CHECK_THROWS_AS(lab::write_dissector(folder.path(), text), InputError);
    fs::remove_all(folder.path());
  }
}

/// Losses that the sender sees (void frames), trims, and retransmissions.
constexpr const char* kLive = R"(
name: dissected
fabric: octet
workload:
  - incast: {from: "h4, h5", to: h0, load: 100%, message: 16KiB}
faults:
  - {at: 10us, wire_loss: {link: "h4:p0", loss: 10%, until: 50us}}
end: 60us
captures: all
taps: all
expect: []
)";

TEST_SUITE("root: wireshark" * doctest::skip(!test::has_program("tshark"))) {
  TEST_CASE("tshark and our decoder agree on what daemons and libpcap capture of a live run") {
    const TemporaryRuns runs;
    lab::RunOptions options = runs.options(lab::World::kLive);
    options.lab_name = "t_dissect_" + std::to_string(::getpid());
    const lab::Scenario scenario = lab::parse_scenario(read_yaml_text(kLive, "dissected.yaml"));
    const auto result = lab::run_scenario(scenario, options);
    const Tshark tshark(lab::wireshark_dissector(&scenario.topology));
    const ScratchFile file("live.pcapng");
    Agreement taps, daemons;
    compare(tshark, save(file, sample(lab::tap_file(result.folder), 150, 1000, true)), taps);
    for (const auto& capture : analysis::captures_in(result.folder.captures())) {
      compare(tshark, save(file, sample(capture, 20, 100)), daemons);
    }
    say("live, by libpcap", taps);
    say("live, by the daemons", daemons);
    CHECK(taps.first_wrong == "");
    CHECK(daemons.first_wrong == "");
    CHECK(taps.wrong + daemons.wrong == 0);
    CHECK(taps.trailers == taps.packets);
    CHECK(daemons.trailers == 0);
    for (const char* kind : {"write_middle", "sent again write_middle", "sack"}) {
      CHECK_MESSAGE(taps.kinds.contains(kind), kind);
      CHECK_MESSAGE(daemons.kinds.contains(kind), kind);
    }
  }
}
