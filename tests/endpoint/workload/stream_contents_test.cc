// What a stream's receiver finds where contents are noted is what it finds in bytes.

#include "endpoint/workload/stream_contents.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "endpoint/workload/stream.h"
#include "fabric/base/random.h"

namespace mrclab::endpoint {
namespace {

constexpr uint32_t kPmtu = 1001;  // no multiple of an element

/// A stream whose contents are noted, and beside it the bytes that they stand for.
struct Both {
  explicit Both(Bytes message)
      : layout(message),
        source(layout, addresses.take(layout.region_size().value)),
        inbox(layout, kPmtu, source),
        sent(layout.region_size().value),
        arrived(sent.size()) {}

  void post(uint64_t number) {
    const Ramp ramp = message_ramp(7, number);
    source.put(number, ramp);
    fill_ramp(Memory(sent).subspan(layout.offset(number), layout.message().value), 0, ramp);
  }
  /// Bytes of the sender's memory come to the receiver's.
  void send(uint64_t from, uint64_t to, uint64_t size) {
    inbox.write(to, source.memory().subspan(from, size).bytes(), false);
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(from), size,
                arrived.begin() + static_cast<std::ptrdiff_t>(to));
  }
  uint64_t packets() const { return (layout.message().value + kPmtu - 1) / kPmtu; }
  uint64_t size_of(uint64_t packet) const {
    return std::min<uint64_t>(kPmtu, layout.message().value - packet * kPmtu);
  }
  /// Packet `from` of message `a` comes to the place of packet `to` of message `b`.
  void send_packet(uint64_t a, uint64_t from, uint64_t b, uint64_t to) {
    send(layout.offset(a) + from * kPmtu, layout.offset(b) + to * kPmtu,
         std::min(size_of(from), size_of(to)));
  }
  void send_message(uint64_t number) {
    for (uint64_t packet = 0; packet < packets(); ++packet)
      send_packet(number, packet, number, packet);
  }
  uint64_t noted(uint64_t number) const {
    return inbox.count_mismatched_bytes(number, message_ramp(7, number));
  }
  uint64_t in_bytes(uint64_t number) const {
    return count_mismatched_bytes(
        ConstMemory(arrived).subspan(layout.offset(number), layout.message().value), 0,
        message_ramp(7, number));
  }

  StreamLayout layout;
  StreamAddresses addresses;
  StreamSource source;
  StreamInbox inbox;
  std::vector<uint8_t> sent, arrived;
};

TEST_CASE("noted contents: a message that came whole is right, and its slot's next one is stale") {
  Both stream(Bytes{10'000});
  CHECK(stream.noted(0) == stream.in_bytes(0));
  CHECK(stream.noted(0) > 9'990);  // zeros, of which one element may be right
  stream.post(0);
  stream.send_message(0);
  CHECK(stream.noted(0) == 0);
  const uint64_t next = stream.layout.slots();
  CHECK(stream.noted(next) == stream.in_bytes(next));
  CHECK(stream.noted(next) > 9'990);
}

TEST_CASE("noted contents: a sender that reuses a slot changes nothing that has arrived") {
  Both stream(Bytes{10'000});
  stream.post(0);
  stream.send_message(0);
  stream.source.put(stream.layout.slots(), message_ramp(7, stream.layout.slots()));
  CHECK(stream.noted(0) == 0);
}

TEST_CASE("noted contents: packets that are missing, misplaced or cut count as their bytes do") {
  Both stream(Bytes{5'000});
  for (uint64_t number = 0; number < 4; ++number) stream.post(number);
  for (uint64_t number = 0; number < 4; ++number) stream.send_message(number);
  stream.send_packet(1, 2, 1, 3);
  stream.send_packet(0, 1, 2, 1);
  stream.send_packet(3, 4, 3, 0);  // the last one is shorter: neither place nor size is a packet's
  for (uint64_t number = 0; number < 4; ++number) {
    INFO(number);
    CHECK(stream.noted(number) == stream.in_bytes(number));
    CHECK((stream.noted(number) == 0) == (number == 0));
  }
}

TEST_CASE("noted contents: whatever is written, memory reads as if it had been bytes") {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Both stream(Bytes{3'333});
    auto draw = [state = mix64(seed)](uint64_t below) mutable {
      return (state = mix64(state + 1)) % below;
    };
    constexpr uint64_t kMessages = 5;
    for (uint64_t number = 0; number < kMessages; ++number) stream.post(number);
    for (int i = 0; i < 40; ++i) {
      stream.send_packet(draw(kMessages), draw(stream.packets()), draw(kMessages),
                         draw(stream.packets()));
    }
    if (seed > 0) {  // and what no packet of the stream does
      const uint64_t size = 1 + draw(3'000), to = draw(9'000);
      stream.send(draw(300), to, size);
      const std::vector<uint8_t> foreign(size, 0x5A);
      stream.inbox.write(to + 5, foreign, true);
      std::copy(foreign.begin(), foreign.end(),
                stream.arrived.begin() + static_cast<std::ptrdiff_t>(to + 5));
    }
    for (uint64_t number = 0; number < kMessages; ++number) {
      CHECK(stream.noted(number) == stream.in_bytes(number));
    }
    std::vector<uint8_t> read(20'001);
    stream.inbox.read(3, read);
    CHECK(std::equal(read.begin(), read.end(), stream.arrived.begin() + 3));
    for (uint64_t number = 0; number < kMessages; ++number) {  // bytes by now
      CHECK(stream.noted(number) == stream.in_bytes(number));
    }
  }
}

TEST_CASE(
    "addresses of streams: each has its own, more than one mapping has, and zeros are there") {
  StreamAddresses addresses;
  constexpr uint64_t kLong = (uint64_t{16} << 20) - 5000, kHuge = uint64_t{3} << 30;
  const uint8_t* const first = addresses.take(1);
  const uint8_t* const all_but_first = addresses.take(kLong);
  const uint8_t* const next = addresses.take(5000);  // finds no room behind
  const uint8_t* const huge = addresses.take(kHuge);
  CHECK(all_but_first == first + 1);
  const auto apart = [](const uint8_t* a, uint64_t size, const uint8_t* b) {
    return std::less<>()(b, a) || !std::less<>()(b, a + size);
  };
  CHECK(apart(first, kLong + 1, next));
  CHECK(apart(next, 5000, huge));
  CHECK(apart(huge, kHuge, first));
  for (const uint8_t* const byte :
       {first, all_but_first + kLong - 1, next + 4999, huge + kHuge - 1}) {
    CHECK(*byte == 0);
  }
}

}  // namespace
}  // namespace mrclab::endpoint
