// What programs see of time when they are held: equal in every run, whatever else this machine does.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/support/nightly.h"
#include "tests/verbs/held/program_runs.h"

namespace {

using namespace mrclab::test;

int reruns() { return nightly() ? 10 : 3; }

/// The text behind `key` in its line.
std::string after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return "no '" + key + "'";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

void check_good(const ProgramRun& run) {
  CHECK_MESSAGE(run.served, run.why, "\n", run.outputs.at(0), run.errors.at(0), run.history);
  CHECK(run.not_held.empty());
  for (const std::string& error : run.errors) CHECK(error == "");
}

/// The same under load, reruns() times.
void check_reruns(const ProgramRun& first, const std::vector<std::vector<std::string>>& commands,
                  const RunOptions& options = {}) {
  const Load load;
  for (int i = 0; i < reruns(); ++i) {
    const ProgramRun again = run_programs(commands, options);
    REQUIRE(again.outputs == first.outputs);
    REQUIRE(again.history == first.history);
    REQUIRE(again.codes == first.codes);
  }
}

}  // namespace

TEST_CASE("a held program sees no clock but fabric time" * doctest::skip(!clocks_are_held())) {
  const std::vector<std::vector<std::string>> command = {{built("held_clocks")}};
  const ProgramRun run = run_programs(command);
  check_good(run);
  CHECK(run.codes == std::vector{0});
  const std::string& out = run.outputs[0];
  CHECK(after(out, "begins ") == "20");
  // Each read of a clock costs 20 ns, each call 100 ns (of a poll within its timeout).
  CHECK(after(out, "usleep(1500): ") == "1500120");
  CHECK(after(out, "sleep(2): ") == "2000000120");
  CHECK(after(out, "poll 250 ms: ") == "250000020");
  CHECK(after(out, "in nanosleep(10): ").starts_with("-1, 1 alarms, 9."));
  CHECK(after(out, "poll of it: ") == "1 1");
  CHECK(after(out, "a child in between: ") == "0");
  check_reruns(run, command);
  if (!replaces_reads()) return;
  RunOptions replaced;
  replaced.environment = {"MRCLAB_HELD_REPLACE_TSC=1"};
  const ProgramRun again = run_programs(command, replaced);
  check_good(again);
  CHECK(again.outputs == run.outputs);
}

TEST_CASE("held programs talk over TCP at the times of the management network") {
  const std::vector<std::vector<std::string>> commands = {
      {built("held_talk"), "server"}, {built("held_talk"), "client", "10.255.0.1"}};
  const ProgramRun run = run_programs(commands);
  check_good(run);
  CHECK(run.codes == std::vector{0, 137});
  CHECK_MESSAGE(run.outputs[0].find("bulk 1048576, equal") != std::string::npos, run.outputs[0]);
  CHECK(run.outputs[0].find("the other end was killed: read 0") != std::string::npos);
  CHECK(run.outputs[1].find("too early: -1 Connection refused") != std::string::npos);
  check_reruns(run, commands);
}

TEST_CASE("threads of a held program run one at a time, in one order") {
  const std::vector<std::vector<std::string>> command = {{built("held_threads")}};
  const ProgramRun run = run_programs(command);
  check_good(run);
  CHECK(run.codes == std::vector{0});
  CHECK_MESSAGE(after(run.outputs[0], "joined, ") == "12", run.outputs[0]);
  CHECK(after(run.outputs[0], "cancelled: ") == "1, cleaned -1");
  check_reruns(run, command);
}

TEST_CASE("a held program that spins on its memory sees each change when it happens") {
  const std::vector<std::vector<std::string>> command = {{built("held_memory")}};
  RunOptions options;
  options.count_every_ps = 10'000'000;  // 10 us
  options.environment = {"MRCLAB_HELD_TICK_US=50"};
  const ProgramRun run = run_programs(command, options);
  check_good(run);
  CHECK(run.codes == std::vector{0});
  CHECK_MESSAGE(run.outputs[0].find("\n20 at 200") != std::string::npos, run.outputs[0]);
  options.environment = {"MRCLAB_HELD_TICK_US=5000"};
  CHECK(run_programs(command, options).outputs == run.outputs);
  check_reruns(run, command, options);
}

TEST_CASE("a shell around a held program is none" * doctest::skip(!clocks_are_held())) {
  RunOptions options;
  options.declared = "held_clocks";
  const ProgramRun bare = run_programs({{built("held_clocks")}}, options);
  check_good(bare);
  const std::string path = built("held_clocks");
  const ProgramRun wrapped = run_programs(
      {{"/bin/sh", "-c", "date > /dev/null; timeout 60 " + path + "; exit $?"}}, options);
  check_good(wrapped);
  CHECK(wrapped.outputs == bare.outputs);
}

TEST_CASE("children of a held program are not held, and its time stands while it waits for them") {
  const ProgramRun run = run_programs({{built("held_odd"), "children"}});
  check_good(run);
  CHECK(run.codes == std::vector{0});
  const std::string& out = run.outputs[0];
  CHECK(after(out, "forked: ") == "11");
  CHECK(after(out, "executed: ") == "13");
  CHECK(after(out, "spawned: ") == "14");
  CHECK(after(out, "piped: ") == "fifteen");
  CHECK(after(out, "from a child: ") == "sixteen");
  CHECK(after(out, "took ").size() < 6);  // nanoseconds: calls alone
  CHECK(out.ends_with("became echo\n"));
}

TEST_CASE("futexes by number are held") {
  const ProgramRun run = run_programs({{built("held_odd"), "futexes"}});
  check_good(run);
  CHECK(after(run.outputs[0], "woken after ") == "40120");
  CHECK(after(run.outputs[0], "futex: ") == "-1 1 after 5000020");
  CHECK(after(run.outputs[0], "by number: ") == "1");
}

TEST_CASE("a thread that did not begin by pthread_create ends being held, by name") {
  const ProgramRun run = run_programs({{built("held_odd"), "c11"}});
  CHECK(run.served);
  CHECK(run.not_held ==
        std::vector<std::string>{"has a thread that did not begin by pthread_create"});
  CHECK_MESSAGE(after(run.outputs[0], "result ") == "7", run.errors[0]);
}

TEST_CASE("a program that sends datagrams is not held, by name") {
  const ProgramRun run = run_programs({{built("held_odd"), "datagram"}});
  CHECK(run.not_held == std::vector<std::string>{"sends datagrams beside the fabric"});
  CHECK(after(run.outputs[0], "sent ") == "1");
}

TEST_CASE("a program that ends itself says so, and one that is ended from outside does not") {
  const std::pair<const char*, int> ways[] = {{"abort", 134}, {"fault", 139}, {"_exit", 7},
                                              {"exec", 0},    {"no exec", 0}, {"raise", 143},
                                              {"return", 0}};
  for (const auto& [way, code] : ways) {
    const std::string which = way;
    CAPTURE(which);
    const ProgramRun run = run_programs({{built("held_odd"), "ends", which}});
    check_good(run);
    CHECK(run.codes.at(0) == code);
  }
  CHECK(run_programs({{built("held_odd"), "ends", "outside"}}).not_held ==
        std::vector<std::string>{"vanished"});
}

TEST_CASE("a held program survives its server, and what a server should not send") {
  using Fault = ReferenceServer::Fault;
  const Fault faults[] = {Fault::kHangsUp, Fault::kTooShort,     Fault::kTooLong,
                          Fault::kOtherOp, Fault::kTimeRunsBack, Fault::kHoldsNoLonger};
  for (const Fault fault : faults) {
    for (const char* const deed : {"sleeps", "locked"}) {
      CAPTURE(static_cast<int>(fault));
      const std::string which = deed;
      CAPTURE(which);
      RunOptions options;
      options.fault = fault;
      options.fault_from = 20;
      const ProgramRun run = run_programs({{built("held_odd"), deed}}, options);
      CHECK(run.codes.at(0) == 0);
      CHECK(run.errors[0].starts_with("mrclab: the host's side of the lab "));
      CHECK(std::count(run.errors[0].begin(), run.errors[0].end(), '\n') == 1);
    }
  }
}

TEST_CASE("a program that connects to something outside the lab is not held, and goes on") {
  const ProgramRun run = run_programs(
      {{built("held_talk"), "client", "127.0.0.1"}, {built("held_talk"), "client", "192.0.2.1"}});
  CHECK(run.served);
  REQUIRE(run.not_held.size() == 1);
  CHECK(run.not_held[0] == "connects to something that is no host of its lab");
  CHECK(run.errors[1].find("cannot be held") != std::string::npos);
}
