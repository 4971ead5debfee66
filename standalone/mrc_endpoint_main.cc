// mrc-endpoint: an MRC endpoint without the lab, used as perftest's programs are.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "netio/kernel/route.h"
#include "standalone/perf_test.h"

namespace {

using namespace mrclab;

struct Options {
  std::string server;  ///< empty: this is the server
  std::string listen = "127.0.0.1";
  std::string address;
  std::vector<std::string> interfaces, carriers, accepted, next_hops;
  std::string congestion = "nscc", dscps, ev_format = "native";
  uint16_t port = netio::kOutOfBandPort;
  double rtt_us = 0, rate_gbps = 100;
  bool json = false, no_icrc = false;
  standalone::EndpointConfig endpoint;
  standalone::PerfConfig perf;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("server", o.server, "host where the server runs; without it this is the server");
  app.add_option("-a,--address", o.address, "our inner IPv6 address")->required();
  app.add_option("-i,--interface", o.interfaces,
                 "one interface per plane: veth0,veth1 or p0=veth0,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  app.add_option("-N,--netns", o.endpoint.network_namespace, "network namespace of the interfaces");
  app.add_option("-s,--size", o.perf.size, "bytes per message: 65536, 64K, 1M")
      ->transform(CLI::AsSizeValue(false))  // K is 1024, as in nccl-tests
      ->capture_default_str();
  app.add_option("-n,--iters", o.perf.iters, "messages")->capture_default_str();
  app.add_option("-t,--tx-depth", o.perf.tx_depth, "messages outstanding")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("-q,--qps", o.perf.qps, "queue pairs")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--latency", o.perf.latency, "ping-pong latency instead of bandwidth");
  app.add_option("-p,--port", o.port, "TCP port of the out-of-band channel")->capture_default_str();
  app.add_option("--listen", o.listen,
                 "server: address on which the channel waits; :: for all, from other machines")
      ->capture_default_str();
  app.add_option(
         "--carrier", o.carriers,
         "outer destination of a plane, p0=ADDR; several per plane are several paths (EVs). "
         "Default: the peer's inner address")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--accept", o.accepted, "outer destination to take beside our address, p0=ADDR")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--next-hop", o.next_hops, "MAC to send to, p0=02:..; default: the peer's own")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--evs", o.endpoint.evs_per_plane, "entropy values per plane")
      ->check(CLI::Range(1, 128))
      ->capture_default_str();
  app.add_option("-m,--mtu", o.endpoint.pmtu, "PMTU: payload bytes per packet")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}))
      ->capture_default_str();
  app.add_option("--udp-port", o.endpoint.udp_port, "UDP destination port; both are taken")
      ->check(CLI::IsMember({kMrcUdpPort, kMrcUdpPortAlternate}))
      ->capture_default_str();
  app.add_option("--dscp", o.dscps,
                 "DSCPs of classes: trimmable=10,control=48; others as the public MRC emulator's");
  app.add_option("--ev-format", o.ev_format,
                 "how our entropy values stand in packets: native, port (16 bits, plane and path), "
                 "structured (32 bits); the peer's may be any")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(endpoint::kEvFormatWords),
                                                     std::end(endpoint::kEvFormatWords))))
      ->capture_default_str();
  app.add_option("--rtt", o.rtt_us, "base RTT in us; default 1000")->check(CLI::PositiveNumber);
  app.add_option("--rate", o.rate_gbps, "Gb/s of one interface: paces, sizes windows")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  app.add_option("--dilation", o.endpoint.dilation, "wall seconds per fabric second")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--congestion-control", o.congestion, "nscc or fixed")
      ->check(CLI::IsMember({"nscc", "fixed"}))
      ->capture_default_str();
  app.add_flag("--no-icrc", o.no_icrc, "neither compute nor check ICRCs (both ends)");
  app.add_flag("--json", o.json, "one JSON object instead of the table");
}

/// "p2=rest" names plane 2; without a prefix planes are counted.
std::pair<size_t, std::string> plane_of(const std::string& text, size_t counted, size_t planes) {
  size_t plane = counted;
  std::string rest = text;
  const size_t equals = text.find('=');
  if (equals != std::string::npos) {
    unsigned number = 0;
    char trailing = 0;
    if (std::sscanf(text.substr(0, equals).c_str(), "p%u%c", &number, &trailing) != 1) {
      throw std::invalid_argument("\"" + text + "\": expected something like p0=...");
    }
    plane = number;
    rest = text.substr(equals + 1);
  }
  if (plane >= planes) {
    throw std::invalid_argument("\"" + text + "\": there are only planes p0 to p" +
                                std::to_string(planes - 1));
  }
  return {plane, rest};
}

void resolve(Options& o) {
  standalone::EndpointConfig& e = o.endpoint;
  e.address = netio::parse_address(o.address);
  e.planes.resize(o.interfaces.size());
  const size_t planes = e.planes.size();
  for (size_t i = 0; i < o.interfaces.size(); ++i) {
    const auto [plane, name] = plane_of(o.interfaces[i], i, planes);
    e.planes[plane].interface = name;
  }
  for (size_t i = 0; i < o.carriers.size(); ++i) {
    const auto [plane, text] = plane_of(o.carriers[i], i, planes);
    e.planes[plane].carriers.push_back(netio::parse_address(text));
  }
  for (size_t i = 0; i < o.accepted.size(); ++i) {
    const auto [plane, text] = plane_of(o.accepted[i], i, planes);
    e.planes[plane].accepted.push_back(netio::parse_address(text));
  }
  for (size_t i = 0; i < o.next_hops.size(); ++i) {
    const auto [plane, text] = plane_of(o.next_hops[i], i, planes);
    e.planes[plane].next_hop = standalone::parse_mac(text);
  }
  e.dscps = parse_dscps(o.dscps);
  const auto* word = std::find(std::begin(endpoint::kEvFormatWords),
                               std::end(endpoint::kEvFormatWords), o.ev_format);
  e.ev_format = static_cast<endpoint::EvFormat>(word - std::begin(endpoint::kEvFormatWords));
  e.icrc = !o.no_icrc;
  e.port_rate = {static_cast<uint64_t>(o.rate_gbps * 1e9)};
  if (o.rtt_us > 0) e.base_rtt = FabricTime::from_ns(static_cast<int64_t>(o.rtt_us * 1000));
  if (o.congestion == "fixed") e.congestion_control = endpoint::CongestionAlgorithm::kFixed;
}

int run(Options& o) {
  resolve(o);
  check_interfaces(o.endpoint);
  const bool server = o.server.empty();
  using netio::LineChannel;
  LineChannel channel =
      server ? LineChannel::accept(o.listen, o.port, std::chrono::minutes(10), standalone::is_hello)
             : LineChannel::connect(o.server, o.port, std::chrono::seconds(10));
  standalone::StandaloneEndpoint end(o.endpoint, channel, server);
  const standalone::PerfResult result = run_perf_test(end, channel, o.perf, server);
  std::fputs((o.json ? perf_json(o.perf, result) : perf_table(o.perf, result)).c_str(), stdout);
  return result.wrong_bytes == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"An MRC endpoint without the lab: bandwidth or latency between two processes.",
               "mrc-endpoint"};
  app.footer(
      "Example, one cable and two namespaces (run the server first, or second):\n"
      "  mrc-endpoint --netns A --address fd00::1 --interface veth0\n"
      "  mrc-endpoint --netns B --address fd00::2 --interface veth1 localhost\n"
      "On two machines give the server --listen and its address, or :: for all of them.\n"
      "Needs CAP_NET_RAW. The inner addresses must not be configured in the kernel.\n"
      "Exit codes: 0 verified, 1 failed, 2 bad usage, 3 this machine cannot.");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const netio::SystemError& error) {
    std::fprintf(stderr, "mrc-endpoint: %s\n", explain(error).c_str());
    return netio::exit_code(error);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "mrc-endpoint: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mrc-endpoint: %s\n", error.what());
    return 1;
  }
}
