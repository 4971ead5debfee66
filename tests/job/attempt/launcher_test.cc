// The launcher of a job by itself: whom it ends, whom it takes as lost, and where it places the ranks of the next attempt.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "fabric/text/input_error.h"
#include "job/attempt/attempts.h"
#include "job/attempt/job_launcher.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::job;
using test::us;

namespace {

using Kind = LauncherWord::Kind;

/// Four ranks on h0 to h3, as two replicas of two.
JobSpec four_ranks(OnError::Action action) {
  JobSpec spec;
  spec.hosts = {0, 1, 2, 3};
  spec.groups = {{"tp", 2}, {"dp", 2}};
  spec.steps = 9;
  spec.scale = 10;
  OnError& on = spec.on_error.emplace();
  on.action = action;
  on.answer = us(100);
  on.restart = us(500);
  return spec;
}

/// Keeps what it is asked to send.
struct Lines : LauncherHost {
  void tell(uint32_t host, uint32_t line, const LauncherWord& word) override {
    text += (text.empty() ? "" : " ") + std::to_string(host) + "." + std::to_string(line) + ":" +
            std::to_string(static_cast<int>(word.kind)) + "/" + std::to_string(word.attempt) + "/" +
            std::to_string(word.a) + "/" + std::to_string(word.b);
  }
  void wake_at(FabricTime at) override { woken = at; }
  std::string taken() { return std::exchange(text, ""); }
  std::string text;
  FabricTime woken;
};

}  // namespace

TEST_CASE("words of a launcher are read back from their bits") {
  for (const LauncherWord& word :
       {LauncherWord{Kind::kError, 0}, LauncherWord{Kind::kEnd, 4},
        LauncherWord{Kind::kReplace, 1, 1023, 15}, LauncherWord{Kind::kGo, 3, kMaxSteps},
        LauncherWord{Kind::kAsk, 2, 1}}) {
    CHECK(word_of(bits_of(word)) == word);
  }
  CHECK_FALSE(word_of(0xFFFF'FFFF));
}

TEST_CASE("a host that has not answered when it is asked again ends the attempt") {
  JobSpec spec = four_ranks(OnError::Action::kAbort);
  spec.on_error->heartbeat = us(1000);
  spec.hosts = {0, 0, 1, 1};  // each is asked once
  JobLauncher launcher(spec, 0);
  Lines io;
  launcher.start(us(5), io);
  CHECK(io.woken == us(105));  // a tenth of the field's time
  launcher.on_wake(us(105), io);
  CHECK(io.taken() == "0.0:7/0/0/0 1.0:7/0/0/0");
  CHECK(launcher.at_rest());
  launcher.on_word(0, {Kind::kAsk, 0, 1}, us(106), io);  // its ranks have ended
  launcher.on_word(1, {Kind::kAsk, 0, 0}, us(107), io);
  launcher.on_wake(us(205), io);
  CHECK(io.taken() == "1.0:7/0/0/0");
  CHECK(launcher.turns().empty());
  launcher.on_wake(us(305), io);
  REQUIRE(launcher.turns().size() == 1);
  CHECK(launcher.turns()[0].reporter == 1);
  CHECK(launcher.turns()[0].reported == us(305));
  CHECK(io.taken() == "0.0:1/0/0/0 1.0:1/0/0/0");
}

TEST_CASE("ranks of a host that does not answer go to spares, behind the newest checkpoint") {
  JobSpec spec = four_ranks(OnError::Action::kRestart);
  spec.on_error->spares = {6, 7};
  JobLauncher launcher(spec, 1);
  Lines io;
  launcher.on_word(2, {Kind::kError, 0}, us(40), io);
  CHECK(io.taken() == "0.0:1/0/0/0 1.0:1/0/0/0 2.0:1/0/0/0 3.0:1/0/0/0");
  CHECK(io.woken == us(50));  // 100us of the field
  for (const uint32_t host : {0u, 1u, 2u}) launcher.on_told(host, us(42), io);
  launcher.on_wake(us(50), io);
  CHECK(io.woken == us(100));
  CHECK_FALSE(launcher.at_rest());
  launcher.on_wake(us(100), io);
  CHECK(io.taken() ==
        "0.0:2/1/3/0 0.0:4/1/0/0 1.0:2/1/3/0 1.0:4/1/0/0 2.0:2/1/3/0 2.0:4/1/0/0 "
        "6.0:2/1/3/0 6.0:4/1/0/0");
  launcher.on_word(0, {Kind::kReady, 1, 4}, us(110), io);
  launcher.on_word(1, {Kind::kReady, 1, 6}, us(111), io);
  launcher.on_word(2, {Kind::kReady, 1, 4}, us(112), io);
  CHECK(io.taken().empty());
  launcher.on_word(6, {Kind::kReady, 1, 0}, us(113), io);
  CHECK(io.taken() == "0.0:6/1/6/0 1.0:6/1/6/0 2.0:6/1/6/0 6.0:6/1/6/0");
  REQUIRE(launcher.turns().size() == 1);
  const JobTurn& turn = launcher.turns()[0];
  CHECK(turn.reporter == 2);
  CHECK(turn.lost == std::vector<uint32_t>{3});
  CHECK(turn.hosts == std::vector<uint32_t>{0, 1, 2, 6});
  CHECK(turn.from_step == 6);
  CHECK(turn.begun == us(113));
  CHECK(launcher.at_rest());
  // There was one attempt more.
  launcher.on_word(6, {Kind::kError, 1}, us(200), io);
  for (const uint32_t host : {0u, 1u, 2u, 6u}) launcher.on_told(host, us(201), io);
  CHECK(launcher.turns()[1].gave_up == "no attempt is left");
}

TEST_CASE("all ranks of a lost host go to one spare, and each host is told once") {
  JobSpec spec = four_ranks(OnError::Action::kRestart);
  spec.hosts = {0, 0, 1, 1};
  spec.on_error->spares = {6, 7};
  const std::vector<Attempt> attempts = attempts_of(spec);
  REQUIRE(!attempts.empty());
  CHECK(attempts[0].hosts ==
        std::vector<std::vector<uint32_t>>{{0, 6, 7}, {0, 6, 7}, {1, 6, 7}, {1, 6, 7}});
  CHECK(attempts[0].slots == std::vector<uint32_t>{0, 1, 0, 1});
  JobLauncher launcher(spec, 2);
  Lines io;
  launcher.on_word(0, {Kind::kError, 0}, us(40), io);
  launcher.on_told(0, us(42), io);
  launcher.on_unreachable(1, 0, us(43), io);
  io.taken();
  launcher.on_wake(us(93), io);
  CHECK(io.taken() == "0.0:2/1/2/0 0.0:2/1/3/0 0.0:4/1/0/0 6.0:2/1/2/0 6.0:2/1/3/0 6.0:4/1/0/0");
  launcher.on_word(0, {Kind::kReady, 1, 2}, us(100), io);
  launcher.on_word(6, {Kind::kReady, 1, 0}, us(101), io);
  CHECK(io.taken() == "0.0:6/1/2/0 6.0:6/1/2/0");
  CHECK(launcher.turns()[0].hosts == std::vector<uint32_t>{0, 0, 6, 6});
  // The spare is lost as well: its ranks move on.
  launcher.on_word(0, {Kind::kError, 1}, us(140), io);
  launcher.on_told(0, us(142), io);
  launcher.on_unreachable(6, 0, us(143), io);
  launcher.on_wake(us(193), io);
  launcher.on_word(0, {Kind::kReady, 2, 2}, us(200), io);
  launcher.on_word(7, {Kind::kReady, 2, 0}, us(201), io);
  CHECK(launcher.turns()[1].hosts == std::vector<uint32_t>{0, 0, 7, 7});
}

TEST_CASE("without a spare a lost host is asked on one line after the other until it is back") {
  const JobSpec spec = four_ranks(OnError::Action::kRestart);
  JobLauncher launcher(spec, 1);
  Lines io;
  launcher.on_word(0, {Kind::kError, 0}, us(10), io);
  for (const uint32_t host : {0u, 1u, 2u}) launcher.on_told(host, us(11), io);
  launcher.on_unreachable(3, 0, us(12), io);
  CHECK(launcher.turns()[0].lost == std::vector<uint32_t>{3});
  launcher.on_wake(us(62), io);
  for (const uint32_t host : {0u, 1u, 2u}) launcher.on_word(host, {Kind::kReady, 1, 2}, us(63), io);
  io.taken();
  launcher.on_unreachable(3, 1, us(70), io);
  CHECK(io.taken() == "3.2:4/1/0/0");
  SUBCASE("it answers") {
    launcher.on_word(3, {Kind::kReady, 1, 2}, us(80), io);
    CHECK(io.taken() == "0.0:6/1/2/0 1.0:6/1/2/0 2.0:6/1/2/0 3.2:6/1/2/0");
  }
  SUBCASE("it does not") {
    for (uint32_t line = 2; line < kLines; ++line) launcher.on_unreachable(3, line, us(90), io);
    CHECK(launcher.at_rest());
    CHECK(launcher.turns()[0].gave_up == "a host does not answer any more");
  }
}

TEST_CASE("a replica leaves with its ranks, and the others go on behind what all have ended") {
  const JobSpec spec = four_ranks(OnError::Action::kShrink);
  const std::vector<Attempt> attempts = attempts_of(spec);
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].hosts == std::vector<std::vector<uint32_t>>{{0, 2}, {1, 3}});
  JobLauncher launcher(spec, 1);
  Lines io;
  launcher.on_word(2, {Kind::kError, 0}, us(10), io);
  for (const uint32_t host : {0u, 2u, 3u}) launcher.on_told(host, us(11), io);
  launcher.on_unreachable(1, 0, us(12), io);
  launcher.on_wake(us(62), io);
  io.taken();
  launcher.on_word(2, {Kind::kReady, 1, 5}, us(63), io);
  launcher.on_word(3, {Kind::kReady, 1, 4}, us(64), io);
  CHECK(io.taken() == "2.0:6/1/4/0 3.0:6/1/4/0");
  CHECK(launcher.turns()[0].hosts == std::vector<uint32_t>{2, 3});
}

TEST_CASE("replicas that share a host leave together") {
  JobSpec spec = four_ranks(OnError::Action::kShrink);
  spec.hosts = {0, 0, 1, 1, 2, 2, 3, 3};
  spec.groups = {{"tp", 1}, {"dp", 8}};
  spec.on_error->attempts = 7;
  CHECK(replicas_together(spec) == 2);
  const std::vector<Attempt> attempts = attempts_of(spec);
  REQUIRE(attempts.size() == 3);
  CHECK(attempts[0].spec.hosts == std::vector<uint32_t>{0, 0, 1, 1, 2, 2});
  CHECK(attempts[0].hosts ==
        std::vector<std::vector<uint32_t>>{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}});
  CHECK(attempts[2].hosts == std::vector<std::vector<uint32_t>>(2, {0, 1, 2, 3}));
  CHECK(attempts[2].slots == std::vector<uint32_t>{0, 1});
  JobLauncher launcher(spec, 3);
  Lines io;
  launcher.on_word(0, {Kind::kError, 0}, us(10), io);
  for (const uint32_t host : {0u, 2u, 3u}) launcher.on_told(host, us(11), io);
  launcher.on_unreachable(1, 0, us(12), io);
  launcher.on_wake(us(62), io);
  for (const uint32_t host : {0u, 2u, 3u}) launcher.on_word(host, {Kind::kReady, 1, 5}, us(63), io);
  CHECK(launcher.turns()[0].next == 1);
  CHECK(launcher.turns()[0].hosts == std::vector<uint32_t>{0, 0, 2, 2, 3, 3});
  // A replica of two ranks on a host of its own leaves alone.
  spec.groups = {{"tp", 2}, {"dp", 4}};
  CHECK(replicas_together(spec) == 1);
}

TEST_CASE("of a job that cannot shrink it is said why") {
  JobSpec spec = four_ranks(OnError::Action::kShrink);
  spec.groups = {{"tp", 4}};
  CHECK_THROWS_WITH_AS(attempts_of(spec), "no group dp, whose replicas could leave", InputError);
  spec.groups = {{"dp", 4}};
  spec.on_error->attempts = 4;
  CHECK(attempts_of(spec).size() == 2);  // a job has two ranks at least
  for (const std::vector<uint32_t>& uneven :
       {std::vector<uint32_t>{0, 0, 1, 2}, {0, 1, 0, 1, 2, 2}, {0, 0, 1, 1, 2}, {0, 1, 2, 0}}) {
    spec.hosts = uneven;
    spec.groups = {{"dp", static_cast<uint32_t>(uneven.size())}};
    CAPTURE(uneven.size());
    CHECK_THROWS_AS(attempts_of(spec), InputError);
  }
  spec.hosts = {0, 0, 0, 0};
  spec.groups = {{"dp", 4}};
  CHECK_THROWS_WITH_AS(attempts_of(spec), "replicas that are all on the same hosts", InputError);
}
