#include "netio/system/child_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>

#include "netio/runtime/shared_page.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

ChildOptions shell(const std::string& line) {
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", line};
  return options;
}

/// Reads to the end of a pipe, five seconds at most between bytes.
std::string read_all(const FileDescriptor& fd) {
  std::string text;
  char chunk[256];
  ssize_t n;
  while ((n = ::read(fd.get(), chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<size_t>(n));
  return text;
}

struct Pipe {
  Pipe() {
    int ends[2];
    check_system_call("make a pipe", ::pipe2(ends, O_CLOEXEC));
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
  }
  FileDescriptor read_end, write_end;
};

}  // namespace

TEST_SUITE("child processes") {
  TEST_CASE("that a child was stopped is known, also when it runs again by then") {
    ChildOptions options;
    options.argv = {"/bin/sleep", "600"};
    ChildProcess child = ChildProcess::spawn(options);
    // The kernel has the news when the process has acted on the signal.
    const auto news = [&child] {
      for (int look = 0; look < 1000; ++look) {
        if (const std::string stops = child.take_stops(); !stops.empty()) return stops;
        ::usleep(2000);
      }
      return std::string("nothing");
    };
    CHECK(child.take_stops() == "");
    child.signal(SIGSTOP);
    CHECK(news() == "was stopped");
    CHECK(child.take_stops() == "");
    child.signal(SIGCONT);
    CHECK(news() == "runs again");
    child.signal(SIGSTOP);
    siginfo_t stopped{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &stopped, WSTOPPED | WNOWAIT) == 0);
    child.signal(SIGCONT);
    CHECK(news() == "was stopped and runs again");
    CHECK(child.running());
  }

  TEST_CASE("a child's exit code and killing signal come back, as often as asked") {
    ChildProcess fine = ChildProcess::spawn(shell("exit 7"));
    REQUIRE(fine.wait(seconds(5)));
    CHECK(fine.wait(seconds(5))->code == 7);
    CHECK_FALSE(fine.running());
    CHECK(to_string(*fine.wait(milliseconds(0))) == "exit code 7");
    ChildProcess killed = ChildProcess::spawn(shell("kill -KILL $$"));
    REQUIRE(killed.wait(seconds(5)));
    CHECK(killed.wait(seconds(5))->signal_number == SIGKILL);
    CHECK_FALSE(killed.wait(seconds(5))->clean());
    CHECK(to_string(*killed.wait(milliseconds(0))) == "signal 9 (Killed)");
  }

  TEST_CASE("a program that cannot be started is an error in the parent") {
    ChildOptions options;
    options.argv = {"/no/such/program"};
    try {
      ChildProcess::spawn(options);
      FAIL("was started");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == ENOENT);
      CHECK(error.attempted() == "start /no/such/program");
    }
    options.argv.clear();
    CHECK_THROWS_AS(ChildProcess::spawn(options), SystemError);
  }

  TEST_CASE("a child inherits the listed descriptors and no others") {
    const FileDescriptor not_listed = FileDescriptor::open("/dev/zero", O_RDONLY);
    const FileDescriptor without_cloexec(::dup(not_listed.get()));
    Pipe out;
    const SharedPage page = SharedPage::create("test", 4096);
    ChildOptions options = shell(
        "i=0; while [ $i -lt 64 ]; do [ -e /proc/$$/fd/$i ] && printf \"$i \" >&5; i=$((i+1)); "
        "done");
    options.descriptors = {{out.write_end.get(), 5}, {page.fd(), 6}};
    ChildProcess child = ChildProcess::spawn(options);
    out.write_end.reset();
    const std::string list = read_all(out.read_end);
    REQUIRE(child.wait(seconds(5)));
    CHECK(list == "0 1 2 5 6 ");
  }

  TEST_CASE("descriptors may swap numbers") {
    Pipe a, b;
    const int low = std::min(a.write_end.get(), b.write_end.get());
    const int high = std::max(a.write_end.get(), b.write_end.get());
    ChildOptions options;
    const bool a_is_low = a.write_end.get() == low;
    options =
        shell("printf low >&" + std::to_string(low) + "; printf high >&" + std::to_string(high));
    if (high > 9) return;  // the shell takes single digits
    options.descriptors = {{low, high}, {high, low}};
    ChildProcess child = ChildProcess::spawn(options);
    a.write_end.reset(), b.write_end.reset();
    CHECK(read_all(a.read_end) == (a_is_low ? "high" : "low"));
    CHECK(read_all(b.read_end) == (a_is_low ? "low" : "high"));
  }

  TEST_CASE("output goes to its file, input is empty, the environment is extended") {
    TemporaryDirectory directory;
    ChildOptions options = shell("cat; echo $WORD; echo trouble >&2");
    options.stdout_file = directory / "out";
    options.environment = {{"WORD", "spoken"}};
    CHECK(ChildProcess::spawn(options).wait(seconds(5))->clean());
    CHECK(read_file(directory / "out") == "spoken\ntrouble\n");
    options.stderr_file = directory / "err";
    CHECK(ChildProcess::spawn(options).wait(seconds(5))->clean());
    CHECK(read_file(directory / "out") == "spoken\ntrouble\nspoken\n");
    CHECK(read_file(directory / "err") == "trouble\n");
  }

  TEST_CASE("stop is polite first, then not; a stopped child goes as well") {
    Pipe ready;
    ChildOptions options = shell("trap 'exit 3' TERM; echo >&9; while :; do sleep 0.02; done");
    options.descriptors = {{ready.write_end.get(), 9}};
    ChildProcess polite = ChildProcess::spawn(options);
    char byte;
    REQUIRE(::read(ready.read_end.get(), &byte, 1) == 1);  // the trap is set
    CHECK_FALSE(polite.wait(milliseconds(0)));
    CHECK(polite.stop(seconds(5)).code == 3);

    options = shell("trap '' TERM; echo >&9; while :; do sleep 0.02; done");
    options.descriptors = {{ready.write_end.get(), 9}};
    ChildProcess deaf = ChildProcess::spawn(options);
    REQUIRE(::read(ready.read_end.get(), &byte, 1) == 1);
    CHECK(deaf.stop(milliseconds(50)).signal_number == SIGKILL);

    ChildProcess frozen = ChildProcess::spawn(shell("exec sleep 1000"));
    frozen.signal(SIGSTOP);
    siginfo_t stopped{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(frozen.pid()), &stopped, WSTOPPED | WNOWAIT) == 0);
    CHECK(frozen.stop(seconds(5)).signal_number == SIGTERM);
  }

  TEST_CASE("a child dies with its object, and with the process that started it") {
    Pipe alive;  // its write end is open in the child alone
    {
      ChildOptions options = shell("exec sleep 1000");
      options.descriptors = {{alive.write_end.get(), 9}};
      const ChildProcess child = ChildProcess::spawn(options);
      alive.write_end.reset();
    }
    CHECK(read_all(alive.read_end).empty());  // end of file: it is gone

    Pipe grandchild;
    const pid_t middle = ::fork();
    if (middle == 0) {
      ChildOptions options = shell("echo up >&9; exec sleep 1000");
      options.descriptors = {{grandchild.write_end.get(), 9}};
      const ChildProcess child = ChildProcess::spawn(options);
      char text[3];
      if (::read(grandchild.read_end.get(), text, 3) != 3) ::_exit(1);
      ::raise(SIGKILL);
    }
    grandchild.write_end.reset();
    ::waitpid(middle, nullptr, 0);
    CHECK(read_all(grandchild.read_end).empty());
  }
}

TEST_SUITE("shared memory") {
  TEST_CASE("what one mapping writes the other reads, and it starts as zeros") {
    const SharedPage page = SharedPage::create("test", 8192);
    CHECK(page.as<std::atomic<uint64_t>>().load() == 0);
    const SharedPage other =
        SharedPage::attach(FileDescriptor(::fcntl(page.fd(), F_DUPFD_CLOEXEC, 3)), 8192);
    page.as<std::atomic<uint64_t>>(4096).store(7);
    CHECK(other.as<std::atomic<uint64_t>>(4096).load() == 7);
    CHECK(other.size() == 8192);
    CHECK_THROWS_AS(page.as<uint64_t>(8190), SystemError);
    CHECK_THROWS_AS(page.as<uint64_t>(4), SystemError);
  }

  TEST_CASE("memory that is too small or could shrink under us is refused") {
    const SharedPage page = SharedPage::create("test", 4096);
    CHECK(::ftruncate(page.fd(), 0) != 0);
    CHECK_THROWS_AS(
        SharedPage::attach(FileDescriptor(::fcntl(page.fd(), F_DUPFD_CLOEXEC, 3)), 8192),
        SystemError);
    TemporaryDirectory directory;
    write_file(directory / "file", std::string(8192, 'x'));
    CHECK_THROWS_AS(SharedPage::attach(FileDescriptor::open(directory / "file", O_RDWR), 4096),
                    SystemError);
  }
}
