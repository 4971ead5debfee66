// mrc-bgpd: a speaker of ours as a program of the machine, in the network namespace that it is started in.
//
//   mrc-bgpd FILE        FILE: live/bgpd/speaker_plan.h, docs/bgp.md
//
// Prints a line for each session and each route, so many at most (line_budget.h). SIGTERM or SIGINT: it sends Cease and removes its routes.

#include <fmt/format.h>

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "live/bgpd/line_budget.h"
#include "live/bgpd/speaker_plan.h"
#include "netio/system/file_size_limit.h"

namespace {

using namespace mrclab;
using namespace mrclab::lab;

/// How long the last words to a neighbour may take.
constexpr std::chrono::milliseconds kFarewell{1000};

class Printer : public BgpDaemonEvents {
 public:
  explicit Printer(const SpeakerPlan& plan) : plan_(plan), budget_(Clock::now()) {}
  ~Printer() override { say_left_out(); }
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  void session_up(size_t neighbour) override { say("up {}", address(neighbour)); }
  void session_down(size_t neighbour, const std::string& reason) override {
    say("down {}: {}", address(neighbour), reason);
  }
  void route_changed(const routing::Prefix& prefix, const routing::FibEntry& entry) override {
    std::string ways = entry.known ? " dropped" : " none";
    if (!entry.hops.empty()) ways.clear();
    for (const routing::WeightedHop& hop : entry.hops) {
      const SpeakerPlan::Neighbour& out = plan_.neighbours[hop.port.value];
      ways += fmt::format(" {}*{}", out.device.empty() ? to_string(out.remote) : out.device,
                          hop.weight);
    }
    say("route {}{}", routing::to_string(prefix), ways);
  }
  void attribute_fault(size_t neighbour, const routing::AttributeFault& fault) override {
    say("fault {}: {}", address(neighbour), fault.reason);
  }
  void trouble(const std::string& what) override { say("trouble {}", what); }

 private:
  using Clock = std::chrono::steady_clock;

  template <class... Parts>
  void say(fmt::format_string<Parts...> format, Parts&&... parts) {
    if (!budget_.may_write_line(Clock::now())) return;
    say_left_out();
    std::puts(fmt::format(format, std::forward<Parts>(parts)...).c_str());
    std::fflush(stdout);
  }
  void say_left_out() {
    const uint64_t lines = budget_.take_left_out();
    if (lines > 0) std::puts(fmt::format("left out {}", counted_noun(lines, "line")).c_str());
  }
  std::string address(size_t neighbour) const {
    return to_string(plan_.neighbours[neighbour].remote);
  }

  const SpeakerPlan& plan_;
  LineBudget budget_;
};

int run(const char* file) {
  const SpeakerPlan plan = read_speaker_plan(file);
  boost::asio::io_context io;
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  Printer printer(plan);
  BgpDaemon daemon(io, daemon_setup(plan), printer);
  daemon.start();
  bool ending = false;
  signals.async_wait([&](boost::system::error_code, int) { ending = true; });
  while (!ending) io.run_one();
  daemon.shut_down();
  const auto until = std::chrono::steady_clock::now() + kFarewell;
  while (!daemon.drained() && std::chrono::steady_clock::now() < until) io.run_one_until(until);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  netio::report_file_size_limit();
  if (argc != 2) {
    std::fputs("mrc-bgpd: found no file: expected mrc-bgpd FILE\n", stderr);
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const InputError& error) {
    std::fprintf(stderr, "mrc-bgpd: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mrc-bgpd: %s\n", error.what());
    return 1;
  }
}
