#include "verbs/server/door.h"

#include <unistd.h>

#include <algorithm>

namespace mrclab::verbs {
namespace {

bool may_enter(const netio::MessageSocket& guest) {
  const unsigned user = guest.peer().user;
  return user == 0 || user == ::geteuid();
}

}  // namespace

std::filesystem::path door_of(const std::filesystem::path& nodes, std::string_view node) {
  // kSocketPath, seen from outside.
  return nodes / node / std::filesystem::path(kSocketPath).relative_path();
}

Doors::~Doors() { close(); }

void Doors::open(const std::filesystem::path& path, endpoint::Device& device, HostFacts facts) {
  std::filesystem::create_directories(path.parent_path());
  auto host = std::make_unique<Host>(Host{
      std::make_unique<HostPrograms>(device, std::move(facts)), netio::MessageListener(path), {}});
  ready_.add(host->listener.fd(), hosts_.size());
  hosts_.push_back(std::move(host));
}

void Doors::close() {
  for (const std::unique_ptr<Host>& host : hosts_) {
    while (!host->guests.empty()) end(*host, host->guests.size() - 1);
    ready_.remove(host->listener.fd());
  }
  hosts_.clear();
}

bool Doors::anybody() const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const auto& host) { return !host->guests.empty(); });
}

bool Doors::serve(uint64_t rate) {
  bool some = false;
  // A tag is the host's number, for its door and for each of its guests: who it is is found by asking them.
  std::vector<bool> called(hosts_.size());
  for (const uint64_t tag : ready_.ready()) called[tag] = true;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    Host& host = *hosts_[i];
    if (called[i]) let_in(host);
    if (host.guests.empty()) continue;
    some = host.programs->deliver() || some;
    for (const auto& guest : host.guests) some = guest->take_work() || some;
    if (called[i]) some = serve_guests(host, rate) || some;
    // A work ring that cannot be right ends its program, whether it has sent a message or not.
    for (size_t g = host.guests.size(); g-- > 0;) {
      if (host.guests[g]->gone()) end(host, g);
    }
  }
  return some;
}

bool Doors::serve_guests(Host& host, uint64_t rate) {
  bool some = false;
  for (const auto& guest : host.guests) some = guest->receive(rate) || some;
  // Posts to a queue pair in error complete at once.
  return host.programs->deliver() || some;
}

void Doors::let_in(Host& host) {
  for (size_t count = 0; count < kMaxPrograms; ++count) {
    std::optional<netio::MessageSocket> guest = host.listener.accept();
    if (!guest) return;
    if (!may_enter(*guest)) continue;
    const auto silent = [](const auto& g) { return !g->greeted(); };
    if (static_cast<size_t>(std::count_if(host.guests.begin(), host.guests.end(), silent)) >=
        kMaxSilent) {
      const auto oldest = std::find_if(host.guests.begin(), host.guests.end(), silent);
      end(host, static_cast<size_t>(oldest - host.guests.begin()));
    }
    if (host.guests.size() >= kMaxPrograms) continue;  // closed at once
    const auto place =
        static_cast<uint64_t>(std::find_if(hosts_.begin(), hosts_.end(),
                                           [&](const auto& h) { return h.get() == &host; }) -
                              hosts_.begin());
    ready_.add(guest->fd(), place);
    host.guests.push_back(std::make_unique<WallProgram>(*host.programs, std::move(*guest)));
  }
}

void Doors::end(Host& host, size_t guest) {
  ready_.remove(host.guests[guest]->fd());
  host.guests.erase(host.guests.begin() + static_cast<std::ptrdiff_t>(guest));
}

}  // namespace mrclab::verbs
