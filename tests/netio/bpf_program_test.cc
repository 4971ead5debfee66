#include "netio/kernel/bpf_program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>

#include "bpf_objects.h"
#include "netio/system/system_error.h"
#include "switchd/bpf/usid_switch_object.h"
#include "test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

/// As frame_counter.bpf.c has it.
struct FrameCount {
  uint64_t frames = 0;
  uint64_t bytes = 0;
  bool operator==(const FrameCount&) const = default;
};

/// Two namespaces with a veth between them, one that sends and one that counts.
struct CountedCable {
  CountedCable() {
    lab.add("from");
    lab.add("to");
    lab.link("from", "p0", "to", "p0");
    ifindex = static_cast<int>(NamespaceNetlink(lab.at("to")).ifindex("p0"));
  }
  void attach(const BpfProgram& program) {
    lab.at("to").run_in([&] { program.attach_to_ingress(ifindex); });
  }
  std::optional<BpfMap> attached(const std::string& name) {
    return lab.at("to").run_in([&] { return attached_map(ifindex, name); });
  }
  void send(size_t count, size_t size) {
    PacketSocket sender(lab.at("from")), receiver(lab.at("to"));
    const uint32_t out = sender.ifindex_of("p0");
    const std::vector<uint8_t> frame = make_frame(size, 1);
    for (size_t i = 0; i < count; ++i) sender.queue(out, frame);
    REQUIRE(sender.flush().empty());
    REQUIRE(receive(receiver, count).size() == count);
  }

  TestLab lab;
  int ifindex = 0;
};

BpfProgram load_counter() { return BpfProgram::load(frame_counter_object(), "count_frames"); }

/// The error number of the SystemError that `attempt` throws, or 0; its text goes to `text`.
int error_of(const std::function<void()>& attempt, std::string* text = nullptr) {
  try {
    attempt();
  } catch (const SystemError& error) {
    if (text != nullptr) *text = error.what();
    return error.error_number();
  }
  return 0;
}

/// What goes to stderr meanwhile.
std::string printed_during(const std::function<void()>& work) {
  const FileDescriptor file(check_system_call("make a file", ::memfd_create("stderr", 0)));
  const FileDescriptor before(check_system_call("keep stderr", ::dup(STDERR_FILENO)));
  ::dup2(file.get(), STDERR_FILENO);
  work();
  ::dup2(before.get(), STDERR_FILENO);
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(::pread(file.get(), text.data(), text.size(), 0)));
  return text;
}

}  // namespace

TEST_SUITE("BPF programs") {
  TEST_CASE("bytes that are no object are an error, and nothing is printed") {
    std::vector<uint8_t> bytes(300, 0x5A);
    const auto load = [&] { CHECK_THROWS_AS(BpfProgram::load(bytes, "any"), SystemError); };
    CHECK(printed_during(load) == "");
    const std::string magic =
        "\x7f"
        "ELF\x02\x01\x01";
    std::copy(magic.begin(), magic.end(), bytes.begin());
    CHECK(printed_during(load) == "");
  }

  TEST_CASE("a build without a program says so, and what to install") {
    CHECK(error_of([] { BpfProgram::load({}, "any"); }) == EOPNOTSUPP);
    const auto why = why_no_bpf({});
    REQUIRE(why);
    CHECK(why->find("apt-get install") != std::string::npos);
    CHECK(why->find("clang") != std::string::npos);
  }
}

TEST_SUITE("root: BPF programs" * doctest::skip(frame_counter_object().empty())) {
  TEST_CASE("the kernel takes the program of our switches") {
    CHECK(why_no_bpf(switchd::usid_switch_object()).value_or("") == "");
  }

  TEST_CASE("entries of a map are set, read, replaced, listed and erased") {
    const BpfProgram program = load_counter();
    BpfMap map = program.map("counts_by_length");
    CHECK(map.name() == "counts_by_lengt");
    CHECK(map.max_entries() == 8);
    CHECK(map.keys<uint32_t>().empty());
    CHECK_FALSE(map.get<FrameCount>(64u));
    for (uint32_t key = 1; key <= 8; ++key) map.set(key, FrameCount{key, 0});
    map.set(5u, FrameCount{50, 500});
    CHECK(map.get<FrameCount>(5u) == FrameCount{50, 500});
    CHECK(map.get<FrameCount>(8u) == FrameCount{8, 0});
    auto keys = map.keys<uint32_t>();
    std::sort(keys.begin(), keys.end());
    CHECK(keys == std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(map.erase(5u));
    CHECK_FALSE(map.erase(5u));
    CHECK_FALSE(map.get<FrameCount>(5u));
    CHECK(map.keys<uint32_t>().size() == 7);
    // Another descriptor of the same map.
    CHECK(program.map("counts_by_length").get<FrameCount>(8u) == FrameCount{8, 0});
  }

  TEST_CASE("what does not fit a map is an error that says why") {
    const BpfProgram program = load_counter();
    BpfMap map = program.map("counts_by_length");
    std::string text;
    CHECK(error_of([&] { map.set(uint16_t{1}, FrameCount{}); }, &text) == EINVAL);
    CHECK(text.find("counts_by_lengt") != std::string::npos);
    CHECK(text.find("keys have 4 bytes, not 2") != std::string::npos);
    CHECK(error_of([&] { map.set(1u, uint64_t{1}); }, &text) == EINVAL);
    CHECK(text.find("values have 16 bytes, not 8") != std::string::npos);
    CHECK(error_of([&] { map.get<uint64_t>(1u); }) == EINVAL);
    CHECK(error_of([&] { map.get<FrameCount>(uint64_t{1}); }) == EINVAL);
    CHECK(error_of([&] { map.erase(uint64_t{1}); }) == EINVAL);
    CHECK(error_of([&] { map.keys<uint64_t>(); }) == EINVAL);
    for (uint32_t key = 1; key <= 8; ++key) map.set(key, FrameCount{});
    CHECK(error_of([&] { map.set(9u, FrameCount{}); }) == E2BIG);
    // Its values are more bytes than one.
    CHECK(error_of([&] { program.map("by_processor").get<uint64_t>(0u); }) == EINVAL);
    CHECK(error_of([&] { program.map("no_such_map"); }) == ENOENT);
    CHECK(error_of([] { BpfMap{FileDescriptor::open("/dev/null", O_RDONLY)}; }) != 0);
  }

  TEST_CASE("a program counts what comes in, and is told and asked by maps that were found") {
    CountedCable cable;
    cable.attach(load_counter());  // whose descriptors are closed again
    std::optional<BpfMap> counts = cable.attached("counts_by_length");
    REQUIRE(counts);
    counts->set(100u, FrameCount{});
    cable.send(3, 100);
    cable.send(1, 90);
    CHECK(counts->get<FrameCount>(100u) == FrameCount{3, 300});
    CHECK_FALSE(counts->get<FrameCount>(90u));

    std::optional<BpfMap> skip = cable.attached("frames_to_skip");
    REQUIRE(skip);
    CHECK(skip->name() == "frames_to_skip");
    skip->set(0u, uint32_t{2});
    cable.send(5, 100);
    CHECK(cable.attached("counts_by_length")->get<FrameCount>(100u) == FrameCount{6, 600});
  }

  TEST_CASE("a program takes the place of another") {
    CountedCable cable;
    const BpfProgram first = load_counter(), second = load_counter();
    first.map("counts_by_length").set(1u, FrameCount{1, 1});
    second.map("counts_by_length").set(1u, FrameCount{2, 2});
    cable.attach(first);
    CHECK(cable.attached("counts_by_length")->get<FrameCount>(1u) == FrameCount{1, 1});
    cable.attach(second);
    CHECK(cable.attached("counts_by_length")->get<FrameCount>(1u) == FrameCount{2, 2});
  }

  TEST_CASE("no map is found where there is no program, or no map of this name") {
    CountedCable cable;
    CHECK_FALSE(cable.attached("counts_by_length"));
    cable.attach(load_counter());
    CHECK(cable.attached("counts_by_length"));
    CHECK_FALSE(cable.attached("counts"));
    CHECK_FALSE(cable.attached("no_such_map"));
    CHECK(output_of("tc -n " + namespace_name("to") + " filter del dev p0 ingress") == "");
    CHECK_FALSE(cable.attached("counts_by_length"));
    cable.ifindex = 4711;
    CHECK(error_of([&] { cable.attached("counts_by_length"); }) == ENODEV);
    CHECK(error_of([&] { cable.attach(load_counter()); }) != 0);
  }

  TEST_CASE("a program that the kernel refuses is an error with the verifier's last words") {
    std::string text;
    const std::string printed = printed_during([&] {
      // Not EACCES, which the verifier returns and which would mean that the user lacks rights.
      CHECK(error_of([] { BpfProgram::load(refused_object(), "read_beyond"); }, &text) == EINVAL);
    });
    CHECK(printed == "");
    CHECK(text.find("read_beyond") != std::string::npos);
    CHECK(text.find("invalid access to packet") != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.size() < 1200);
    const auto why = why_no_bpf(refused_object());
    REQUIRE(why);
    CHECK(why->find("CONFIG_BPF") != std::string::npos);
    CHECK(error_of([] { BpfProgram::load(frame_counter_object(), "no_such_program"); }) == ENOENT);
  }
}
