// The keys of a fabric for parts that belong together: transceivers, line cards, power zones, which fail together; tenants;
// and for cables that are not as planned.

#include "fabric/topology/keys/fabric_keys.h"

namespace mrclab {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using S = FabricShape;
using R = KeyRow<FabricShape>;

constexpr int64_t kMaxPortsOfPart = 256;
constexpr size_t kMaxSets = 256;
constexpr size_t kMaxMiscabled = 64;  // pairs

/// "{feed-a: [\"p[0-3].*\"], feed-b: [h0]}": sets of nodes by name.
R named_sets_row(const std::string& key, std::vector<ZoneShape> S::*member, const std::string& what,
                 const std::string& about) {
  const Form names = Form::either({Form::of(Kind::kText), Form::list(Form::of(Kind::kText), 1)});
  const auto read = [=](const YamlValue& map, S& shape) {
    std::vector<ZoneShape>& sets = shape.*member;
    sets.clear();
    for (const auto& [name, value] : map.members()) {
      const bool plain =
          !name.empty() && name.size() <= 32 &&
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
      if (!plain) map.fail_at_key(name, in_quotes(name), "a name of a-z, 0-9 and dash");
      if (sets.size() == kMaxSets) {
        map.fail_at_key(name, "more " + what, "at most " + std::to_string(kMaxSets));
      }
      ZoneShape& set = sets.emplace_back(ZoneShape{name, {}});
      for (const YamlValue& part : value.is_list() ? value.items() : std::vector{value}) {
        set.nodes.push_back(part.as_string());
      }
    }
  };
  const auto write = [=](const S& shape) {
    std::string text;
    for (const ZoneShape& set : shape.*member) {
      text += (text.empty() ? "{" : ", ") + yaml_word(set.name) + ": [";
      for (size_t i = 0; i < set.nodes.size(); ++i) {
        text += (i ? ", " : "") + yaml_string(set.nodes[i]);
      }
      text += "]";
    }
    return text.empty() ? "" : text + "}";
  };
  return {key, Form::map_of(names), about, read, write};
}

}  // namespace

KeyRow<FabricShape> optics_row() {
  const KeyTable<S> keys(
      {R::of("t0_downlinks", &S::links_per_optic, integer_kind(0, kMaxPortsOfPart),
             "links of a T0 to hosts that share a transceiver; 0: none do"),
       R::of("t0_uplinks", &S::uplinks_per_optic, integer_kind(0, kMaxPortsOfPart),
             "links of a T0 to T1s that share one, such as p0.t0-0:uo0", kIfUnusual),
       R::of("t1_uplinks", &S::t1_uplinks_per_optic, integer_kind(0, kMaxPortsOfPart),
             "links of a T1 to T2s that share one, such as p0.t1-0:uo0", kIfUnusual)});
  const auto read = [=](const YamlValue& value, S& shape) {
    if (!value.is_scalar()) return keys.read(value, shape);
    if (value.as_string() != "off") value.fail_expecting("off or {t0_downlinks: 4}");
    shape.links_per_optic = shape.uplinks_per_optic = shape.t1_uplinks_per_optic = 0;
  };
  const auto write = [=](const S& shape) {
    const bool none = shape.links_per_optic == 0 && shape.uplinks_per_optic == 0 &&
                      shape.t1_uplinks_per_optic == 0;
    return none ? "off" : keys.written(shape);
  };
  return {"optics", Form::either({Form::word({"off"}).elsewhere(), keys.form()}),
          "transceivers that several links share", read, write};
}

KeyRow<FabricShape> line_cards_row() {
  const KeyTable<S> keys(
      {R::of("ports", &S::line_card_ports, integer_kind(1, kMaxPortsOfPart),
             "neighbouring ports of a switch on one card, such as p0.t1-0:c0", kRequiredKey)});
  const std::string usual = keys.written(S{});
  return {"line_cards", keys.form(), "what a switch's ports are on, for the fault line_card",
          [=](const YamlValue& value, S& shape) { keys.read(value, shape); },
          [=](const S& shape) {
            std::string text = keys.written(shape);
            return text == usual ? std::string() : text;
          }};
}

KeyRow<FabricShape> power_zones_row() {
  return named_sets_row(
      "power_zones", &S::power_zones, "zones",
      "nodes that hang on one feed of power, for the fault power_loss; without it "
      "planes have rack-0 (hosts and T0s) and spine-0 (T1s)");
}

KeyRow<FabricShape> authorise_row() {
  return R::of(
      "authorise", &S::authorise, word_kind<Authorise>({"off", "nic", "t0", "both"}),
      "where packets of hosts that are no authorised programs are dropped: in their NICs, in "
      "the T0s that they hang on, in both",
      kIfUnusual);
}

KeyRow<FabricShape> tenants_row() {
  return named_sets_row(
      "tenants", &S::tenants, "tenants",
      "hosts by tenant, as {a: \"h[0-3]\", b: \"h[4-7]\"}: they talk to their own "
      "tenant alone, hosts without one among themselves");
}

KeyRow<FabricShape> miscabled_row() {
  const Form pair = Form::list(Form::of(Form::Kind::kText), 2, 2);
  return {
      "miscabled", Form::list(pair, 0, kMaxMiscabled),
      "pairs of ports whose cables are in one another's place; carriers and tables are as planned",
      [](const YamlValue& list, FabricShape& shape) {
        shape.miscabled.clear();
        for (const YamlValue& entry : list.items()) {
          const std::vector<YamlValue> ports = entry.items();
          if (ports.size() != 2) entry.fail_expecting("two ports");
          shape.miscabled.push_back({ports[0].as_string(), ports[1].as_string()});
        }
      },
      [](const FabricShape& shape) {
        std::string text;
        for (const auto& [one, other] : shape.miscabled) {
          text +=
              (text.empty() ? "[[" : ", [") + yaml_string(one) + ", " + yaml_string(other) + "]";
        }
        return text.empty() ? text : text + "]";
      }};
}

}  // namespace mrclab
