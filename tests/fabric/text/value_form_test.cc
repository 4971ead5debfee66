#include "fabric/text/value_form.h"

#include <doctest/doctest.h>

namespace mrclab {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

std::string refusal_of(const std::string& text, const ValueForm& form) {
  try {
    check_form(read_yaml_text(text, "f"), form);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const Form& shelf() {
  static const Form kForm = Form::map(
      {{"name", Form::of(Kind::kName), "", Key::kRequired},
       {"colour", Form::word({"red", "blue"}), ""},
       {"books", Form::list(Form::integer(1, 9)), ""},
       {"light",
        Form::either({Form::of(Kind::kSwitch), Form::map({{"after", Form::of(Kind::kTime), ""}})}),
        ""},
       {"by_room", Form::map_of(Form::of(Kind::kRate)), ""},
       {"other", Form::map({{"a", Form::integer(0, 1), ""}}).elsewhere(), ""}});
  return kForm;
}

TEST_CASE("a form refuses what it does not have, where it stands") {
  CHECK(refusal_of("name: a\ncolour: red\nbooks: [1, 9]\nlight: {after: 5us}\n", shelf()).empty());
  CHECK(refusal_of("colour: red\n", shelf()).find("name") != std::string::npos);
  CHECK(refusal_of("name: a\ncolor: red\n", shelf()).starts_with("f:2:1: found"));
  CHECK(refusal_of("name: a\ncolour: green\n", shelf()).starts_with("f:2:9: found \"green\""));
  CHECK(refusal_of("name: a\nbooks: [1, 10]\n", shelf()).starts_with("f:2:12: found"));
  CHECK(refusal_of("name: a\nbooks: {a: 1}\n", shelf()).starts_with("f:2:8: found"));
  CHECK(refusal_of("name: a\nby_room: {x: fast}\n", shelf()).starts_with("f:2:14: found"));
}

TEST_CASE("of a choice that form counts which has the value's shape") {
  CHECK(refusal_of("name: a\nlight: on\n", shelf()).empty());
  CHECK(refusal_of("name: a\nlight: 5\n", shelf()).starts_with("f:2:8: found \"5\""));
  CHECK(refusal_of("name: a\nlight: {before: 5us}\n", shelf()).starts_with("f:2:9: found"));
}

TEST_CASE("what has a table of its own is not looked into") {
  CHECK(refusal_of("name: a\nother: {b: 2}\n", shelf()).empty());
  CHECK(shelf().at("other").at("a").max == 1);
  CHECK(shelf().at("light").at("after").kind == Kind::kTime);
}

}  // namespace
}  // namespace mrclab
