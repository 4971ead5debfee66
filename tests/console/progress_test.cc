// What a person sees who waits: on a terminal, and in a pipe.

#include "console/progress.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>

#include "lab/run/progress_view.h"

using mrclab::FabricTime;
using namespace mrclab::lab;
using std::chrono::milliseconds;

namespace {

/// A progress on a clock of its own, and what it has written.
struct Watched {
  explicit Watched(bool terminal)
      : file(std::tmpfile(), &std::fclose),
        progress("judging", {file.get(), terminal, [this] { return now; }}) {}
  void pass(milliseconds time) { now += time; }
  std::string written() const {
    std::rewind(file.get());
    std::string text(1 << 16, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text;
  }

  Progress::Time now{};
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file;
  Progress progress;
};

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("what is left is estimated from what is done, no more exactly than it is known") {
  Watched watched(false);
  CHECK(watched.progress.text(0.0, "") == "judging: 0 %");
  watched.pass(milliseconds(4'000));
  CHECK(watched.progress.text(0.25, "10 of 40 MB") ==
        "judging: 25 %, about 12 s left; 10 of 40 MB");
  CHECK(watched.progress.text(0.001, "") == "judging: 0 %");
  CHECK(watched.progress.text(1.0, "") == "judging: 100 %");
  CHECK(watched.progress.text({}, "10 MB") == "judging: 10 MB");
  CHECK(about_seconds(0.2) == "about 1 s");
  CHECK(about_seconds(200) == "about 4 min");
  CHECK(about_seconds(20'000) == "about 6 h");
  CHECK(byte_text(999) == "999 B");
  CHECK(byte_text(1'240'000'000) == "1.2 GB");
}

TEST_CASE("what is left is estimated at the pace of late, not of the beginning") {
  Watched watched(false);
  double done = 0;
  for (int second = 1; second <= 100; ++second) {
    watched.pass(milliseconds(1'000));
    done += second <= 10 ? 0.02 : 0.005;
    watched.progress.show(done);
  }
  CHECK(watched.progress.text(done, "") == "judging: 65 %, about 70 s left");
}

TEST_CASE("what is over soon shows nothing") {
  for (const bool terminal : {false, true}) {
    Watched watched(terminal);
    watched.pass(milliseconds(900));
    watched.progress.show(0.9);
    watched.progress.clear();
    CHECK(watched.written() == "");
  }
}

TEST_CASE("a pipe gets whole lines without control characters, ever rarer") {
  Watched watched(false);
  for (int second = 0; second < 600; ++second) {
    watched.pass(milliseconds(1'000));
    watched.progress.show(second / 600.0);
  }
  const std::string written = watched.written();
  CHECK(lines(written) >= 10);
  CHECK(lines(written) <= 16);
  CHECK(written.find_first_of("\r\x1b") == std::string::npos);
  CHECK(written.starts_with("judging: 0 %"));
}

TEST_CASE("a terminal gets one line that is written over and makes room at last") {
  Watched watched(true);
  for (int i = 0; i < 1'000; ++i) {
    watched.pass(milliseconds(10));
    watched.progress.show(i / 1000.0, std::string(200, 'x'));
  }
  watched.progress.clear();
  const std::string written = watched.written();
  CHECK(lines(written) == 0);
  CHECK(written.ends_with("\r\x1b[K"));
  size_t drawn = 0;
  for (size_t at = 0; (at = written.find("\r\x1b[K", at)) != std::string::npos; ++drawn) {
    const size_t next = std::min(written.find('\r', at + 1), written.size());
    CHECK(next - at <= 4 + 79);  // a full line of 80 columns would wrap
    at = next;
  }
  CHECK(drawn <= 92);  // ten in a second
}

TEST_CASE("the view of a run fits its terminal, with every rate in it") {
  ProgressView view(stderr, true, "mrclab: optic-glitch on octet, live, seed 1", 800);
  ProgressSample sample;
  sample.now = FabricTime::from_ns(365'432);
  sample.end = FabricTime::from_us(1'200);
  sample.dilation = 14'328;
  sample.plane_bytes.assign(8, 36'500'000);
  for (int i = 0; i < 30; ++i) sample.links_down.push_back("p0.t0-0:d" + std::to_string(i));
  sample.retransmitted = 1'234'567;
  sample.bytes_verified = uint64_t{1} << 40;
  for (const size_t columns : {60u, 66u, 80u, 200u}) {
    CAPTURE(columns);
    std::string all;
    for (const std::string& line : view.draw(sample, columns)) {
      CAPTURE(line);
      CHECK(line.size() <= std::min<size_t>(columns, 80));
      all += line + "\n";
    }
    CHECK(all.find(" 799.1 Gb/s\n") != std::string::npos);
    CHECK(all.find(" 6.39 Tb/s\n") != std::string::npos);
    CHECK(all.find("p0.t0-0:d0, ") != std::string::npos);
    CHECK(all.find(" more\n") != std::string::npos);
  }
}
