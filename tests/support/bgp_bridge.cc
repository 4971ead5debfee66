// One speaker of ours beside a real BGP daemon: its packets go into a TUN device of this network namespace, on the
// other side of which the kernel's TCP carries them to the daemon. Fabric time is the machine's clock.
//
//   bgp_bridge DEVICE LOCAL REMOTE OWN_AS SECONDS [PREFIX=MBPS...] [many=COUNT] [want=PREFIX...] [drop=SECOND]
//
// Prints an event a line: "up", "down REASON", "fib PREFIX HOPS", "path PREFIX MBPS|-", at the end "end TABLE".

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "routing/speaker/speaker.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

int open_tun(const char* name) {
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (fd < 0 || ::ioctl(fd, TUNSETIFF, &request) < 0) throw std::runtime_error("no TUN device");
  return fd;
}

FabricTime clock_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return FabricTime::from_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

struct Bridge : SpeakerEvents {
  int tun = -1;
  const Speaker* speaker = nullptr;
  void send(PortId, Octets packet, FabricTime) override {
    if (::write(tun, packet.data(), packet.size()) < 0) std::puts("lost");
  }
  void session_up(PortId, FabricTime) override { std::puts("up"); }
  void session_down(PortId, const std::string& reason, FabricTime) override {
    std::printf("down %s\n", reason.c_str());
  }
  void attribute_fault(PortId, const AttributeFault& fault, FabricTime) override {
    std::printf("fault %s\n", fault.reason.c_str());
  }
  void fib_changed(const Prefix& prefix, const FibEntry& entry, FabricTime) override {
    std::printf("fib %s %zu\n", to_string(prefix).c_str(), entry.hops.size());
    const auto found = speaker->table().routes().find(prefix);
    const Path* path =
        found == speaker->table().routes().end() ? nullptr : found->second.path_of(0);
    if (path == nullptr) return;
    const uint64_t mbps = path->bandwidth ? (path->bandwidth->bps + 500'000) / 1'000'000 : 0;
    std::printf("path %s %s\n", to_string(prefix).c_str(),
                path->bandwidth ? std::to_string(mbps).c_str() : "-");
  }
};

uint32_t number(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int run(int argc, char** argv) {
  if (argc < 6) throw std::runtime_error("bgp_bridge DEVICE LOCAL REMOTE OWN_AS SECONDS [...]");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  SpeakerParameters parameters;
  parameters.as = AsNumber{number(argv[4])};
  parameters.router = RouterId{0x0A00'0001};
  NeighbourParameters neighbour;
  neighbour.port = PortId{0};
  neighbour.local = parse_address(argv[2]).value();
  neighbour.remote = parse_address(argv[3]).value();
  neighbour.unreachability = neighbour.takes_filters = true;
  neighbour.rate = BitRate::from_gbps(100);
  parameters.tcp.rto_least = parameters.tcp.rto_first = FabricTime::from_ms(200);
  parameters.tcp.rto_most = FabricTime::from_ms(10'000);
  std::vector<Prefix> own;
  FabricTime drop_at = FabricTime::never();
  const FabricTime begin = clock_now();
  for (int i = 6; i < argc; ++i) {
    const std::string_view word = argv[i];
    const size_t sign = word.find('=');
    const std::string_view value = word.substr(sign + 1);
    if (word.starts_with("want=")) {
      if (!parameters.wanted) parameters.wanted.emplace();
      parameters.wanted->push_back(Prefix::parse(value).value());
    } else if (word.starts_with("drop=")) {
      drop_at = begin + FabricTime::from_ms(1'000) * number(value);
    } else if (word.starts_with("many=")) {
      for (uint32_t n = number(value); n > 0; --n) {
        Ipv6Address address = parse_address("2001:db8:aaaa::").value();
        store_be(&address[12], n);
        own.push_back(Prefix::host(address));
      }
    } else {
      neighbour.rate = BitRate{uint64_t{number(value)} * 1'000'000};
      own.push_back(Prefix::parse(word.substr(0, sign)).value());
    }
  }
  parameters.neighbours = {neighbour};
  Bridge bridge;
  bridge.tun = open_tun(argv[1]);
  Speaker speaker(std::move(parameters), bridge);
  bridge.speaker = &speaker;
  const FabricTime end = begin + FabricTime::from_ms(1'000) * number(argv[5]);
  speaker.start(begin);
  for (const Prefix& prefix : own) speaker.originate(prefix, begin);
  std::vector<uint8_t> packet(65'536);
  for (FabricTime now = begin; now < end; now = clock_now()) {
    if (now >= drop_at) {
      drop_at = FabricTime::never();
      for (const Prefix& prefix : own) speaker.retract(prefix, now);
    }
    speaker.run(now);
    const FabricTime wait = std::min(speaker.deadline(), std::min(end, drop_at)) - now;
    pollfd ready{bridge.tun, POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(wait.ns() / 1'000'000 + 1, 0, 100)));
    for (ssize_t size; (size = ::read(bridge.tun, packet.data(), packet.size())) > 0;) {
      speaker.receive(PortId{0}, OctetView(packet).first(static_cast<size_t>(size)), clock_now());
    }
  }
  std::printf("end %zu\n", speaker.table().count(0));
  speaker.shut_down(clock_now());
  for (int i = 0; i < 20; ++i) {
    speaker.run(clock_now());
    pollfd ready{bridge.tun, POLLIN, 0};
    ::poll(&ready, 1, 10);
    for (ssize_t size; (size = ::read(bridge.tun, packet.data(), packet.size())) > 0;) {
      speaker.receive(PortId{0}, OctetView(packet).first(static_cast<size_t>(size)), clock_now());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bgp_bridge: %s\n", error.what());
    return 2;
  }
}
