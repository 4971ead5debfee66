#include "netio/packet/promiscuous_ports.h"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr uint8_t kAtReceiver = 1, kAtSender = 2;

void set_bit(uint8_t& bits, uint8_t bit, bool on) {
  bits = static_cast<uint8_t>(on ? bits | bit : bits & ~bit);
}

}  // namespace

PromiscuousPorts::PromiscuousPorts(size_t wires)
    : changes_(check_system_call("watch interfaces", ::epoll_create1(EPOLL_CLOEXEC))),
      promiscuous_(wires, 0) {}

void PromiscuousPorts::watch_namespace(NetworkNamespace ns, std::vector<Watched> ports) {
  LinkWatch links(ns);
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<uint32_t>(places_.size())}};
  check_system_call("watch interfaces",
                    ::epoll_ctl(changes_.get(), EPOLL_CTL_ADD, links.fd(), &event));
  Place& place = places_.emplace_back(Place{std::move(ns), std::move(links), {}});
  for (Watched& port : ports) {
    std::string name = port.interface;
    place.ports.emplace(std::move(name), std::move(port));
  }
}

void PromiscuousPorts::update() {
  std::array<epoll_event, 64> ready;
  for (int count = static_cast<int>(ready.size()); count == static_cast<int>(ready.size());) {
    count = ::epoll_wait(changes_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
      Place& place = places_[ready[static_cast<size_t>(i)].data.u32];
      for (const LinkState& link : place.links.read()) note(place, link);
      if (!place.links.take_overrun()) continue;
      for (const LinkState& link : NamespaceNetlink(place.ns).links()) note(place, link);
    }
  }
}

void PromiscuousPorts::note(const Place& place, const LinkState& link) {
  const auto port = place.ports.find(link.name);
  if (port == place.ports.end()) return;
  const bool on = link.promiscuity > 0;
  set_bit(promiscuous_[port->second.in.value], kAtReceiver, on);
  set_bit(promiscuous_[port->second.out.value], kAtSender, on);
}

}  // namespace mrclab::netio
