#include "fabric/mapper/denylist_keys.h"

namespace mrclab {
namespace {

using Form = ValueForm;
using P = DenylistPolicy;
using Rule = P::Rule;
using DenyRow = KeyRow<P>;

/// Our bounds: a list is one packet, and what a link's last probes came to is kept for each of them.
constexpr int64_t kMostProbes = 1000, kMostPeriods = 1'000'000;
constexpr size_t kMostTexts = 4096;

struct OverLoss {
  Probability loss{};
  uint32_t probes = 0;
};
const KeyTable<OverLoss>& over_loss_keys() {
  static const KeyTable<OverLoss> kKeys(
      {KeyRow<OverLoss>::of("loss", &OverLoss::loss, "a link that loses more is denied",
                            kRequiredKey),
       KeyRow<OverLoss>::of("probes", &OverLoss::probes, integer_kind(2, kMostProbes),
                            "of its last probes so many count", kRequiredKey)});
  return kKeys;
}

DenyRow deny_row() {
  const auto read = [](const YamlValue& value, P& out) {
    out.rule = Rule::kCertain;
    if (value.is_map()) {
      OverLoss over;
      check_form(value, over_loss_keys().form());
      over_loss_keys().read(value, over);
      out.rule = Rule::kOverLoss;
      out.loss = over.loss;
      out.probes = over.probes;
      return;
    }
    const std::string word = value.is_scalar() ? value.as_string() : "";
    if (word == "certain") return;
    if (word != "off") value.fail_expecting("certain, off or {loss: 1%, probes: 50}");
    out.rule = Rule::kNever;
  };
  const auto write = [](const P& in) -> std::string {
    if (in.rule == Rule::kNever) return "off";
    if (in.rule == Rule::kCertain) return "certain";
    return over_loss_keys().written({in.loss, in.probes});
  };
  return {
      "deny",
      Form::either({Form::word({"certain", "off"}).elsewhere(), over_loss_keys().form()}),
      "which links: those of which the mapper's sequential test is certain, those that lose more "
      "than a share, or none; absent: certain",
      read,
      write,
      kIfUnusual};
}

const KeyTable<P::Drain>& drain_keys() {
  using D = P::Drain;
  using DrainRow = KeyRow<D>;
  const auto end = ValueKind{Form::of(Form::Kind::kTime), &YamlValue::as_time, [](FabricTime in) {
                               return in == FabricTime::never() ? std::string() : exact(in);
                             }};
  static const KeyTable<D> kKeys(
      {DrainRow::of("part", &D::part, text_kind(),
                    "a link, port, switch or plane, or a pattern of them", kRequiredKey),
       DrainRow::of("from", &D::from, "when it is denied", kRequiredKey),
       DrainRow::of("to", &D::to, end, "when it is allowed again; absent: never")});
  return kKeys;
}

DenyRow drain_row() {
  const Form form = Form::list(drain_keys().form(), 0, kMostTexts);
  const auto read = [](const YamlValue& list, P& out) {
    out.drains.clear();
    for (const YamlValue& item : list.items()) {
      P::Drain drain;
      check_form(item, drain_keys().form());
      drain_keys().read(item, drain);
      if (drain.to <= drain.from) item.fail("a drain that ends before it begins", "a later \"to\"");
      out.drains.push_back(std::move(drain));
    }
  };
  const auto write = [](const P& in) {
    std::string text;
    for (const P::Drain& drain : in.drains) {
      text += (text.empty() ? "[" : ", ") + drain_keys().written(drain);
    }
    return text.empty() ? text : text + "]";
  };
  return {"drain", form, "parts that carry nothing for some time, for maintenance", read, write};
}

DenyRow static_row() {
  const Form form = Form::list(Form::of(Form::Kind::kText), 0, kMostTexts);
  const auto read = [](const YamlValue& list, P& out) {
    out.fixed.clear();
    for (const YamlValue& item : list.items()) out.fixed.push_back(item.as_string());
  };
  const auto write = [](const P& in) {
    std::string text;
    for (const std::string& part : in.fixed)
      text += (text.empty() ? "[" : ", ") + yaml_string(part);
    return text.empty() ? text : text + "]";
  };
  return {"static", form,
          "parts that every host denies from the start, in this order as far as at_most goes", read,
          write};
}

const KeyTable<P>& denylist_keys() {
  static const KeyTable<P> kKeys(
      {deny_row(),
       DenyRow::of("for", &P::hold, integer_kind(0, kMostPeriods),
                   "a denied link stays so for so many of the mapper's periods at least",
                   kIfUnusual),
       DenyRow::of(
           "clean", &P::clean, integer_kind(1, kMostPeriods),
           "periods in which no probe of it was lost until a link is allowed again, absent: 20; "
           "twice as many after each relapse, up to 16 times",
           kIfUnusual),
       DenyRow::of(
           "at_most", &P::at_most,
           "of a plane's links between switches, of a host's ports and of a queue pair's entropy "
           "values; absent: 25 %",
           kIfUnusual),
       DenyRow::of("collector", &P::collector, text_kind(),
                   "the host that gets the agents' reports and decides; absent: the first",
                   kIfUnusual),
       DenyRow::of("expires", &P::expires, integer_kind(4, kMostPeriods),
                   "periods without news after which a host forgets its list; absent: 1000",
                   kIfUnusual),
       static_row(), drain_row()});
  return kKeys;
}

}  // namespace

const KeyRow<DenylistPolicy>& denylist_key() {
  static const KeyRow<DenylistPolicy> kKey{
      "denylist", Form::either({Form::word({"on", "off"}).elsewhere(), denylist_keys().form()}),
      "hosts leave out paths over parts that the mapper finds broken, or that an operator names",
      [](const YamlValue& value, DenylistPolicy& out) {
        out = {};
        out.on = true;
        if (value.is_scalar()) {
          out.on = value.as_bool();
          return;
        }
        check_form(value, denylist_keys().form());
        denylist_keys().read(value, out);
      },
      [](const DenylistPolicy& in) -> std::string {
        if (!in.on) return {};
        const std::string text = denylist_keys().written(in);
        return text == "{}" ? "on" : text;
      }};
  return kKey;
}

}  // namespace mrclab
