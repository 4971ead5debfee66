// Any text as what daemons and run folders hold: history streams and scheduled effects.

#include "fabric/history/history.h"
#include "fabric/node/effect_text.h"
#include "tests/fuzz/must.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology topology = test::octet();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto streams = history_from_text(text)) {
    MUST(history_from_text(history_to_text(*streams)) == streams);
    MUST(history_sha256(*streams).size() == 64);
  }
  if (const auto effect = parse_effect(topology, text)) {
    const std::string line = to_text(*effect);
    const auto again = parse_effect(topology, line);
    MUST(again && to_text(*again) == line);
    MUST(!describe(topology, effect->effect).empty());
  }
  return 0;
}
