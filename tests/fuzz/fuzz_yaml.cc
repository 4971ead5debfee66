// Any text as YAML from a person: a value or an InputError with a position, for every accessor.

#include <string>

#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "tests/fuzz/must.h"

using namespace mrclab;

namespace {

constexpr int kDepthMax = 40;
const std::string kFile = "fuzz.yaml";

/// Calls what may refuse the value. Anything but InputError escapes and is a finding.
template <class Access>
void attempt(Access&& access) {
  try {
    access();
  } catch (const InputError& error) {
    MUST(std::string_view(error.what()).starts_with(kFile + ":"));
  }
}

/// One of the accessors; all of them on every node would spend the time in exceptions.
void access(const YamlValue& value, size_t which) {
  switch (which % 10) {
    case 0: value.as_string(); break;
    case 1: value.as_bool(); break;
    case 2: MUST(value.as_integer(-5, 1'000) <= 1'000); break;
    case 3: value.as_time(); break;
    case 4: value.with_rtt(FabricTime::from_us(10)).as_time(); break;
    case 5: value.as_bytes(); break;
    case 6: value.as_rate(); break;
    case 7: MUST(value.as_probability().ppb <= Probability::kOne); break;
    case 8: value.require("name"); break;
    case 9: value.only_keys({"name", "planes", "t0", "t1"}); break;
  }
}

void walk(const YamlValue& value, int depth, size_t& which) {
  MUST(depth < kDepthMax);
  attempt([&] { access(value, which++); });
  if (value.is_list()) {
    for (const YamlValue& item : value.items()) walk(item, depth + 1, which);
  }
  if (value.is_map()) {
    for (const auto& [key, member] : value.members()) {
      MUST(value.get(key).has_value());
      walk(member, depth + 1, which);
    }
  }
}

/// As a fabric file: what is accepted must read back from its own text.
void check_fabric(const YamlValue& document) {
  const std::string text = to_yaml(parse_fabric(document));
  MUST(to_yaml(parse_fabric(read_yaml_text(text, kFile))) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const YamlValue document = read_yaml_text(text, kFile);
    size_t which = size;
    walk(document, 0, which);
    check_fabric(document);
  });
  return 0;
}
