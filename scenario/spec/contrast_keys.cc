#include "scenario/spec/contrast_keys.h"

#include <algorithm>

#include "endpoint/options/transport_form.h"
#include "fabric/text/key_table.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/keys/fabric_keys.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/expectation_list.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

/// What an entry is read beside.
struct ContrastReading {
  const YamlValue& entry;
  const Scenario& scenario;
};

void read_transport(const YamlValue& value, Contrast& out, const ContrastReading& reading) {
  const std::string name = value.as_string();
  out.transport = transport_called(name);
  if (out.transport == nullptr) value.fail(in_quotes(name), one_of(name, transport_names()));
  out.name = name;
  if (out.transport->family != TransportFamily::kRoce) return;
  if (const auto found = why_without_roce(reading.scenario.topology)) {
    value.fail("RoCE in a fabric with " + std::string(*found),
               "regular planes, IPv6, and switches that hash");
  }
}

/// A name of its own may be no other transport's: `--transport` would have two meanings.
void check_name(const YamlValue& entry, const Contrast& contrast,
                const std::vector<Contrast>& before) {
  const bool twice = std::any_of(before.begin(), before.end(), [&](const Contrast& other) {
    return other.name == contrast.name;
  });
  const bool anothers =
      contrast.name != contrast.transport->name && transport_called(contrast.name) != nullptr;
  if (!twice && !anothers) return;
  entry.require(entry.get("name") ? "name" : "transport")
      .fail("a second " + in_quotes(contrast.name), "\"name:\" with a name that no other has");
}

void read_options(const YamlValue& value, Contrast& out, const ContrastReading& reading) {
  if (!value.is_map()) value.fail_expecting("options as in {qps: 8, dcqcn: off}");
  if (value.get("profile")) {
    value.fail_at_key("profile", "a profile", "options alone: \"transport\" has the profile");
  }
  out.options = endpoint::parse_transport(value, reading.scenario.topology);
}

/// The scenario as the contrast has it, by which its expectations are checked.
Scenario contrasted(const Contrast& contrast, const ContrastReading& reading) {
  try {
    return under_transport(reading.scenario, {contrast.transport, &contrast, contrast.on_fat_twin});
  } catch (const InputError& error) {
    reading.entry.require("transport")
        .fail(in_quotes(contrast.name) + ", which this scenario cannot have (" + error.what() + ")",
              "a transport that carries its workload");
  }
}

void read_expected(const YamlValue& list, Contrast& out, const ContrastReading& reading) {
  for (const YamlValue& item : list.items()) {
    if (only_member(item, "program")) item.fail("program", "an expectation that packets answer");
  }
  out.expect = read_expectations(list, contrasted(out, reading));
  if (out.expect.empty()) list.fail("an empty list", "what must hold under this transport");
}

std::string expected_text(const Contrast& contrast) {
  std::string text;
  for (const analysis::Expectation& each : contrast.expect) {
    text += "\n      - " + analysis::to_yaml(each);
  }
  return text;
}

const KeyTable<Contrast, const ContrastReading>& contrast_keys() {
  using C = Contrast;
  using R = KeyRow<C, const ContrastReading>;
  const auto read_dog = [](const YamlValue& value, C& out, const ContrastReading&) {
    read_watchdog(value, out.watchdog.emplace());
  };
  static const KeyTable<C, const ContrastReading> kKeys(
      std::vector<R>{{"transport",
                      ValueForm::word(transport_names()),
                      "which",
                      read_transport,
                      [](const C& contrast) { return std::string(contrast.transport->name); },
                      {.need = ValueForm::Key::kRequired, .read_pass = 0}},
                     R::of("name", &C::name, name_kind(),
                           "what it is called; absent: as the transport", {.read_pass = 0}),
                     R::of("twin", &C::on_fat_twin, word_kind<bool>({"none", "fat"}),
                           "fat: on one plane with the rate of all planes", kIfUnusual),
                     {"options", endpoint::transport_options_form().elsewhere(),
                      "in place of its own", read_options,
                      [](const C& contrast) {
                        const auto& options = contrast.options;
                        return options.overrides.empty() ? "" : endpoint::options_to_yaml(options);
                      }},
                     {"watchdog", watchdog_key().form, "in place of the fabric's", read_dog,
                      [](const C& contrast) {
                        return contrast.watchdog ? watchdog_text(*contrast.watchdog) : "";
                      }},
                     {"expect", expectation_list_form(false, 1), "what then must hold",
                      read_expected, expected_text, kRequiredKey}});
  return kKeys;
}

}  // namespace

const ValueForm& contrast_form() { return contrast_keys().form(); }

std::vector<Contrast> parse_contrasts(const YamlValue& list, const Scenario& scenario) {
  std::vector<Contrast> contrasts;
  for (const YamlValue& entry : list.items()) {
    if (contrasts.size() == kMaxContrasts) {
      entry.fail("more contrasts", "at most " + std::to_string(kMaxContrasts));
    }
    check_form(entry, contrast_form());
    const ContrastReading reading{entry, scenario};
    Contrast contrast;
    contrast_keys().read_pass(0, entry, contrast, reading);
    check_name(entry, contrast, contrasts);
    contrast_keys().read_pass(1, entry, contrast, reading);
    contrasts.push_back(std::move(contrast));
  }
  return contrasts;
}

std::string to_yaml(const Contrast& contrast) {
  const std::string margin(4, ' ');
  std::string text = contrast_keys().written_lines(contrast, margin).substr(margin.size());
  text.pop_back();
  return text;
}

}  // namespace mrclab::lab
