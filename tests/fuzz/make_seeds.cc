// Writes the checked-in seeds of the binary fuzz targets: make_seeds tests/fuzz/corpus. Only needed
// again when a format changes.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "fabric/history/history.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/packet/trailer.h"
#include "fabric/probes/mapper_message.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/hostile_program.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

using Bytes8 = std::vector<uint8_t>;

class Seeds {
 public:
  explicit Seeds(std::filesystem::path root) : root_(std::move(root)), topology_(octet()) {}

  void write_all() {
    for (const Opcode opcode : kAllOpcodes) write_opcode(opcode);
    for (const Opcode opcode : kRcOpcodes) write_rc(opcode);
    write_pause_frame();
    write_mapper_messages();
    write_carriers();
    write_void();
    write_hostile_programs();
    write("report_text", "streams",
          as_bytes(history_to_text(
              HistoryDigest(topology_, topology_.host(0), FabricTime::zero()).streams())));
  }

 private:
  static Bytes8 as_bytes(const std::string& text) { return {text.begin(), text.end()}; }

  void write(const std::string& corpus, const std::string& name, const Bytes8& bytes) {
    std::filesystem::create_directories(root_ / corpus);
    std::ofstream out(root_ / corpus / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out) throw std::runtime_error("write seed " + name);
  }

  /// A frame as the lab sends it: host 1 to host 6 of octet over p3/u2.
  MrcFrameSpec real_spec(Opcode opcode) {
    MrcFrameSpec spec = random_spec(opcode, 7, 21);
    spec.outer_source = spec.inner_source = host_address(topology_, 1);
    spec.inner_destination = host_address(topology_, 6);
    spec.carrier = make_carrier(topology_, 1, 6, Path{3, 2});
    spec.ev = ev_of({3, 2});
    return spec;
  }

  static Bytes8 with_trailer(Bytes8 frame, DropCause lost) {
    TimeTrailer trailer;
    trailer.lab = 1;
    trailer.wire = WireId{17};
    trailer.modelled_size = static_cast<uint32_t>(frame.size());
    trailer.sequence = 42;
    trailer.start = FabricTime::from_us(300);
    trailer.end = FabricTime::from_us(301);
    trailer.flight = FabricTime::from_ns(500);
    trailer.lost = lost;
    std::array<uint8_t, kTrailerBytes> bytes;
    write_trailer(trailer, bytes);
    frame.insert(frame.end(), bytes.begin(), bytes.end());
    return frame;
  }

  void write_opcode(Opcode opcode) {
    const std::string name(name_of(opcode));
    const Bytes8 frame = build_frame(real_spec(opcode));
    write("mrc_frame", name, frame);
    if (opcode != Opcode::kWriteOnlyImm && opcode != Opcode::kSack) return;
    write("mrc_frame", name + "-with-trailer", with_trailer(frame, DropCause::kNone));
    write("trailer", name, with_trailer(frame, DropCause::kNone));
    write("ipv6", name, Bytes8(frame.begin() + kOuterOffset, frame.begin() + kInnerOffset));
    if (is_write(opcode)) write("mrc_frame", name + "-trimmed", trim(frame));
  }

  void write_rc(Opcode opcode) {
    MrcFrameSpec spec = real_spec(opcode);
    spec.encapsulation = opcode == Opcode::kSendOnly ? Encapsulation::kIpv4 : Encapsulation::kIpv6;
    write("mrc_frame", "rc-" + std::string(name_of(opcode)), build_frame(spec));
  }

  void write_pause_frame() {
    Bytes8 frame(kPauseFrameBytes);
    PauseFrame pause;
    pause.classes = 1u << kLosslessPriority;
    pause.quanta.fill(kPauseQuanta);
    write_pause(pause, {}, std::span<uint8_t, kPauseFrameBytes>(frame));
    write("mrc_frame", "pause", frame);
  }

  void write_mapper_messages() {
    const auto put = [&](const std::string& name, const MapperMessage& message) {
      MessageFrameSpec spec;
      spec.outer_source = spec.source = host_address(topology_, 1);
      spec.destination = host_address(topology_, 6);
      spec.carrier = make_carrier(topology_, 1, 6, Path{3, 2});
      Bytes8 frame(message_bytes(message));
      write_message(spec, message, frame);
      write("mapper_message", name, frame);
    };
    put("report", AgentReport{9, 70, {ProbeFate::kBack, ProbeFate::kLost, ProbeFate::kSlow}});
    put("list", DeniedList{77, {{PartKind::kLink, 3, 2, 1}, {PartKind::kPort, 4, 0, 6}}});
  }

  void write_void() {
    FramePool pool(64);
    const Frame lost = pool.copy(build_frame(real_spec(Opcode::kWriteOnly)));
    const Frame frame = make_void_frame(pool, lost);
    write("trailer", "void",
          with_trailer({frame.bytes().begin(), frame.bytes().end()}, DropCause::kWireLoss));
    write("trailer", "alone", with_trailer({}, DropCause::kNone));
  }

  /// Per kind of mutation a fabric, traffic, and eight steps of that kind; for RC the same once more.
  void write_hostile_programs() {
    for (size_t kind = 0; kind < 2 * kMutationNames.size(); ++kind) write_hostile_program(kind);
  }
  void write_hostile_program(size_t number) {
    const size_t kind = number % kMutationNames.size();
    const bool rc = number >= kMutationNames.size();
    Numbers n(number);
    Bytes8 program;
    for (int i = 0; i < 6; ++i) program.push_back(n.next<uint8_t>());
    if (rc) {  // with pauses (hostile_setup.h)
      program[0] |= 0x80;
      program[1] |= 0xC0;
    }
    for (int step = 0; step < 8; ++step) {
      program.push_back(static_cast<uint8_t>(n.below(24)));
      program.push_back(static_cast<uint8_t>(kind));
      for (int i = 0; i < 4; ++i) program.push_back(n.next<uint8_t>());
    }
    write("endpoint", (rc ? "rc-" : "") + std::string(kMutationNames[kind]), program);
  }

  void write_carriers() {
    const auto address = [](const Ipv6Address& a) { return Bytes8(a.begin(), a.end()); };
    write("carrier", "cross", address(make_carrier(topology_, 1, 6, Path{3, 2})));
    write("carrier", "local", address(make_carrier(topology_, 1, 2, Path{7, kT0LocalUplink})));
    write("carrier", "kernel",
          address(make_carrier(topology_, 7, 0, Path{0, 3}, UsidRole::kHostKernel)));
    write("carrier", "host", address(host_address(topology_, 6)));
    write("carrier", "path", as_bytes(to_string(Path{12, 345})));
    write("carrier", "local-path", as_bytes(to_string(Path{3, kT0LocalUplink})));
    const uint32_t ev = ev_of({3, 2}).value;
    write("carrier", "ev",
          {0, static_cast<uint8_t>(ev >> 16), static_cast<uint8_t>(ev >> 8),
           static_cast<uint8_t>(ev)});
  }

  std::filesystem::path root_;
  Topology topology_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_seeds tests/fuzz/corpus\n";
    return 2;
  }
  Seeds(argv[1]).write_all();
}
