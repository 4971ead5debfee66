#include "fabric/text/key_table.h"

#include <doctest/doctest.h>

#include "tests/support/errors.h"

namespace mrclab {
namespace {

enum class Paint : uint8_t { kRed, kBlue };

struct Shelf {
  std::string name;
  uint32_t books = 3;
  FabricTime at;
  std::optional<Paint> colour;
  bool full = false;
  std::string order;  ///< in which its keys were read
};

using Row = KeyRow<Shelf>;

Row noted(Row row) {
  row.read = [row](const YamlValue& value, Shelf& shelf) {
    row.read(value, shelf);
    shelf.order += row.name + " ";
  };
  return row;
}

const KeyTable<Shelf>& shelf_keys() {
  const auto at = [](auto& shelf) -> auto& { return shelf.at; };
  static const KeyTable<Shelf> kKeys(
      {noted(Row::of("name", &Shelf::name, name_kind(), "its name", kRequiredKey)),
       noted(Row::of("books", &Shelf::books, integer_kind(1, 9), "how many", kIfUnusual)),
       noted(Row::of("at", at, "when", {.read_pass = 0})),
       noted(Row::of("colour", &Shelf::colour, word_kind<Paint>({"red", "blue"}), "which")),
       noted(Row::of("full", &Shelf::full, "no more", {.write_pass = 0})),
       Row{"note", ValueForm::of(ValueForm::Kind::kText), "for people", {}}});
  return kKeys;
}

Shelf read_shelf(const std::string& text) {
  Shelf shelf;
  shelf_keys().read(read_yaml_text(text, "f"), shelf);
  return shelf;
}

TEST_CASE("a table of keys reads what is there and writes it as it reads back") {
  const Shelf shelf =
      read_shelf("{name: a, books: 5, at: 2us, colour: blue, full: on, note: said}");
  CHECK(shelf.name == "a");
  CHECK(shelf.books == 5);
  CHECK(shelf.at == FabricTime::from_us(2));
  CHECK(shelf.colour == Paint::kBlue);
  CHECK(shelf.full);
  CHECK(shelf_keys().written(shelf) == "{full: on, name: a, books: 5, at: 2us, colour: blue}");
  CHECK(shelf_keys().written(read_shelf(shelf_keys().written(shelf))) ==
        shelf_keys().written(shelf));
}

TEST_CASE("what is as usual, or not there, is left out of the file") {
  CHECK(shelf_keys().written(read_shelf("{name: a, books: 3}")) == "{full: off, name: a, at: 0ps}");
}

TEST_CASE("keys are read and written pass by pass, within one in the order of the rows") {
  CHECK(read_shelf("{full: on, books: 5, at: 2us, name: a}").order == "at name books full ");
}

TEST_CASE("a table refuses a map without a key that it must have") {
  CHECK(test::error_of([] { read_shelf("{books: 5}"); }).starts_with("f:1:1: found no \"name\""));
}

TEST_CASE("a value that begins with a line break stands below its key") {
  const KeyTable<Shelf> keys({Row::of("name", &Shelf::name, name_kind(), "its name"),
                              Row{"books", {}, "", {}, [](const Shelf&) { return "\n  - 1"; }}});
  CHECK(keys.written_lines(read_shelf("{name: a}"), "  ") == "  name: a\n  books:\n  - 1\n");
}

TEST_CASE("the form of a table has its keys with what they mean") {
  const ValueForm& form = shelf_keys().form();
  CHECK(form.keys.size() == 6);
  CHECK(form.keys[0].need == ValueForm::Key::kRequired);
  CHECK(form.at("books").max == 9);
  CHECK(form.keys[3].about == "which");
  CHECK(form.at("colour").words == std::vector<std::string>{"red", "blue"});
}

}  // namespace
}  // namespace mrclab
