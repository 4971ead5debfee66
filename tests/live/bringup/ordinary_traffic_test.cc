// What people run between hosts of a lab that stays: ping, iperf3, ssh. Here flows of datagrams that the
// other host answers, while links, optics, switches and planes die under them.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "live/bringup/lab_record.h"
#include "netio/kernel/namespace.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

using netio::FileDescriptor;
using std::chrono::steady_clock;

constexpr uint16_t kPort = 7;  // echo

sockaddr_in6 name_of(const Ipv6Address& address, uint16_t port) {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(port);
  std::memcpy(&name.sin6_addr, address.data(), address.size());
  return name;
}

/// Flows of one host to another, each from a port of its own, and the other that answers.
class Flows {
 public:
  Flows(const std::string& lab, const Topology& topology, uint32_t from, uint32_t to, size_t count)
      : server_(socket_in(lab, topology, to, kPort)) {
    for (size_t i = 0; i < count; ++i) {
      clients_.push_back(socket_in(lab, topology, from, 0));
      const sockaddr_in6 server = name_of(host_address(topology, to), kPort);
      netio::check_system_call(
          "connect a flow", ::connect(clients_.back().get(),
                                      reinterpret_cast<const sockaddr*>(&server), sizeof server));
    }
  }

  /// Sends on each flow until something that was sent since this call has been answered. How many flows
  /// got none.
  size_t unanswered() {
    ++round_;
    std::vector<bool> heard(clients_.size());
    const auto until = steady_clock::now() + kTestPatience;
    size_t missing = clients_.size();
    while (missing > 0 && steady_clock::now() < until) {
      for (size_t i = 0; i < clients_.size(); ++i) {
        // A way that is gone is an error of the socket; what counts is that the next try gets through.
        if (!heard[i] && ::send(clients_[i].get(), &round_, sizeof round_, 0) < 0) continue;
      }
      for (int turn = 0; turn < 10; ++turn) {
        wait_for_datagrams();
        answer();
        missing -= hear(heard);
      }
    }
    return missing;
  }

 private:
  static FileDescriptor socket_in(const std::string& lab, const Topology& topology, uint32_t host,
                                  uint16_t port) {
    const auto ns =
        netio::NetworkNamespace::open(namespace_name(lab, topology.node(topology.host(host)).name));
    FileDescriptor socket(netio::check_system_call("open a socket", ns.run_in([] {
      return ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    })));
    const sockaddr_in6 name = name_of(host_address(topology, host), port);
    netio::check_system_call(
        "bind a socket",
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name));
    return socket;
  }

  void wait_for_datagrams() {
    std::vector<pollfd> watched{{server_.get(), POLLIN, 0}};
    for (const FileDescriptor& client : clients_) watched.push_back({client.get(), POLLIN, 0});
    ::poll(watched.data(), watched.size(), 5);
  }

  void answer() {
    sockaddr_in6 from{};
    socklen_t size = sizeof from;
    uint32_t round = 0;
    while (::recvfrom(server_.get(), &round, sizeof round, 0, reinterpret_cast<sockaddr*>(&from),
                      &size) == sizeof round) {
      if (::sendto(server_.get(), &round, sizeof round, 0, reinterpret_cast<const sockaddr*>(&from),
                   size) < 0) {
        continue;  // asked again if it was of this round
      }
    }
  }

  size_t hear(std::vector<bool>& heard) {
    size_t news = 0;
    for (size_t i = 0; i < clients_.size(); ++i) {
      uint32_t round = 0;
      while (::recv(clients_[i].get(), &round, sizeof round, 0) == sizeof round) {
        if (round != round_ || heard[i]) continue;
        heard[i] = true;
        ++news;
      }
    }
    return news;
  }

  FileDescriptor server_;
  std::vector<FileDescriptor> clients_;
  uint32_t round_ = 0;
};

/// Packets that a host's interfaces have sent, by name.
std::map<std::string, uint64_t> sent_by(const std::string& lab, const std::string& host) {
  return netio::NetworkNamespace::open(namespace_name(lab, host)).run_in([] {
    std::ifstream in("/proc/thread-self/net/dev");
    std::map<std::string, uint64_t> sent;
    for (std::string line; std::getline(in, line);) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      std::istringstream fields(line.substr(colon + 1));
      uint64_t value = 0;
      for (int column = 0; column < 10; ++column) fields >> value;  // the tenth: packets sent
      sent[line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))] = value;
    }
    return sent;
  });
}

size_t ways(const std::string& from, const std::string& to) {
  const nlohmann::json traced = mrclab_json({"trace", from, to, "--json"});
  REQUIRE(traced.contains("lab"));
  return traced.at("ways").size();
}

/// Until the hosts have this many ways, in both directions; false if they never do.
bool come_to(size_t count, const std::string& from, const std::string& to) {
  for (const auto until = steady_clock::now() + kTestPatience; steady_clock::now() < until;) {
    if (ways(from, to) == count && ways(to, from) == count) return true;
  }
  return false;
}

/// `ping -i 0.01` from h0 to h1, until it goes away. Its own numbers are its clock.
class Pings {
 public:
  explicit Pings(const std::filesystem::path& output)
      : output_(output), child_(netio::ChildProcess::spawn(options(output))) {}
  ~Pings() { child_.stop(std::chrono::seconds(1)); }

  /// Waits for the answer to ping `number`, or a later one, while as many again are sent without any.
  /// Then the highest number that was answered; 0 if there is none.
  int answered(int number) {
    for (const auto until = steady_clock::now() + kTestPatience; steady_clock::now() < until;) {
      read();
      const int last = answers_.empty() ? 0 : *answers_.rbegin();
      if (last >= number || sent_ >= number + kGiveUp) return last;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 0;
  }
  /// How many of those after `from` have no answer, but for the newest few.
  int missing(int from) {
    read();
    int count = 0;
    for (int number = from + 1; number <= sent_ - kUnderWay; ++number) {
      count += answers_.contains(number) ? 0 : 1;
    }
    return count;
  }

 private:
  static constexpr int kGiveUp = 3000, kUnderWay = 20;

  static netio::ChildOptions options(const std::filesystem::path& output) {
    netio::ChildOptions options;
    options.argv = {
        program("mrclab-cli"), "exec", "h0", "--", "ping", "-n", "-O", "-i", "0.01", "h1"};
    options.stdout_file = output;
    return options;
  }

  /// "64 bytes from fd00:1::1: icmp_seq=7 ttl=64 ...", "no answer yet for icmp_seq=8"
  void read() {
    std::ifstream in(output_);
    for (std::string line; std::getline(in, line);) {
      const size_t at = line.find("icmp_seq=");
      if (at == std::string::npos) continue;
      const int number = std::atoi(line.c_str() + at + 9);
      sent_ = std::max(sent_, number);
      if (line.find("bytes from") != std::string::npos) answers_.insert(number);
    }
  }

  std::filesystem::path output_;
  netio::ChildProcess child_;
  std::set<int> answers_;
  int sent_ = 0;
};

TEST_SUITE_BEGIN("root: ordinary traffic");

TEST_CASE("a ping stops for less than a second when what it goes over dies, whoever forwards") {
  enter_sandbox();
  const test::TemporaryRuns folder;
  constexpr int kSecond = 100;  // interval of pings
  const std::vector<std::string> every_kind{"link", "far link", "optic", "plane", "switch"};
  // A fault takes four seconds in which hardly anything happens, so some of them are for the night.
  const std::map<std::string, std::vector<std::string>> kinds = {
      {"pair",
       test::nightly() ? every_kind : std::vector<std::string>{"far link", "optic", "plane"}},
      {"pair-kernel", test::nightly() ? every_kind : std::vector<std::string>{"link"}},
      {"pair-ovs", test::nightly() ? every_kind : std::vector<std::string>{"switch"}}};
  for (const auto& entry : kinds) {
    const std::string& fabric = entry.first;
    CAPTURE(fabric);
    REQUIRE(mrclab({"up", fabric, "--name", "lab"}).code == 0);
    for (const std::string& kind : entry.second) {
      CAPTURE(kind);
      Pings pings(folder.path() / (fabric + kind));
      REQUIRE(pings.answered(20) >= 20);
      const auto before = sent_by("lab", "h0");
      const int started = pings.answered(60);
      const auto after = sent_by("lab", "h0");
      const std::string plane =
          after.at("p0") - before.at("p0") > after.at("p1") - before.at("p1") ? "p0" : "p1";
      const std::map<std::string, std::vector<std::string>> faults = {
          {"link", {"link_down", "h0:" + plane}},
          {"far link", {"link_down", "h1:" + plane}},
          {"optic", {"optic_dead", plane + ".t0-0:o0"}},
          {"plane", {"plane_down", plane}},
          {"switch", {"switch_hang", plane + ".t1-0"}}};
      const CommandResult broken = mrclab({"fault", faults.at(kind)[0], faults.at(kind)[1]});
      CAPTURE(broken.output);
      REQUIRE(broken.code == 0);
      CHECK(pings.answered(started + 2 * kSecond) >= started + 2 * kSecond);
      CHECK(pings.missing(started) < kSecond);
      REQUIRE(mrclab({"heal"}).code == 0);
      CHECK(come_to(2, "h0", "h1"));
    }
    CHECK(mrclab({"down"}).code == 0);
  }
}

TEST_CASE("ordinary traffic uses all planes, and survives what the fabric survives") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  REQUIRE(mrclab({"up", "octet"}).code == 0);
  const Topology octet = read_fabric_file(lab::find_fabric("octet"));
  {
    Flows flows("octet", octet, 0, 5, 256);  // a plane is left out once in 10^14
    const auto sent_before = sent_by("octet", "h0");
    CHECK(flows.unanswered() == 0);
    const auto sent = sent_by("octet", "h0");
    for (const char* port : {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"}) {
      CAPTURE(port);
      CHECK(sent.at(port) > sent_before.at(port));
    }
    const std::vector<std::vector<std::string>> faults = {
        {"link_down", "h0:p3"},       {"link_down", "p1.t0-0:u*"},
        {"optic_dead", "p2.t0-1:o0"}, {"switch_crash", "p4.t1-[0-2]"},
        {"switch_hang", "p6.t0-0"},   {"plane_down", "p5"},
        {"blackhole", "link=h5:p7"},  {"switch_missing_route", "p0.t1-*:d1"},
        {"port_down", "p7.t0-0:d0"},
    };
    for (const auto& fault : faults) {
      CAPTURE(fault[0]);
      CAPTURE(fault[1]);
      const CommandResult broken = mrclab({"fault", fault[0], fault[1]});
      CAPTURE(broken.output);
      REQUIRE(broken.code == 0);
      CHECK(flows.unanswered() == 0);
      const CommandResult healed = mrclab({"heal"});
      CAPTURE(healed.output);
      REQUIRE(healed.code == 0);
      CHECK(come_to(8, "h0", "h5"));
      CHECK(flows.unanswered() == 0);
    }
  }
  CHECK(mrclab({"down"}).code == 0);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("ordinary traffic leaves a link that somebody sets down at either end, and comes back") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "octet"}).code == 0);
  const Topology octet = read_fabric_file(lab::find_fabric("octet"));
  {
    Flows flows("octet", octet, 0, 5, 64);
    CHECK(flows.unanswered() == 0);
    const auto set = [](const std::string& node, const std::string& port, const char* state) {
      const CommandResult done = mrclab({"exec", node, "--", "ip", "link", "set", port, state});
      CAPTURE(done.output);
      REQUIRE(done.code == 0);
    };
    const std::pair<const char*, const char*> ends[] = {
        {"h0", "p2"}, {"p4.t0-0", "d0"}, {"p6.t0-1", "d1"}, {"h5", "p7"}};
    for (const auto& [node, port] : ends) set(node, port, "down");
    CHECK(come_to(4, "h0", "h5"));
    CHECK(flows.unanswered() == 0);
    for (const auto& [node, port] : ends) set(node, port, "up");
    CHECK(come_to(8, "h0", "h5"));
    CHECK(flows.unanswered() == 0);
  }
  CHECK(mrclab({"down"}).code == 0);
}

TEST_CASE("a host without any link is unreachable, and reachable again with the first one") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "pair"}).code == 0);
  REQUIRE(mrclab({"fault", "nic_dead", "h1"}).code == 0);
  CHECK(come_to(0, "h0", "h1"));
  const CommandResult ping = mrclab({"exec", "h0", "--", "ping", "-c", "1", "h1"});
  CHECK(ping.code != 0);
  CHECK(ping.output.find("unreachable") != std::string::npos);
  REQUIRE(mrclab({"heal"}).code == 0);
  CHECK(come_to(2, "h0", "h1"));
  CHECK(mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", kPingPatience, "h1"}).code == 0);
  CHECK(mrclab({"down"}).code == 0);
}

TEST_CASE(
    "whoever forwards, and whatever the fabric's form, ordinary traffic survives a dead spine") {
  enter_sandbox();
  struct Case {
    const char *fabric, *from, *to;
    size_t ways;
    const char* dead;
  };
  const Case cases[] = {
      {"pair-kernel", "h0", "h1", 2, "p0.t1-0"},     {"pair-ovs", "h0", "h1", 2, "p0.t1-0"},
      {"mixed", "h0", "h3", 4, "p*.t1-0"},           {"ecmp-octet", "h0", "h5", 8, "p*.t1-[0-2]"},
      {"ecmp-octet-ipv4", "h0", "h5", 8, "p*.t1-1"}, {"ai-backend", "h0", "h2", 2, "spine5"}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.fabric));
    const CommandResult up = mrclab({"up", c.fabric, "--name", "lab"});
    CAPTURE(up.output);
    REQUIRE(up.code == 0);
    const Topology topology = read_fabric_file(lab::find_fabric(c.fabric));
    {
      Flows flows("lab", topology, topology.node(*topology.find_node(c.from)).index,
                  topology.node(*topology.find_node(c.to)).index, 64);
      CHECK(flows.unanswered() == 0);
      CHECK(ways(c.from, c.to) == c.ways);
      const CommandResult broken = mrclab({"fault", "switch_crash", c.dead});
      CAPTURE(broken.output);
      REQUIRE(broken.code == 0);
      CHECK(flows.unanswered() == 0);
      REQUIRE(mrclab({"heal"}).code == 0);
      CHECK(come_to(c.ways, c.from, c.to));
      CHECK(flows.unanswered() == 0);
    }
    CHECK(mrclab({"down"}).code == 0);
  }
}

TEST_CASE("the first packet of every host passes, as soon as the lab is up") {
  enter_sandbox();
  // Once in ten the kernel's link watch had not yet run for the pair that a host's packets leave by.
  const int times = test::nightly() ? 10 : 4;
  constexpr int kHosts = 8;
  for (int time = 0; time < times; ++time) {
    REQUIRE(mrclab({"up", "ecmp-octet", "--name", "lab"}).code == 0);
    for (int host = 0; host < kHosts; ++host) {
      const CommandResult ping =
          mrclab({"exec", fmt::format("h{}", host), "--", "ping", "-c", "1", "-W", kPingPatience,
                  fmt::format("h{}", (host + 1) % kHosts)});
      CAPTURE(ping.output);
      REQUIRE(ping.code == 0);
    }
    REQUIRE(mrclab({"down"}).code == 0);
  }
}

TEST_CASE("a ping of any size passes, and what must not be fragmented is refused aloud") {
  enter_sandbox();
  for (const std::string fabric : {"pair", "pair-kernel", "pair-ovs", "ai-backend", "ecmp-octet"}) {
    CAPTURE(fabric);
    REQUIRE(mrclab({"up", fabric, "--name", "lab"}).code == 0);
    std::vector<int> sizes{1, 56, 1400, 4000, 8400, 16'000, 65'507};
    const int step = test::nightly() ? 4 : 24;
    for (int size = 4096; size < 4400; size += fabric == "pair" ? step : 4 * step) {
      sizes.push_back(size);
    }
    for (const int size : sizes) {
      CAPTURE(size);
      const CommandResult ping = mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", kPingPatience,
                                         "-s", std::to_string(size), "h1"});
      CAPTURE(ping.output);
      CHECK(ping.code == 0);
    }
    const CommandResult whole = mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", kPingPatience,
                                        "-M", "do", "-s", "5000", "h1"});
    CAPTURE(whole.output);
    CHECK(whole.code != 0);
    CHECK(whole.output.find("too long") != std::string::npos);
    CHECK(mrclab({"down"}).code == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
