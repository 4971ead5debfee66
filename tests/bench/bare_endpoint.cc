// What the kernel alone takes for the frames that bench_endpoint's two endpoints exchange: the bare peer of
// bench_endpoint.
//
//   bare_endpoint send|receive NAMESPACE INTERFACE,... FRAMES     prints JSON: seconds, CPU seconds
//
// The sockets and rings of mrc-endpoint, and its calls: data frames with a payload of PMTU 4096 by all interfaces in
// turn, up to 64 with one call, and a short frame back for every third, with the count of those that came. Nothing is
// looked at, no ICRC is made, no payload is copied into a memory. Both processes poll without a pause until all frames have arrived.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "netio/packet/packet_port.h"
#include "standalone/endpoint.h"
#include "tests/bench/cpu_time.h"

namespace mrclab {
namespace {

using Clock = std::chrono::steady_clock;
using netio::PacketSocket;

// Lengths as they were counted at the veths of bench_endpoint: a write with its carrier and ICRC, a SACK with its carrier.
constexpr size_t kHeadBytes = 136, kPayloadBytes = 4096, kTailBytes = 4, kAnswerBytes = 148;
constexpr uint64_t kFramesPerAnswer = 3;
constexpr uint64_t kWindow = 512;  ///< frames under way: fewer than a ring has places
constexpr size_t kBatch = 64;
/// The payloads of several messages, so that they are not always in the cache.
constexpr size_t kMessageBytes = size_t{1} << 23;
constexpr size_t kCountAt = 54;  ///< in an answer, behind Ethernet and IPv6
constexpr std::chrono::seconds kPatience{10};

struct Options {
  bool sends = false;
  std::string network_namespace;
  std::vector<std::string> interfaces;
  uint64_t frames = 0;
};

/// An Ethernet and an IPv6 header with addresses that no host has: the kernel hands the frame to our ring and drops it.
template <size_t kBytes>
std::array<uint8_t, kBytes> frame_head() {
  std::array<uint8_t, kBytes> frame{};
  frame[0] = frame[6] = 2;  // MAC addresses of one's own making
  frame[12] = 0x86, frame[13] = 0xdd, frame[14] = 0x60;
  return frame;
}

class BareEndpoint {
 public:
  explicit BareEndpoint(const Options& options)
      : frames_(options.frames),
        socket_(netio::NetworkNamespace::open(options.network_namespace), socket_options()) {
    for (const std::string& name : options.interfaces)
      interfaces_.push_back(socket_.ifindex_of(name));
  }

  void send() {
    const auto head = frame_head<kHeadBytes>();
    const std::array<uint8_t, kTailBytes> tail{};
    const std::vector<uint8_t> messages(kMessageBytes, 1);
    uint64_t sent = 0, arrived = 0;
    while (arrived < frames_) {
      for (size_t i = 0; i < kBatch && sent < frames_ && sent - arrived < kWindow; ++i, ++sent) {
        const uint8_t* const payload = &messages[sent * kPayloadBytes % kMessageBytes];
        socket_.queue(interface(sent), {head, {payload, kPayloadBytes}, tail});
      }
      flush();
      drain([&](std::span<const uint8_t> frame) {
        if (frame.size() >= kCountAt + sizeof arrived)
          std::memcpy(&arrived, &frame[kCountAt], sizeof arrived);
      });
    }
  }

  void receive() {
    std::vector<std::array<uint8_t, kAnswerBytes>> answers(kBatch, frame_head<kAnswerBytes>());
    uint64_t arrived = 0, answered = 0;
    while (arrived < frames_) {
      drain([&](std::span<const uint8_t>) { ++arrived; });
      size_t count = 0;
      const auto wanted = [&] {
        return arrived - answered >= kFramesPerAnswer || (arrived == frames_ && answered < arrived);
      };
      for (; count < kBatch && wanted(); ++count) {
        answered = std::min(answered + kFramesPerAnswer, arrived);
        std::memcpy(&answers[count][kCountAt], &answered, sizeof answered);
        socket_.queue(interface(count), answers[count]);
      }
      flush();
    }
  }

 private:
  static netio::PacketSocketOptions socket_options() {
    const standalone::EndpointConfig usual;
    netio::PacketSocketOptions options;
    options.ring_bytes = usual.ring_bytes;
    options.qdisc_bypass = usual.qdisc_bypass;
    return options;
  }

  uint32_t interface(uint64_t turn) const { return interfaces_[turn % interfaces_.size()]; }

  void flush() {
    if (socket_.queued() == 0) return;
    if (const auto failures = socket_.send_queued(); !failures.empty())
      throw netio::SystemError("send", failures.front().error_number);
  }

  template <class Callback>
  void drain(Callback&& callback) {
    const size_t count = socket_.drain(
        [&](uint32_t, std::span<const uint8_t> frame, uint64_t) { callback(frame); }, kBatch);
    if (count > 0) {
      idle_ = 0;
    } else if (++idle_ % kRoundsPerLook == 0) {
      if (idle_ == kRoundsPerLook) idle_since_ = Clock::now();
      if (Clock::now() - idle_since_ > kPatience)
        throw std::runtime_error("no frame came for 10 s: frames were lost");
    }
  }

  static constexpr uint64_t kRoundsPerLook =
      4096;  ///< polls without a frame between two looks at the clock
  uint64_t frames_;
  PacketSocket socket_;
  std::vector<uint32_t> interfaces_;
  uint64_t idle_ = 0;
  Clock::time_point idle_since_;
};

int measure(const Options& options) {
  BareEndpoint endpoint(options);
  std::puts("ready");
  std::fflush(stdout);
  if (std::getchar() == EOF)
    return 1;  // bench_endpoint writes a line when both processes are ready
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  options.sends ? endpoint.send() : endpoint.receive();
  const std::chrono::duration<double> all = Clock::now() - begin;
  std::printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f}\n", all.count(), cpu_seconds() - cpu);
  return 0;
}

/// Empty if the words are not those of the usage line.
std::optional<Options> read_options(std::span<char*> words) {
  if (words.size() != 5) return std::nullopt;
  Options options;
  const std::string_view what = words[1], frames = words[4];
  options.sends = what == "send";
  if (!options.sends && what != "receive") return std::nullopt;
  options.network_namespace = words[2];
  std::istringstream names(words[3]);
  for (std::string name; std::getline(names, name, ',');) options.interfaces.push_back(name);
  const auto [end, error] =
      std::from_chars(frames.data(), frames.data() + frames.size(), options.frames);
  if (error != std::errc{} || end != frames.data() + frames.size() || options.interfaces.empty())
    return std::nullopt;
  return options;
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  const auto options = mrclab::read_options({argv, static_cast<size_t>(argc)});
  if (!options) {
    std::fprintf(stderr, "usage: %s send|receive NAMESPACE INTERFACE,... FRAMES\n", argv[0]);
    return 2;
  }
  try {
    return mrclab::measure(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
