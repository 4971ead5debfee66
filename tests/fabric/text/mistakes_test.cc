#include <doctest/doctest.h>

#include "fabric/text/mistakes.h"
#include "fabric/text/value_form.h"
#include "tests/support/errors.h"

using namespace mrclab;

TEST_CASE("a reader goes on behind a mistake, and reports all of a file in its order") {
  Mistakes mistakes;
  CHECK_FALSE(mistakes.go_on([] { throw InputError("f.yaml:10:3: found a: expected b"); }));
  CHECK(mistakes.go_on([] {}));
  mistakes.add(InputError("f.yaml:9:3: found c: expected d\nf.yaml:10:3: found a: expected b"));
  CHECK(test::error_of([&] { mistakes.report(); }) ==
        "f.yaml:9:3: found c: expected d\nf.yaml:10:3: found a: expected b");
  CHECK(test::error_of([] { Mistakes().report(); }) == "no error");
}

TEST_CASE("a report has a bound, and says how many more there are") {
  Mistakes mistakes;
  for (size_t i = 0; i < Mistakes::kMost + 2; ++i) {
    mistakes.add(InputError("f.yaml:" + std::to_string(i + 1) + ":1: found a: expected b"));
  }
  const std::string report = test::error_of([&] { mistakes.report(); });
  CHECK(report.ends_with("\nand 2 mistakes more"));
}

TEST_CASE(
    "a form is checked whole: all unknown keys, values and items; a misspelt key lacks nothing") {
  const ValueForm form = ValueForm::map(
      {{"size", ValueForm::of(ValueForm::Kind::kBytes), "", ValueForm::Key::kRequired},
       {"times", ValueForm::list(ValueForm::of(ValueForm::Kind::kTime)), ""}});
  const auto errors = [&](const char* text) {
    return test::error_of([&] { check_form(read_yaml_text(text, "f"), form); });
  };
  CHECK(errors("{sise: 1MiB, times: [1us, 2, 3ns, x]}") ==
        "f:1:2: found the key \"sise\": expected \"size\"\n"
        "f:1:27: found \"2\": expected a duration such as 300us (ps, ns, us, ms, s)\n"
        "f:1:35: found \"x\": expected a duration such as 300us (ps, ns, us, ms, s)");
  CHECK(errors("{times: []}") == "f:1:1: found no \"size\": expected \"size: ...\"");
}
