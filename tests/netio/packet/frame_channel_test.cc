#include "netio/packet/frame_channel.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace mrclab;
using namespace mrclab::netio;

namespace {

/// Memory as two processes map it, zero at first.
struct Memory {
  explicit Memory(size_t size) : bytes(size), memory(allocate(size)) {}
  static std::byte* allocate(size_t size) {
    auto* const memory =
        static_cast<std::byte*>(::operator new (size, std::align_val_t{FrameChannel::kAlignment}));
    std::fill_n(memory, size, std::byte{0});
    return memory;
  }
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{FrameChannel::kAlignment});
    }
  };
  std::span<std::byte> all() const { return {memory.get(), bytes}; }
  size_t bytes;
  std::unique_ptr<std::byte, Free> memory;
};

using Frames = std::vector<std::pair<uint32_t, std::vector<uint8_t>>>;

/// Frames of all lengths up to the longest, each with content of its own.
std::pair<uint32_t, std::vector<uint8_t>> frame(uint32_t number, size_t longest) {
  std::mt19937 random(number);
  std::vector<uint8_t> bytes(1 + random() % longest);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return {number, std::move(bytes)};
}

bool put(FrameChannel& channel, const std::pair<uint32_t, std::vector<uint8_t>>& frame) {
  const std::span<const uint8_t> bytes = frame.second;
  const size_t third = bytes.size() / 3;
  return channel.put(WireId{frame.first},
                     {bytes.first(third), bytes.subspan(third, third), bytes.subspan(2 * third)});
}

Frames drained(FrameChannel& channel, bool whole = true) {
  Frames frames;
  CHECK(channel.drain([&](WireId wire, std::span<const uint8_t> bytes) {
    frames.emplace_back(wire.value, std::vector(bytes.begin(), bytes.end()));
  }) == whole);
  return frames;
}

}  // namespace

TEST_CASE("frames come out of a channel as they were put, also round the end of its ring") {
  constexpr size_t kLongest = 300;
  const Memory memory(FrameChannel::bytes_for(3, kLongest));
  FrameChannel writer(memory.all()), reader(memory.all());
  uint32_t number = 0;
  for (int round = 0; round < 1'000; ++round) {
    Frames frames;
    for (int i = 0; i < 1 + round % 3; ++i) {
      frames.push_back(frame(number++, kLongest));
      REQUIRE(put(writer, frames.back()));
    }
    REQUIRE(drained(reader) == frames);
    REQUIRE(drained(reader).empty());
  }
}

TEST_CASE("a channel that is full refuses a frame and takes it when there is room") {
  constexpr size_t kLongest = 200;
  const Memory memory(FrameChannel::bytes_for(4, kLongest));
  FrameChannel writer(memory.all()), reader(memory.all());
  Frames frames;
  uint32_t number = 0;
  while (frames.size() < 100) {
    frames.push_back({number++, std::vector<uint8_t>(kLongest, 7)});
    if (!put(writer, frames.back())) break;
  }
  REQUIRE(frames.size() >= 5);
  REQUIRE(frames.size() < 10);
  const auto refused = frames.back();
  frames.pop_back();
  CHECK(drained(reader) == frames);
  CHECK(put(writer, refused));
  CHECK(drained(reader) == Frames{refused});
}

TEST_CASE("a reader beside its writer gets all frames in order") {
  constexpr size_t kLongest = 500;
  constexpr uint32_t kFrames = 100'000;
  const Memory memory(FrameChannel::bytes_for(16, kLongest));
  std::jthread writing([&] {
    FrameChannel writer(memory.all());
    for (uint32_t number = 0; number < kFrames; ++number) {
      const auto next = frame(number, kLongest);
      while (!put(writer, next)) std::this_thread::yield();
    }
  });
  FrameChannel reader(memory.all());
  uint32_t read = 0, wrong = 0;
  while (read < kFrames) {
    const bool whole = reader.drain([&](WireId wire, std::span<const uint8_t> bytes) {
      const auto [number, expected] = frame(read, kLongest);
      wrong += wire.value != number ||
               !std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end());
      ++read;
    });
    REQUIRE(whole);
    std::this_thread::yield();
  }
  CHECK(wrong == 0);
}

TEST_CASE("a channel with nonsense in it is emptied, read within its bounds, and goes on") {
  constexpr size_t kLongest = 100;
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    const Memory memory(FrameChannel::bytes_for(2, kLongest));
    FrameChannel writer(memory.all()), reader(memory.all());
    put(writer, frame(0, kLongest));
    put(writer, frame(1, kLongest));
    // The positions lie in the first two lines.
    const size_t at = random() % memory.bytes;
    for (size_t i = 0; i < 8 && at + i < memory.bytes; ++i) {
      memory.memory.get()[at + i] = static_cast<std::byte>(random());
    }
    size_t seen = 0;
    const auto look = [&](WireId, std::span<const uint8_t> bytes) {
      REQUIRE(bytes.data() >= reinterpret_cast<uint8_t*>(memory.memory.get()));
      REQUIRE(bytes.data() + bytes.size() <=
              reinterpret_cast<uint8_t*>(memory.memory.get()) + memory.bytes);
      ++seen;
    };
    put(writer, frame(2, kLongest));
    (void)reader.drain(look);
    CHECK(seen <= memory.bytes / 8);
    CHECK(reader.drain(look));  // nothing is left
  }
}
