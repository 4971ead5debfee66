#include "netio/record/pcapng.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "temporary_directory.h"
#include "test_lab.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;
using mrclab::test::lines_of;

namespace {

PcapngRecord record_of(uint32_t interface, int64_t ns, std::span<const uint8_t> bytes) {
  PcapngRecord record;
  record.interface = interface;
  record.t = FabricTime::from_ns(ns);
  record.bytes = bytes;
  return record;
}

/// Walks the blocks of a file; false unless they are whole and both lengths agree.
bool blocks_are_whole(const std::string& file) {
  size_t at = 0;
  while (at + 12 <= file.size()) {
    uint32_t head = 0, tail = 0;
    std::memcpy(&head, &file[at + 4], 4);
    if (head < 12 || head % 4 != 0 || at + head > file.size()) return false;
    std::memcpy(&tail, &file[at + head - 4], 4);
    if (tail != head) return false;
    at += head;
  }
  return at == file.size();
}

/// Files of this process may not grow beyond `bytes` while this lives: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

}  // namespace

TEST_SUITE("pcapng") {
  TEST_CASE("tshark reads names, nanoseconds, directions, lengths and comments") {
    TemporaryDirectory directory;
    const auto path = directory / "a.pcapng";
    const auto frame = make_frame(4246, 1);
    PcapngOptions options;
    options.snap_length = 160;
    options.comment = "run 7";
    {
      PcapngWriter writer(path, options);
      const uint32_t port = writer.add_interface("h0:p0", "h0:p0--p0.t0-0:d0");
      const uint32_t drops = writer.add_interface("h0:drop");
      PcapngRecord record = record_of(port, 1'234'567'891, frame);
      record.direction = Direction::kEgress;
      CHECK(writer.write(record));
      record = record_of(drops, 5'000'000'000'007, std::span(frame).first(61));
      record.original_length = 4246;
      record.comment = "drop: queue_full";
      CHECK(writer.write(record));
      CHECK(writer.written() == 2);
      writer.close({});
      writer.close({});  // once is enough, twice does no harm
    }
    const auto lines = lines_of(output_of(
        "HOME=/nonexistent tshark -r " + path.string() +
        " -T fields -E separator='|' -e frame.interface_name -e frame.interface_description -e "
        "frame.time_epoch -e frame.packet_flags_direction -e frame.cap_len -e frame.len -e "
        "frame.comment 2>/dev/null"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == "h0:p0|h0:p0--p0.t0-0:d0|1.234567891|0x00000002|160|4246|");
    CHECK(lines[1] == "h0:drop||5000.000000007|0x00000001|61|4246|drop: queue_full");
    const std::string summary = output_of("capinfos -Mk " + path.string());
    CHECK(summary.find("mrclab") != std::string::npos);
    CHECK(summary.find("run 7") != std::string::npos);
  }

  TEST_CASE("tcpdump reads the file with its nanoseconds") {
    TemporaryDirectory directory;
    const auto path = directory / "a.pcapng";
    const auto frame = make_frame(100, 2, 0x88B5);
    {
      PcapngWriter writer(path);
      writer.add_interface("p0");
      writer.write(record_of(0, 42, frame));
    }
    const std::string text = output_of("tcpdump --time-stamp-precision=nano -tt -n -r " +
                                       path.string() + " | grep ethertype");
    CHECK_MESSAGE(text.find("\n0.000000042 02:00") != std::string::npos, text);
  }

  TEST_CASE("at its size bound the file stops, counts, and stays readable") {
    TemporaryDirectory directory;
    const auto path = directory / "a.pcapng";
    const auto frame = make_frame(200, 3);
    PcapngOptions options;
    uint64_t written = 0;
    // Bounds that leave more or less room behind the last frame.
    for (const uint64_t bound : {9'900u, 9'950u, 10'000u, 10'050u, 10'100u}) {
      options.max_file_bytes = bound;
      PcapngWriter writer(path, options);
      writer.add_interface("p0");
      for (int i = 0; i < 100; ++i) writer.write(record_of(0, i, frame));
      written = writer.written();
      CHECK(written + writer.skipped() == 100);
      CHECK(written > 30);
      // Nothing smaller slips in later: the recording ends at one instant.
      CHECK_FALSE(writer.write(record_of(0, 101, std::span(frame).first(14))));
      writer.close({});
      CHECK(std::filesystem::file_size(path) <= options.max_file_bytes);
    }
    CHECK(lines_of(output_of("HOME=/nonexistent tshark -r " + path.string() +
                             " -T fields -e frame.number 2>/dev/null"))
              .size() == written);
    const std::string file = read_file(path);
    CHECK(blocks_are_whole(file));
    CHECK(file.find("recording stopped") != std::string::npos);
  }

  TEST_CASE("the seal says until when the file is complete; others read it as a comment") {
    TemporaryDirectory directory;
    const auto path = directory / "a.pcapng";
    const auto frame = make_frame(200, 3);
    PcapngOptions options;
    options.max_file_bytes = 5000;
    PcapngWriter writer(path, options);
    writer.add_interface("p0");
    for (const int64_t t : {100, 300, 200}) writer.write(record_of(0, t, frame));
    while (writer.skipped() == 0) writer.write(record_of(0, 400, frame));
    writer.write(record_of(0, 350, frame));  // another node's, which runs later
    writer.close({.nodes = {NodeId{2}, NodeId{3}}, .from = {}});
    const std::string file = read_file(path);
    CHECK(blocks_are_whole(file));
    CHECK(file.find(fmt::format("sealed: nodes 2-3 from 0 ps until 350000 ps, {} records, crc32 ",
                                writer.written())) != std::string::npos);
    // No reader takes the seal for a packet, nor stumbles over it.
    CHECK(lines_of(output_of("HOME=/nonexistent tshark -r " + path.string() +
                             " -T fields -e frame.number 2>&1 | grep -v root"))
              .size() == writer.written());
    CHECK(output_of("capinfos -c " + path.string() + " 2>&1")
              .find(fmt::format("{}", writer.written())) != std::string::npos);
    CHECK(lines_of(output_of("tcpdump -n -r " + path.string() + " 2>/dev/null | grep '^[0-9]'"))
              .size() == writer.written());
  }

  TEST_CASE("a full disk is an error, and the file ends with a whole block") {
    TemporaryDirectory directory;
    const auto path = directory / "a.pcapng";
    const auto frame = make_frame(200, 4);
    PcapngOptions options;
    options.buffer_bytes = 3000;
    PcapngWriter writer(path, options);
    writer.add_interface("p0");
    const FileSizeLimit limit(20'000);
    try {
      for (int i = 0; i < 1000; ++i) writer.write(record_of(0, i, frame));
      FAIL("the disk took everything");
    } catch (const SystemError& error) {
      CHECK(error.kind() == ErrorKind::kDiskFull);
      CHECK(exit_code(error) == 3);
      CHECK(explain(error).find("disk space") != std::string::npos);
      CHECK(explain(error).find("a.pcapng") != std::string::npos);
    }
    CHECK_FALSE(writer.write(record_of(0, 1000, frame)));  // no holes
    writer.close({});
    const std::string file = read_file(path);
    CHECK(file.size() > 10'000);
    CHECK(blocks_are_whole(file));
  }

  TEST_CASE("a file that cannot be made is refused at once") {
    CHECK_THROWS_AS(PcapngWriter("/no/such/directory/a.pcapng"), SystemError);
    CHECK_THROWS_AS(PcapngWriter("/dev/full"), SystemError);
  }
}
