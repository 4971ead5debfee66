// The page as one file: its modules become one script, and a session begins again from the text that stands in it.

#include "lab/serve/page_export.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "scenario/spec/scenario.h"
#include "session/session_start.h"

namespace mrclab::lab {
namespace {

std::string bundled(const std::vector<PageFile>& files) { return bundled_modules(files, "/a.js"); }

PlayedSession played_first() {
  return PlayedSession(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("each module runs once, in a scope of its own, behind those that it imports from") {
  const std::string script = bundled({
      {"/a.js", "import {twice} from \"./b.js\";\nimport {kOne} from \"./c.js\";\ntwice(kOne);"},
      {"/b.js", "import {kOne} from \"./c.js\";\nexport async function twice(x) {\n}\n"},
      {"/c.js", "const hidden = 1;\nexport const kOne = hidden;\nexport class Other {\n}\n"},
      {"/unused.js", "alone();\n"},
  });
  CHECK(script ==
        "\"use strict\";\nconst modules = {};\n"
        "modules[\"/c.js\"] = (() => {\nconst hidden = 1;\nconst kOne = hidden;\nclass Other {\n}\n"
        "return {Other, kOne};\n})();\n"
        "modules[\"/b.js\"] = (() => {\nconst {kOne} = modules[\"/c.js\"];\n"
        "async function twice(x) {\n}\nreturn {twice};\n})();\n"
        "modules[\"/a.js\"] = (() => {\nconst {twice} = modules[\"/b.js\"];\n"
        "const {kOne} = modules[\"/c.js\"];\ntwice(kOne);\nreturn {};\n})();\n");
}

TEST_CASE("what the bundle does not know of modules is refused") {
  const auto refused = [](const std::vector<PageFile>& files) {
    CHECK_THROWS_AS(bundled(files), std::invalid_argument);
  };
  refused({{"/a.js", "import * as b from \"./b.js\";\n"}, {"/b.js", ""}});
  refused({{"/a.js", "import {x as y} from \"./b.js\";\n"}, {"/b.js", "export const x = 1;\n"}});
  refused({{"/a.js", "import {x} from \"./b.js\";\n"}, {"/b.js", "const x = 1;\n"}});
  refused({{"/a.js", "import {x} from \"./b.js\";\n"}});
  refused({{"/a.js", "import {x} from \"./b.js\";\nexport const y = 1;\n"},
           {"/b.js", "import {y} from \"./a.js\";\nexport const x = 1;\n"}});
  refused({{"/a.js", "export default 1;\n"}});
  refused({{"/a.js", "export {x};\n"}});
}

TEST_CASE("an exported page has one script, and loads nothing") {
  const std::string page =
      exported_page(played_first(), {"the glue", "the module", "the licences"});
  CHECK(count(page, "<script>") == 1);
  CHECK(count(page, "<script type=\"application/octet-stream\"") == 4);
  CHECK(count(page, "<style>") == 1);
  CHECK(count(page, " src=") == 0);
  CHECK(count(page, "'unsafe-inline'") == 0);
  CHECK(count(page, "default-src 'none'; script-src 'sha256-") == 1);
}

TEST_CASE("a session begins again where it stood, as what it was") {
  PlayedSession played = played_first();
  played.session().seek(FabricTime::from_us(70));
  FaultOrder order{"wire_loss", {{"link", "p0.t0-0:u0"}, {"loss", "40%"}, {"for", "30us"}}, {}};
  played.session().break_it(order);
  played.run = {"a folder", "sim", "0.1.0", "00ff", true};
  const PlayedSession again = session_of_start(start_of(played));
  CHECK(again.session().at() == FabricTime::from_us(70));
  CHECK(to_yaml(again.session().scenario()) == to_yaml(played.session().scenario()));
  CHECK(run_json(again) == run_json(played));
  CHECK(run_json(played_first()).is_null());
}

TEST_CASE("a text that is no session's start is refused") {
  for (const char* text : {"", "[]", "{}", "{\"scenario\": 1, \"at_ps\": 0, \"run\": null}",
                           "{\"scenario\": \"name: x\", \"at_ps\": 0, \"run\": null}"}) {
    CHECK_THROWS(session_of_start(text));
  }
}

}  // namespace mrclab::lab
