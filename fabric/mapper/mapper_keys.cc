#include "fabric/mapper/mapper_keys.h"

#include "fabric/mapper/rtt_time_kind.h"

namespace mrclab {
namespace {

using Form = ValueForm;
using M = MapperProfile;
using R = KeyRow<M>;

R probes_row() {
  static const std::vector<std::string> kWords{"t0", "t1", "cross"};
  const Form form = Form::list(Form::word(kWords), 1, kWords.size());
  const auto read = [](const YamlValue& list, M& out) {
    out.t0 = out.t1 = out.cross = false;
    if (list.items().empty()) list.fail("an empty list", "at least one of t0, t1 and cross");
    for (const YamlValue& item : list.items()) {
      const size_t word = item.as_word(kWords);
      (word == 0 ? out.t0 : word == 1 ? out.t1 : out.cross) = true;
    }
  };
  const auto write = [](const M& in) {
    std::string text;
    for (size_t i = 0; i < kWords.size(); ++i) {
      const bool on = i == 0 ? in.t0 : i == 1 ? in.t1 : in.cross;
      if (on) text += (text.empty() ? "[" : ", ") + kWords[i];
    }
    return text + "]";
  };
  return {"probes", form,
          "t0: a port's own T0 and back; t1: a T0's link to a T1 and back; cross: over another T0, "
          "back by another T1",
          read, write};
}

const KeyTable<M>& mapper_keys() {
  static const KeyTable<M> kKeys(
      {R::of("period", &M::period, rtt_time_kind(),
             "in which every link is probed once, such as 10rtt; 1ms in production", kRequiredKey),
       probes_row(),
       R::of("form", &M::form, word_kind<ProbeForm>({"own", "stamp"}),
             "what a probe carries: a header of ours, or a STAMP test packet (RFC 8762)"),
       R::of("timeout", &M::timeout, rtt_time_kind(),
             "a probe is lost after it; absent: 6rtt where switches trim, 8rtt elsewhere",
             kIfUnusual)});
  return kKeys;
}

}  // namespace

const KeyRow<MapperProfile>& mapper_key() {
  static const KeyRow<MapperProfile> kKey{
      "mapper", Form::either({Form::word({"off"}).elsewhere(), mapper_keys().form()}),
      "hosts probe every link of the fabric, with or without a job",
      [](const YamlValue& value, MapperProfile& out) {
        out = {};
        if (value.is_scalar()) {
          if (value.as_bool()) value.fail_expecting("off or {period: 10rtt}");
          return;
        }
        check_form(value, mapper_keys().form());
        out.on = true;
        mapper_keys().read(value, out);
      },
      [](const MapperProfile& in) { return in.on ? mapper_keys().written(in) : std::string(); }};
  return kKey;
}

}  // namespace mrclab
