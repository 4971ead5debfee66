#pragma once
// Namespaces of a test: "mrclab-t<pid>-<name>", gone when the test ends, however it ends.

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"
#include "netio/packet/packet_port.h"

namespace mrclab::netio::test {

inline std::string namespace_name(const std::string& name) {
  return "mrclab-t" + std::to_string(::getpid()) + "-" + name;
}

/// Namespaces and links by short names.
class TestLab {
 public:
  NetworkNamespace& add(const std::string& name, const Sysctls& sysctls = switch_sysctls()) {
    spaces_.emplace(name, NetworkNamespace::create(namespace_name(name), sysctls, true));
    return at(name);
  }
  NetworkNamespace& at(const std::string& name) { return spaces_.at(name); }

  /// A veth between interface `a_name` of `a` and `b_name` of `b`, up at both ends.
  void link(const std::string& a, const std::string& a_name, const std::string& b,
            const std::string& b_name) {
    const auto serial = static_cast<uint8_t>(++links_);
    const VethPair pair{{&at(a), a_name, {2, 0, 0, 0, serial, 1}, a + ":" + a_name},
                        {&at(b), b_name, {2, 0, 0, 0, serial, 2}, b + ":" + b_name}};
    create_veths({&pair, 1});
    NamespaceNetlink(at(a)).set_up(a_name);
    NamespaceNetlink(at(b)).set_up(b_name);
  }

 private:
  std::map<std::string, NetworkNamespace> spaces_;
  int links_ = 0;
};

/// What a shell command prints, errors included (for the message of a failed check).
inline std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char chunk[4096];
  while (const size_t n = ::fread(chunk, 1, sizeof chunk, pipe)) text.append(chunk, n);
  ::pclose(pipe);
  return text;
}

struct ReceivedFrame {
  uint32_t ifindex = 0;
  std::vector<uint8_t> bytes;
  uint64_t rx_ns = 0;
};

/// Drains until `count` frames have come, or gives up after five seconds.
inline std::vector<ReceivedFrame> receive(PacketSocket& socket, size_t count) {
  std::vector<ReceivedFrame> frames;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (frames.size() < count && std::chrono::steady_clock::now() < until) {
    socket.drain([&frames](uint32_t ifindex, std::span<const uint8_t> bytes, uint64_t rx_ns) {
      frames.push_back({ifindex, {bytes.begin(), bytes.end()}, rx_ns});
    });
    if (frames.size() >= count) break;
    pollfd watched[] = {{socket.fd(), POLLIN, 0}, {socket.void_fd(), POLLIN, 0}};
    ::poll(watched, 2, 100);
  }
  return frames;
}

/// An Ethernet frame of `size` bytes with a recognisable filling.
inline std::vector<uint8_t> make_frame(size_t size, uint8_t seed, uint16_t ethertype = 0x86DD) {
  std::vector<uint8_t> frame(size);
  for (size_t i = 0; i < size; ++i) frame[i] = static_cast<uint8_t>(seed + i * 7 + i / 256);
  const uint8_t head[] = {2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 8, 8};
  std::copy(std::begin(head), std::end(head), frame.begin());
  frame[12] = static_cast<uint8_t>(ethertype >> 8);
  frame[13] = static_cast<uint8_t>(ethertype);
  return frame;
}

}  // namespace mrclab::netio::test
