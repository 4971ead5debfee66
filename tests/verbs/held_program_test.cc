// Held programs on the host's side: fabric time passes at their requests alone.

#include <doctest/doctest.h>

#include <chrono>

#include "tests/support/fabrics.h"
#include "tests/verbs/scripted_program.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::test {
namespace {

using verbs::Op;
using verbs::SocketOp;
using namespace std::chrono_literals;

constexpr FabricTime us(int64_t value) { return FabricTime::from_us(value); }

TEST_CASE("a held program's time is what it spent and what it waited for") {
  HeldFabric held(pair());
  std::vector<FabricTime> times;
  held.add(
      0,
      [&](ProgramSide& program) {
        program.hello("clock");
        times.push_back(program.now());
        program.spend(us(3));
        program.call(Op::kAdvance);
        times.push_back(program.now());
        program.spend(us(1));
        program.sleep_until(us(100));
        times.push_back(program.now());
        program.spend(us(1));
        program.sleep_until(us(50));  // long past
        times.push_back(program.now());
        program.spend(us(2));
        program.send_only(Op::kExit);
      },
      us(7));
  held.fabric.run_until(us(1'000));
  CHECK(times == std::vector<FabricTime>{us(7), us(10), us(100), us(101)});
  const verbs::HeldReport report = held.reports().at(0);
  CHECK(report.program == "clock");
  CHECK(report.started == us(7));
  CHECK(report.ended == us(103));
  CHECK(report.not_held.empty());
}

/// Two programs that connect, and send a message there and back. Returns when what happened.
std::vector<std::pair<std::string, FabricTime>> talk(uint32_t shuffle) {
  SimFabric::Options options;
  options.shuffle = shuffle;
  HeldFabric held(pair(), options);
  std::vector<std::pair<std::string, FabricTime>> server, client;
  held.add(0, [&](ProgramSide& program) {
    program.hello("server");
    const auto note = [&](const char* what) { server.emplace_back(what, program.now()); };
    program.socket(SocketOp::kListen, 1, 0, 18515, 5);
    program.wait_for_socket(1);
    program.socket(SocketOp::kAccept, 1, 0, 0, 2);
    note("accepted");
    program.wait_for_socket(2);
    CHECK(program.socket(SocketOp::kReceive, 2, 0, 0, 1'000).bytes == 50);
    note("received");
    program.spend(us(5));
    CHECK(program.socket(SocketOp::kSent, 2, 0, 0, 7).bytes == 7);
    program.wait_for_socket(2);
    CHECK(program.socket(SocketOp::kReceive, 2, 0, 0, 1'000).closed == 1);
    note("closed");
  });
  held.add(
      1,
      [&](ProgramSide& program) {
        program.hello("client");
        const auto note = [&](const char* what) { client.emplace_back(what, program.now()); };
        program.socket(SocketOp::kConnect, 4, 0, 18515);
        CHECK(program.status == 0);
        program.socket(SocketOp::kReceive, 4);
        CHECK(program.status == EINPROGRESS);
        program.wait_for_socket(4);
        program.socket(SocketOp::kConnected, 4);
        note("connected");
        CHECK(program.socket(SocketOp::kSent, 4, 0, 0, 50).bytes == 50);
        program.wait_for_socket(4);
        CHECK(program.socket(SocketOp::kReceive, 4, 0, 0, 3).bytes == 3);
        CHECK(program.socket(SocketOp::kReceive, 4, 0, 0, 100).bytes == 4);
        note("received");
        program.spend(us(1));  // ends without a word: the host closes its socket here
        program.call(Op::kAdvance);
      },
      us(10));
  held.fabric.run_until(us(10'000));
  server.insert(server.end(), client.begin(), client.end());
  return server;
}

TEST_CASE("programs connect and talk over the management network, 20 us each way") {
  const std::vector<std::pair<std::string, FabricTime>> expected{{"accepted", us(70)},
                                                                 {"received", us(70)},
                                                                 {"closed", us(116)},
                                                                 {"connected", us(50)},
                                                                 {"received", us(95)}};
  CHECK(talk(0) == expected);
  CHECK(talk(3) == expected);
}

TEST_CASE("a program that asks for nothing is not held, by name, and time goes on") {
  HeldFabric held(pair(), {}, {.request = 3, .attach = 3});
  std::atomic<bool> over = false;
  uint64_t rate = 0;
  held.add(0, [&](ProgramSide& program) {
    program.hello("spinner");
    program.spend(us(4));
    while (!over) std::this_thread::yield();
    rate = program.call(Op::kAdvance).rate;
  });
  held.fabric.run_until(us(500));
  const verbs::HeldReport report = held.reports().at(0);
  CHECK(report.program == "spinner");
  CHECK(report.not_held == "it asked for nothing for 0.06 seconds of this machine's");
  CHECK(report.not_held_at == FabricTime::zero());
  over = true;
  // It gets answers again, in this machine's time.
  for (int64_t end = 1'000; rate == 0 && end < 10'000'000; end += 500) {
    held.fabric.run_until(us(end));
    std::this_thread::yield();
  }
  CHECK(rate == verbs::HeldProgram::kRateAfterwards);
}

TEST_CASE("a program that vanishes without a word was ended from outside, and was not held") {
  HeldFabric held(pair());
  held.add(0, [&](ProgramSide& program) {
    program.hello("killed");
    program.spend(us(4));
    program.call(Op::kAdvance);
  });
  held.fabric.run_until(us(10));
  const verbs::HeldReport report = held.reports().at(0);
  CHECK(report.not_held.starts_with("it was ended from outside the lab"));
  CHECK(report.not_held_at == us(4));
  CHECK(report.ended == us(4));
}

TEST_CASE("a program's own word that it cannot be held states thread, address and why") {
  HeldFabric held(pair());
  held.add(0, [&](ProgramSide& program) {
    program.hello("counter");
    verbs::NotHeldRequest why{};
    why.address = 0x401136;
    why.thread = 2;
    std::strcpy(why.why, "a loop that counts");
    program.call(Op::kNotHeld, why);
  });
  held.fabric.run_until(us(100));
  CHECK(held.reports().at(0).not_held == "thread 2 at 0x401136: a loop that counts");
}

TEST_CASE("a declared program that never connects keeps nobody longer than its patience") {
  HeldFabric held(pair(), {}, {.request = 3, .attach = 3});
  verbs::DeclaredProgram declared;
  declared.at = us(5);
  const std::string path = "/tmp/vg-never-" + std::to_string(::getpid());
  declared.socket = path;
  held.host(1).declare(declared);
  held.fabric.run_until(us(100));
  const verbs::HeldReport report = held.reports().at(0);
  CHECK(report.started == FabricTime::never());
  CHECK(report.not_held.starts_with("never attached"));
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("time stands at a declared program's start until it has connected") {
  HeldFabric held(pair());
  verbs::DeclaredProgram declared;
  declared.at = us(5);
  declared.socket = "/tmp/vg-late-" + std::to_string(::getpid());
  held.host(1).declare(declared);
  FabricTime seen;
  std::jthread late([&] {
    std::this_thread::sleep_for(30ms);  // whenever: fabric time stands
    ProgramSide program(netio::MessageSocket::connect(declared.socket));
    program.hello("late");
    seen = program.now();
    program.send_only(Op::kExit);
  });
  held.fabric.run_until(us(100));
  late.join();
  CHECK(seen == us(5));
  CHECK(held.reports().at(0).ended == us(5));
}

TEST_CASE("what is no request ends the program, and nothing else") {
  HeldFabric held(pair());
  bool other = false;
  held.add(0, [&](ProgramSide& program) {
    program.hello("broken");
    program.spend(us(1));
    verbs::RequestHeader junk{};
    junk.op = Op::kWait;
    program.call(static_cast<Op>(4'000'000'000u), junk);
    verbs::WaitRequest wait{};
    wait.count = 5'000;
    CHECK(program.call(Op::kWait, wait).status == EINVAL);
    wait.count = 1;
    wait.channels = 2;
    CHECK(program.call(Op::kWait, wait).status == EINVAL);
    CHECK(program.call(Op::kSocket).status == EINVAL);
    CHECK(program.call(Op::kPollEmpty).status == EINVAL);
    CHECK(program.call(Op::kNotHeld).status == EINVAL);
  });
  held.add(1, [&](ProgramSide& program) {
    program.hello("other");
    program.sleep_until(us(90));
    other = true;
  });
  held.fabric.run_until(us(100));
  CHECK(other);
}

TEST_CASE("a program that asks without end at one instant spends time at last") {
  HeldFabric held(pair());
  held.add(0, [&](ProgramSide& program) {
    program.hello("eager");
    while (program.now() < us(2)) program.call(Op::kAdvance);
  });
  held.fabric.run_until(us(10));
  CHECK(held.reports().at(0).ended == us(2));
}

TEST_CASE("empty polls take longer the more of them there are, and a millisecond at most") {
  using verbs::HeldProgram;
  CHECK(HeldProgram::poll_time(0) == FabricTime::from_ns(50));
  CHECK(HeldProgram::poll_time(32) == FabricTime::from_ns(100));
  CHECK(HeldProgram::poll_time(64) == FabricTime::from_ns(200));
  CHECK(HeldProgram::poll_time(1'000) == us(1'000));
  CHECK(HeldProgram::poll_time(UINT32_MAX) == us(1'000));
  FabricTime sum;
  uint32_t polls = 0;
  for (; sum < us(34'360'000); ++polls) {
    CHECK(HeldProgram::poll_time(polls) <= HeldProgram::poll_time(polls + 1));
    sum += HeldProgram::poll_time(polls);
  }
  CHECK(polls < 36'000);  // 34 s
}

}  // namespace
}  // namespace mrclab::test
