// What libpcap reads of a veth, as VethTaps writes it. tests/live/world/taps_test.cc has it in a run.

#include "netio/runtime/veth_tap.h"

#include <doctest/doctest.h>

#include "netio/packet/frame_bundler.h"
#include "netio/record/pcapng.h"
#include "tests/netio/temporary_directory.h"
#include "tests/netio/test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

TEST_SUITE("root: packets") {
  TEST_CASE("a tap that finds frames bundled writes them one by one") {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    PacketSocket sender(lab.at("a"));
    FrameBundler bundler(sender, sender.longest_frame());
    const TemporaryDirectory folder;
    VethTaps taps({{"b:d0", &lab.at("b"), "d0", WireId{0}}}, folder / "taps.pcapng", 1 << 20);
    const auto one = make_frame(200, 1), two = make_frame(266, 2), big = make_frame(4000, 3);
    for (const auto* frame : {&one, &two, &big}) {
      bundler.add(sender.ifindex_of("p0"), FramePieces{*frame, {}, {}}, false);
    }
    bundler.finish();
    REQUIRE(sender.queued() == 2);
    REQUIRE(sender.flush().empty());
    const uint64_t begun = taps.rounds_begun();
    while (taps.packets() < 3 && taps.rounds_begun() < begun + 1000) ::poll(nullptr, 0, 1);
    const TapReport report = taps.finish();
    CHECK(report.packets == 3);
    CHECK(report.bytes == one.size() + two.size() + big.size());
  }
}
