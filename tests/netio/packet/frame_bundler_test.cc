#include "netio/packet/frame_bundler.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/netio/test_lab.h"

using namespace mrclab;
using namespace mrclab::netio;
using namespace mrclab::netio::test;

namespace {

constexpr size_t kLongest = kFrameCapacity + kTrailerReserve;

/// a has two links to b.
struct TwoLinks {
  TwoLinks() : lab(make()), a(lab.at("a")), b(lab.at("b")), bundler(a, kLongest) {}
  static TestLab make() {
    TestLab lab;
    lab.add("a"), lab.add("b");
    lab.link("a", "p0", "b", "d0");
    lab.link("a", "p1", "b", "d1");
    return lab;
  }

  void add(const char* port, const std::vector<uint8_t>& frame, bool alone = false) {
    bundler.add(a.ifindex_of(port), FramePieces{frame, {}, {}}, alone);
  }
  /// What b receives of it, as sent: messages, and for each the frames in it.
  std::vector<std::vector<std::vector<uint8_t>>> sent(size_t messages) {
    bundler.finish();
    CHECK(a.queued() == messages);
    CHECK(a.flush().empty());
    std::vector<std::vector<std::vector<uint8_t>>> all;
    for (const ReceivedFrame& message : receive(b, messages)) {
      std::vector<std::vector<uint8_t>>& frames = all.emplace_back();
      if (!is_bundle(message.bytes)) {
        frames.push_back(message.bytes);
        continue;
      }
      BundledFrames bundled(message.bytes);
      while (const auto frame = bundled.next()) frames.emplace_back(frame->begin(), frame->end());
      CHECK(bundled.complete());
    }
    return all;
  }

  TestLab lab;
  PacketSocket a, b;
  FrameBundler bundler;
};

using Messages = std::vector<std::vector<std::vector<uint8_t>>>;

}  // namespace

TEST_SUITE("root: packets") {
  TEST_CASE(
      "frames of one tick by one interface cross together, those of another apart from them") {
    TwoLinks links;
    const auto one = make_frame(200, 1), two = make_frame(266, 2), three = make_frame(100, 3);
    for (int round = 0; round < 2; ++round) {
      links.add("p0", one);
      links.add("p1", three);
      links.add("p0", two);
      const Messages all = links.sent(2);
      REQUIRE(all.size() == 2);
      CHECK(std::count(all.begin(), all.end(), Messages::value_type{one, two}) == 1);
      CHECK(std::count(all.begin(), all.end(), Messages::value_type{three}) == 1);
    }
  }

  TEST_CASE("a frame that is to be alone keeps its place among the others of its interface") {
    TwoLinks links;
    const auto a = make_frame(200, 1), b = make_frame(201, 2), c = make_frame(202, 3),
               d = make_frame(203, 4), big = make_frame(kLongest, 5);
    links.add("p0", a);
    links.add("p0", b);
    links.add("p0", c, true);
    links.add("p0", d);
    links.add("p0", big);  // none goes beside it
    links.add("p0", a);
    links.add("p0", b);
    CHECK(links.sent(5) == Messages{{a, b}, {c}, {d}, {big}, {a, b}});
    CHECK(links.bundler.frames_of(0) == 2);
    CHECK(links.bundler.frames_of(1) == 1);
    CHECK(links.bundler.frames_of(4) == 2);
  }

  TEST_CASE("no bundle is longer than a frame may be") {
    TwoLinks links;
    const size_t room = (kLongest - kBundleHeadBytes) / (kBundledLengthBytes + 1000);
    Messages::value_type all;
    for (size_t i = 0; i < room + 1; ++i) {
      all.push_back(make_frame(1000, static_cast<uint8_t>(i)));
      links.add("p0", all.back());
    }
    const Messages messages = links.sent(2);
    REQUIRE(messages.size() == 2);
    CHECK(messages[0] == Messages::value_type(all.begin(), all.end() - 1));
    CHECK(messages[1] == Messages::value_type{all.back()});
    CHECK(links.b.statistics().truncated == 0);
  }
}
