#include <doctest/doctest.h>

#include "fabric/text/yaml_compose.h"
#include "tests/support/errors.h"

using namespace mrclab;
using mrclab::test::error_of;

namespace {

YamlValue document_of(std::string_view text, const std::string& file = "f") {
  return read_yaml_text(text, file);
}

/// The document with its `vars:` in place.
YamlValue composed(std::string_view text) {
  const YamlValue document = document_of(text);
  return with_variables(without_key(document, "vars"), document.require("vars"));
}

}  // namespace

TEST_CASE("a variable is a value of any kind where it stands alone, and text inside of text") {
  const YamlValue made = composed(
      "vars: {size: 1MiB, some: [h0, h1], at: 3, when: \"${at}00us\", kind: write}\n"
      "a: ${size}\nb: ${some}\nc: \"p${at}.t0-*\"\nd: ${when}\n${kind}: \"$${at}\"\n");
  CHECK(made.require("a").as_bytes() == Bytes{1 << 20});
  CHECK(made.require("b").items().at(1).as_string() == "h1");
  CHECK(made.require("c").as_string() == "p3.t0-*");
  CHECK(made.require("d").as_time() == FabricTime::from_us(300));
  CHECK(made.require("write").as_string() == "${at}");
}

TEST_CASE("a value of the wrong kind is refused where it is used, with the variable's name") {
  const YamlValue made = composed("vars: {size: fast}\na: 1\nb: ${size}\n");
  CHECK(error_of([&] {
          made.require("b").as_bytes();
        }).starts_with("f:3:4: found \"fast\", by ${size}: expected "));
}

TEST_CASE("undefined, unused and misplaced variables are reported, all at once") {
  CHECK(
      error_of([] {
        composed("vars: {size: 1, other: ${later}, later: 2}\na: ${sise}\nb: \"x${size\"\n");
      }) ==
      "f:1:8: found the variable \"size\", which nothing uses: expected \"${size}\" somewhere, or "
      "no such variable\n"
      "f:1:17: found the variable \"other\", which nothing uses: expected \"${other}\" somewhere, "
      "or no such variable\n"
      "f:1:24: found \"${later}\", which no variable above is called: expected a variable of "
      "\"vars:\", or \"$${\" for the text \"${\"\n"
      "f:1:34: found the variable \"later\", which nothing uses: expected \"${later}\" somewhere, "
      "or no such variable\n"
      "f:2:4: found \"${sise}\", which no variable above is called: expected \"${size}\"\n"
      "f:3:4: found \"${size\": expected \"${name}\", or \"$${\" for the text \"${\"");
  CHECK(error_of([] {
          composed("vars: {some: [1]}\na: \"x${some}\"\n");
        }).find("which is no text, inside of text") != std::string::npos);
  CHECK(error_of([] {
          refuse_variables(document_of("a: ${size}\nexec: {command: \"echo ${HOME}\"}\n"));
        }) ==
        "f:1:4: found \"${size}\", without variables: expected \"vars: {size: ...}\" in the file");
}

TEST_CASE("variables cannot grow without end") {
  std::string text = "vars:\n  a0: \"0123456789\"\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "${a" + std::to_string(i - 1) + "}";
    text += "  a" + std::to_string(i) + ": \"" + before + before + "\"\n";
  }
  CHECK(error_of([&] { composed(text + "x: ${a39}\n"); }).find("1 MiB") != std::string::npos);
  std::string lists = "vars:\n  a0: [1, 2, 3, 4]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "${a" + std::to_string(i - 1) + "}";
    lists += "  a" + std::to_string(i) + ": [" + before + ", " + before + "]\n";
  }
  CHECK(error_of([&] { composed(lists + "x: ${a29}\n"); }).find("at most 131072") !=
        std::string::npos);
}

TEST_CASE("maps are joined, lists follow one another, and anything else is replaced") {
  const YamlValue made = laid_over(document_of("a: 1\nb: {x: 1, y: 2}\nc: [1]\n", "low"),
                                   document_of("a: 2\nb: {y: z}\nc: [2]\n", "high"));
  CHECK(made.require("a").as_string() == "2");
  CHECK(made.require("b").require("x").as_string() == "1");
  CHECK(made.require("c").items().size() == 2);
  CHECK(error_of([&] { made.require("b").require("x").as_time(); }).starts_with("low:2:"));
  CHECK(error_of([&] { made.require("b").require("y").as_integer(0, 9); }).starts_with("high:2:"));
  CHECK(made.require("c").items()[0].file() == "low");
}

TEST_CASE("a value is set at a path of keys, places and stars; a last key may be new") {
  const YamlValue document = document_of("a: [{w: {s: 1}}, {w: {s: 2}}]\nb: text\n");
  const auto set = [&](const char* path) {
    return with_value(document, path_parts(path), document_of("9", "--set"));
  };
  CHECK(set("a[1].w.s").require("a").items()[1].require("w").require("s").as_string() == "9");
  CHECK(set("a.0.w.s").require("a").items()[0].require("w").require("s").as_string() == "9");
  for (const YamlValue& item : set("a.*.w.t").require("a").items()) {
    CHECK(item.require("w").require("t").as_string() == "9");
    CHECK(item.require("w").get("s"));
  }
  CHECK(set("new").require("new").as_string() == "9");
  CHECK(error_of([&] { set("a[2].w"); }) ==
        "--set: found \"2\" behind \"a\": expected a place from 0 to 1, or *");
  CHECK(error_of([&] { set("b.c"); }).find("the end of the path") != std::string::npos);
  for (const char* bad : {"", ".", "a.", "a[", "a]b", "a..b"}) {
    CHECK(error_of([&] { path_parts(bad); }).starts_with("--set: found "));
  }
}
