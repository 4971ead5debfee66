#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "fabric/text/yaml.h"
#include "tests/support/errors.h"

using namespace mrclab;
using mrclab::test::error_of;

namespace {

YamlValue yaml(std::string_view text) { return read_yaml_text(text, "f.yaml"); }

std::string error_in(std::string_view text) {
  return error_of([&] { yaml(text); });
}

YamlValue v(std::string_view scalar) { return yaml("v: " + std::string(scalar)).require("v"); }

}  // namespace

TEST_CASE("a value knows its line and column, counted from one") {
  const YamlValue file = yaml("a: 1\nb:\n  - x\n  - {c: 300}\n");
  const YamlValue entry = file.require("b").items().at(1);
  CHECK(error_of([&] { entry.require("c").as_time(); }) ==
        "f.yaml:4:9: found \"300\": expected a duration such as 300us (ps, ns, us, ms, s)");
  CHECK(error_of([&] { file.require("a").items(); }) == "f.yaml:1:4: found \"1\": expected a list");
  CHECK(error_of([&] { entry.require("d"); }) == "f.yaml:4:5: found no \"d\": expected \"d: ...\"");
}

TEST_CASE("members keep the order of the file") {
  const auto members = yaml("z: 1\na: 2\nm: 3\n").members();
  REQUIRE(members.size() == 3);
  CHECK(members[0].first == "z");
  CHECK(members[2].first == "m");
  CHECK(members[1].second.as_integer(0, 9) == 2);
}

TEST_CASE("an unknown key is refused where it stands, and the nearest known key is suggested") {
  const YamlValue file = yaml("name: x\nplane: 8\n");
  CHECK(error_of([&] {
          file.only_keys({"name", "planes", "t0"});
        }) == "f.yaml:2:1: found the key \"plane\": expected \"planes\"");
  CHECK(error_of([&] {
          file.only_keys({"name", "xyzzy", "t0"});
        }) == "f.yaml:2:1: found the key \"plane\": expected one of name, xyzzy, t0");
}

TEST_CASE("what makes YAML ambiguous or unbounded is refused") {
  CHECK(error_in("a: 1\nb: 2\na: 3\n") ==
        "f.yaml:3:1: found a second \"a\": expected each key once");
  CHECK(
      error_in("a: &x [1]\nb: *x\n") ==
      "f.yaml:1:4: found an anchor: expected a plain value: anchors are not supported\n"
      "f.yaml:2:4: found an alias: expected the value itself: aliases are not supported, vars are "
      "(vars: {size: 1MiB}, ${size})");
  CHECK(error_in("a: !!binary aGk=\n").starts_with("f.yaml:1:4: found the tag "));
  CHECK(error_in("[a, b]: 1\n") == "f.yaml:1:1: found a list or a map as a key: expected a name");
  CHECK(error_in("a: 1\n---\nb: 2\n").find("found a second document") != std::string::npos);
  CHECK(error_in("") == "f.yaml:1:1: found an empty file: expected a map (key: value)");
  CHECK(error_in("a: [1, 2\n").find("found text that is not YAML: expected YAML (") !=
        std::string::npos);
  CHECK(error_in(std::string("a: 1\nb: \x04\nc: 3\n")) ==
        "f.yaml:2:4: found the control character \"\\x04\": expected text");
}

TEST_CASE("nesting has a limit, and so has the number of values") {
  CHECK(error_in(std::string(40, '[') + std::string(40, ']')) ==
        "f.yaml:1:33: found deeper nesting: expected at most 32 levels");
  CHECK(error_in(std::string(32, '[') + std::string(32, ']')) == "no error");
  std::string many = "[";
  for (int i = 0; i < 200'000; ++i) many += "1,";
  CHECK(error_in(many + "1]").find("found more values: expected at most 131072") !=
        std::string::npos);
}

TEST_CASE("a file of more than 1 MiB is refused, and so are directories and what is not there") {
  CHECK(error_in("a: " + std::string(1u << 20, 'x')) ==
        "f.yaml:1:1: found more than 1 MiB: expected a file of at most 1 MiB");
  CHECK(error_of([] { read_yaml_file("/nonexistent/f.yaml"); }) ==
        "/nonexistent/f.yaml: found no readable file (No such file or directory): expected a YAML "
        "file");
  CHECK(error_of([] { read_yaml_file("/"); }) == "/: found a directory: expected a YAML file");
}

TEST_CASE("any bytes at all give a value or an InputError") {
  uint64_t state = 1;
  const std::string_view alphabet = "{}[]:,-?!&*#|>'\"%@` \n\tab0\\\xff\x80";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += alphabet[(state >> 33) % alphabet.size()];
    }
    const std::string error = error_in(text);
    CHECK((error == "no error" || error.starts_with("f.yaml:")));
  }
}

TEST_CASE("durations are exact and need a unit") {
  CHECK(v("300us").as_time() == FabricTime::from_us(300));
  CHECK(v("1.5ms").as_time() == FabricTime::from_us(1500));
  CHECK(v("0.001ns").as_time() == FabricTime::from_ps(1));
  CHECK(v("20 ns").as_time() == FabricTime::from_ns(20));
  CHECK(v("3600s").as_time() == FabricTime::from_ms(3'600'000));
  CHECK(v("6rtt").with_rtt(FabricTime::from_ns(11)).as_time() == FabricTime::from_ns(66));
  CHECK(v("1.5rtt").with_rtt(FabricTime::from_ns(11)).as_time() == FabricTime::from_ps(16'500));
  CHECK(error_of([] { v("6rtt").as_time(); }) ==
        "f.yaml:1:4: found \"6rtt\": expected a duration in ps, ns, us, ms or s: no RTT is known "
        "here");
  CHECK(error_of([] { v("0.5ps").as_time(); }) ==
        "f.yaml:1:4: found \"0.5ps\": expected a duration of whole picoseconds and at most 3600s");
  for (const char* bad : {"-3us", "us", "3 parsecs", "1e3us", "3601s", "99999999999999999999us",
                          "1.us", ".5us", "[1us]", "3us4ns", "~"}) {
    CHECK_MESSAGE(error_of([&] { v(bad).as_time(); }) != "no error", bad);
  }
}

TEST_CASE("sizes, rates, shares, counts and switches are exact and need their unit") {
  CHECK(v("8MiB").as_bytes() == Bytes{8u << 20});
  CHECK(v("1.5kB").as_bytes() == Bytes{1500});
  CHECK(v("100Gb/s").as_rate() == BitRate::from_gbps(100));
  CHECK(v("20%").as_probability() == Probability{200'000'000});
  CHECK(v("0.1").as_probability() == Probability{100'000'000});
  CHECK(v("100%").as_probability() == Probability{Probability::kOne});
  CHECK(v("on").as_bool());
  CHECK_FALSE(v("no").as_bool());
  CHECK(v("-3").as_integer(-5, 5) == -3);
  CHECK(error_of([] { v("8192").as_bytes(); }) ==
        "f.yaml:1:4: found \"8192\": expected a size such as 8MiB (B, kB, MB, GB, KiB, MiB, GiB)");
  CHECK(error_of([] { v("100GB/s").as_rate(); }) ==
        "f.yaml:1:4: found \"100GB/s\": expected a rate such as 100Gb/s (kb/s, Mb/s, Gb/s, Tb/s), "
        "from 1Mb/s to 10Tb/s");
  CHECK(error_of([] { v("20").as_probability(); }) ==
        "f.yaml:1:4: found \"20\": expected a share such as 20% or 0.2, from 0% to 100%");
  CHECK(error_of([] { v("101%").as_probability(); }) != "no error");
  CHECK(error_of([] { v("0.5B").as_bytes(); }) != "no error");
  CHECK(error_of([] { v("17").as_integer(1, 16); }) ==
        "f.yaml:1:4: found \"17\": expected a whole number from 1 to 16");
  CHECK(error_of([] { v("0x10").as_integer(1, 16); }) != "no error");
  CHECK(error_of([] { v("maybe").as_bool(); }) ==
        "f.yaml:1:4: found \"maybe\": expected on or off");
}

TEST_CASE("exact text reads back as the same value") {
  for (const int64_t ps : {int64_t{1}, int64_t{1500}, int64_t{11'021'440}, int64_t{0},
                           int64_t{300'000'000}, int64_t{3'600'000'000'000'000}}) {
    CHECK(v(exact(FabricTime::from_ps(ps))).as_time() == FabricTime::from_ps(ps));
  }
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1500}, uint64_t{8u << 20}}) {
    CHECK(v(exact(Bytes{size})).as_bytes() == Bytes{size});
  }
  for (const uint32_t ppb : {0u, 1u, 200'000'000u, 999'999'999u, 1'000'000'000u, 12'345'678u}) {
    CHECK(v(exact(Probability{ppb})).as_probability() == Probability{ppb});
  }
  CHECK(exact(Bytes{8u << 20}) == "8MiB");
  CHECK(exact(FabricTime::from_us(1200)) == "1200us");
  CHECK(exact(FabricTime::from_ns(1'500)) == "1500ns");
  CHECK(exact(FabricTime::from_ps(16'511'105)) == "16.511105us");
  CHECK(exact(FabricTime::from_ns(1'234'500)) == "1234.5us");
  CHECK(exact(BitRate::from_gbps(100)) == "100Gb/s");
  CHECK(exact(Probability{950'000'000}) == "95%");
  CHECK(exact(Probability{1'000'000}) == "0.1%");
}

TEST_CASE("text from outside is quoted, escaped and cut") {
  CHECK(in_quotes("a\nb\x01") == "\"a\\nb\\x01\"");
  CHECK(in_quotes(std::string(100, 'x')) == "\"" + std::string(60, 'x') + "...\"");
}

TEST_CASE("the nearest name is the one with the fewest edits, and strangers are not suggested") {
  CHECK(nearest_name("p0.t0-9:o0", {"p0.t0-0:o0", "p0.t0-1:o0"}) == "p0.t0-0:o0");
  CHECK(nearest_name("hosts", {"host", "hostess"}) == "host");
  CHECK(nearest_name("elephant", {"h0", "h1"}) == "");
  CHECK(nearest_name(std::string(1000, 'x'), {"x"}) == "");
}
