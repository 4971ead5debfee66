// What is written as YAML reads back as the same text; what cannot be is refused where it stands.

#include "fabric/text/yaml_write.h"

#include <doctest/doctest.h>

#include "fabric/text/plain_text.h"
#include "fabric/text/yaml.h"
#include "tests/support/errors.h"
#include "tests/support/hostile_text.h"

using namespace mrclab;
using mrclab::test::error_of;

namespace {

constexpr int kMixtures = 4000;

std::string reading_error(const std::string& text) {
  return error_of([&] { read_yaml_text(text, "f.yaml"); });
}

/// As a value, in a list of a line, and as a key.
void check_reads_back(const std::string& text, const std::string& written) {
  CAPTURE(written);
  CHECK(read_yaml_text("v: " + written + "\n", "f.yaml").require("v").as_string() == text);
  const YamlValue list = read_yaml_text("[x, " + written + ", y]", "f.yaml");
  REQUIRE(list.items().size() == 3);
  CHECK(list.items()[1].as_string() == text);
  const auto members = read_yaml_text("{" + written + ": 1}", "f.yaml").members();
  REQUIRE(members.size() == 1);
  CHECK(members[0].first == text);
}

}  // namespace

TEST_CASE("any plain text reads back as it was, as a value and as a key") {
  std::mt19937_64 random(17);
  for (const std::string_view piece : test::kPlainPieces) {
    REQUIRE_FALSE(find_odd_text(piece));
    check_reads_back(std::string(piece), yaml_string(piece));
    check_reads_back(std::string(piece), yaml_word(piece));
  }
  for (int i = 0; i < kMixtures; ++i) {
    const std::string text = test::mixture(random, test::kPlainPieces);
    check_reads_back(text, yaml_string(text));
    check_reads_back(text, yaml_word(text));
  }
}

TEST_CASE("a name stays as it stands where YAML takes it for one") {
  for (const char* name : {"octet", "optic-glitch", "h0", "L5", "P-2", "truer", "e3", "no-1"}) {
    CHECK(yaml_word(name) == name);
  }
  // What YAML 1.1 or 1.2 takes for no value, a truth value, a number or a date; and what is no plain text.
  for (const char* name :
       {"null",   "NULL", "true", "True", "FALSE", "yes",  "No",  "on",   "OFF",
        "y",      "N",    "nan",  "0100", "1e3",   "0x1f", "12",  "1e-3", "2001-01-01",
        "3-tier", "",     "-",    "--",   "-a",    "p*",   "a b", "a:"}) {
    CHECK(yaml_word(name).front() == '"');
  }
}

TEST_CASE("control characters and bytes that are no UTF-8 are refused with their place") {
  CHECK(reading_error("a: 1\nb: x\x07") ==
        "f.yaml:2:5: found the control character \"\\x07\": expected text");
  CHECK(reading_error("a: 1\nb: \"x\xffy\"") ==
        "f.yaml:2:6: found the byte \"\\xff\", which is no UTF-8: expected text");
  CHECK(reading_error("a: 1\nb: \"x\\x1b[31m\"") ==
        "f.yaml:2:4: found the control character \"\\x1b\": expected text without it");
  CHECK(reading_error("\"\\a\": 1").find("f.yaml:1:1: found the control character \"\\x07\"") == 0);
  CHECK(reading_error("a: \"\\u0085\"").find("f.yaml:1:4: found the control character \"\\x85\"") ==
        0);
  CHECK(reading_error("a: 1\r\nb: two\r\nc: |\r\n  x\r\n  y\r\n") == "no error");
  for (const std::string_view piece : test::kOddPieces) {
    const std::string text = "a: \"" + std::string(piece) + "\"";
    CAPTURE(yaml_string(piece));
    REQUIRE(find_odd_text(piece));
    CHECK(reading_error(text).find("f.yaml:1:5: found the ") == 0);
  }
}

TEST_CASE("odd text is found where it begins, and plain text of any length is none") {
  std::mt19937_64 random(3);
  for (int i = 0; i < kMixtures; ++i) {
    const std::string before = test::mixture(random, test::kPlainPieces);
    CHECK_FALSE(find_odd_text(before));
    const std::string_view odd = test::kOddPieces[random() % test::kOddPieces.size()];
    const auto found = find_odd_text(before + std::string(odd));
    REQUIRE(found);
    CHECK(found->at == before.size());
  }
}
