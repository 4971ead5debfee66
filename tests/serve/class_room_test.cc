// A class: thirty students at one server, each with a session that none of the others changes.

#include "lab/serve/class_room.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"
#include "session/fabric_session.h"
#include "session/simulated_branch.h"
#include "tests/lab/support/page_browser.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using test::Browser;

constexpr const char* kTeacher = "fedcba9876543210";
constexpr const char* kLesson = "01-one-packet";
constexpr size_t kStudents = 30, kPackets = 5'000;

PlayedSession lesson_session() {
  Scenario scenario = scenario_of(find_lesson(kLesson));
  auto branch = std::make_unique<SimulatedBranch>(scenario, kPackets);
  PlayedSession played(std::make_unique<FabricSession>(std::move(scenario), std::move(branch)));
  played.lesson = kLesson;
  return played;
}

ServeOptions options_for(const ClassBook& book) {
  ServeOptions options;
  options.token = test::kPageToken;
  options.max_clients = 3 * kStudents;
  options.teacher_token = kTeacher;
  options.document = [&book](std::string_view path) { return book.document(path); };
  return options;
}

class Class {
 public:
  explicit Class(const std::string& folder = "")
      : seats_(ClassSeat::start(kStudents + 2, size_t{1} << 30, lesson_session)),
        book_("a class", kTeacher, folder),
        server_(options_for(book_)),
        room_(server_, book_, seats_, kStudents),
        thread_([this] { room_.run([this] { return end_.load(); }); }) {}
  ~Class() {
    end_ = true;
    thread_.join();
  }
  uint16_t port() const { return server_.port(); }
  const ClassBook& book() const { return book_; }
  const std::vector<ClassSeat>& seats() const { return seats_; }

 private:
  std::atomic<bool> end_ = false;
  std::vector<ClassSeat> seats_;
  ClassBook book_;
  PageServer server_;
  ClassRoom room_;
  std::thread thread_;
};

std::string student(size_t i) { return "student " + std::to_string(i); }

void join(Browser& browser, const std::string& name, const std::string& key,
          const char* token = test::kPageToken) {
  browser.connect(std::string(token) + "&name=" + url_text(name) + "&key=" + key,
                  "http://" + browser.host());
}

json judged(Browser& browser, const std::string& prediction) {
  return browser.ask(
      {{"do", "judge"}, {"lesson", kLesson}, {"task", 0}, {"prediction", prediction}});
}

}  // namespace

TEST_CASE("thirty students have a session each, and come back to it") {
  const test::TemporaryRuns folder;
  const std::string hand_in = (std::filesystem::path(folder.path()) / "hand-in").string();
  Class room(hand_in);
  std::vector<std::unique_ptr<Browser>> browsers;
  for (size_t i = 0; i < kStudents; ++i) {
    browsers.push_back(std::make_unique<Browser>(room.port()));
    join(*browsers.back(), student(i), "key" + std::to_string(i));
  }
  for (size_t i = 0; i < kStudents; ++i) {
    const json welcome = browsers[i]->hear("welcome");
    CHECK(welcome.at("student").at("name") == student(i));
    CHECK(welcome.at("lesson") == kLesson);
  }
  // Each breaks its own fabric at an instant of its own, in odd seats for good.
  for (size_t i = 0; i < kStudents; ++i) {
    const int64_t at = 41'000'000 + static_cast<int64_t>(i) * 1'000'000;
    CHECK(browsers[i]->ask({{"do", "seek"}, {"at_ps", at}}).at("say") == "done");
    json body{{"host", "[h0, h1]"}, {"path", "p1/*"}};
    if (i % 2 == 0) body["for"] = "1us";
    CHECK(browsers[i]->ask({{"do", "break"}, {"kind", "denylist"}, {"body", body}}).at("say") ==
          "broken");
  }
  for (size_t i = 0; i < kStudents; ++i) {
    const std::string yaml = browsers[i]->ask({{"do", "yaml"}}).at("text");
    CHECK(yaml.find("at: " + std::to_string(41 + i) + "us") != std::string::npos);
    CHECK(yaml.find("denylist") == yaml.rfind("denylist"));
  }
  // Nothing is checked before a prediction.
  CHECK(judged(*browsers[1], "  ").at("say") == "error");
  for (size_t i = 0; i < kStudents; ++i) {
    CHECK(judged(*browsers[i], "none, says " + student(i)).at("result") ==
          (i % 2 == 0 || 41 + i > 75 ? "fail" : "pass"));
  }
  Browser teacher(room.port());
  const auto table = teacher.get(std::string("/class?token=") + kTeacher);
  CHECK(table.result_int() == 200);
  CHECK(table.body().find("30 of 30 students connected") != std::string::npos);
  CHECK(table.body().find("<td class=\"pass\">pass</td><td>none, says student 3</td>") !=
        std::string::npos);
  const auto csv = teacher.get(std::string("/class.csv?token=") + kTeacher);
  CHECK(csv.body().find("\"student 3\",01-one-packet,1,\"Take a path out of use\",pass,"
                        "\"none, says student 3\",\"\",\"") != std::string::npos);
  CHECK(teacher.get(std::string("/class?token=") + test::kPageToken).result_int() == 404);
  CHECK(std::filesystem::exists(std::filesystem::path(hand_in) / "student 3.01-one-packet.1.yaml"));
  CHECK(std::filesystem::exists(std::filesystem::path(hand_in) /
                                "student 4.01-one-packet.1.tried.yaml"));

  // Of the same name and key: the session that was left. Of another key, or one more: nothing.
  browsers[3]->leave();
  Browser back(room.port());
  join(back, student(3), "key3");
  const json welcome = back.hear("welcome");
  CHECK(welcome.at("student").at("notes").at(0).at("prediction") == "none, says student 3");
  CHECK(back.ask({{"do", "yaml"}}).at("text").get<std::string>().find("at: 44us") !=
        std::string::npos);
  for (const char* name : {"student 3", "one more", "../../etc", "<b>", "", "-x"}) {
    CAPTURE(name);
    Browser other(room.port());
    join(other, name, "another");
    const json answer = other.hear_any();
    REQUIRE(answer.at("say") == "refused");
    CHECK_FALSE(answer.at("text").get<std::string>().empty());
    CHECK(other.is_closed());
  }
  // The teacher looks in, without a key.
  Browser guest(room.port());
  join(guest, student(5), "", kTeacher);
  CHECK(guest.hear("welcome").at("student").at("name") == student(5));
}

TEST_CASE(
    "a session that ends takes no other along, and its student gets another with what was done") {
  Class room;
  Browser anna(room.port()), ben(room.port());
  join(anna, "Anna", "a");
  anna.hear("welcome");
  join(ben, "Ben", "b");
  ben.hear("welcome");
  CHECK(judged(anna, "nothing").at("result") == "fail");
  ::kill(room.seats().at(0).pid(), SIGKILL);
  CHECK(anna.is_closed());
  CHECK(ben.ask({{"do", "yaml"}}).at("say") == "yaml");
  Browser again(room.port());
  join(again, "Anna", "a");
  CHECK(again.hear("welcome").at("student").at("notes").at(0).at("prediction") == "nothing");
  CHECK(room.book().text().find("Anna     01      1     fail    nothing") != std::string::npos);
}

TEST_CASE("one who keeps a session busy does not keep the others waiting") {
  Class room;
  Browser busy(room.port()), quick(room.port());
  join(busy, "busy", "a");
  busy.hear("welcome");
  join(quick, "quick", "b");
  quick.hear("welcome");
  // More than the seat can do at once: it is asked to judge again and again, and nobody reads what it says.
  for (int i = 0; i < 40; ++i) {
    busy.say(json{{"do", "judge"}, {"lesson", kLesson}, {"task", 0}, {"prediction", "x"}}.dump());
  }
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) CHECK(quick.ask({{"do", "yaml"}}).at("say") == "yaml");
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
}

TEST_CASE("a seat has as much memory as it may, and a recording as many packets") {
  const std::vector<ClassSeat> seats = ClassSeat::start(1, size_t{64} << 20, lesson_session);
  const PageInput first{1, PageInput::What::kJoined, Student("x").json().dump()};
  REQUIRE(seats[0].hand(first));
  REQUIRE(seats[0].receive());  // it has begun
  const std::string bounds =
      netio::read_file("/proc/" + std::to_string(seats[0].pid()) + "/limits");
  const size_t line = bounds.find("Max address space");
  REQUIRE(line != std::string::npos);
  CHECK(bounds.substr(line, 40).find("unlimited") == std::string::npos);

  PlayedSession played = lesson_session();
  played.session().seek(played.session().end());
  const Recording& recording = played.session().branch().recording();
  size_t kept = 0;
  for (size_t bin = 0; bin < recording.bins(); ++bin) kept += recording.packets(bin).size();
  CHECK(recording.max_packets() == kPackets);
  CHECK(kept <= kPackets);
  CHECK(recording.first_kept() > 0);  // there were more
}

}  // namespace mrclab::lab
