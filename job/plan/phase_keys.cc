#include "job/plan/phase_keys.h"

#include <algorithm>
#include <array>

#include "fabric/text/key_table.h"
#include "job/plan/key_kinds.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;

constexpr uint64_t kMaxVector = uint64_t{1} << 46;  ///< 64 TiB, before it is scaled down
constexpr std::array kCollectives{Collective::kAllReduce, Collective::kReduceScatter,
                                  Collective::kAllGather, Collective::kAllToAll,
                                  Collective::kBroadcast, Collective::kBarrier};

auto size_kind() {
  auto kind = kind_of<Bytes>();
  const auto read = [](const YamlValue& value) {
    const Bytes size = value.as_bytes();
    if (size.value == 0 || size.value > kMaxVector) {
      value.fail_expecting("a size from 1B to " + exact(Bytes{kMaxVector}));
    }
    return size;
  };
  return ValueKind{kind.form, read, [](Bytes in) { return in.value == 0 ? "" : exact(in); }};
}

auto group_kind() {
  const auto read = [](const YamlValue& value) {
    std::string name = value.as_string();
    if (name.empty() || name.size() > kMaxLabel) {
      value.fail_expecting("a group such as dp, all, or ep+dp");
    }
    return name;
  };
  return ValueKind{Form::of(Form::Kind::kText), read, yaml_word};
}

const KeyTable<ExchangeWork>& exchange_keys() {
  using S = ExchangeWork;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("group", &S::group, group_kind(), "whose ranks take part: dp, all, ep+dp", kIfUnusual),
       R::of("size", &S::size, size_kind(), "as nccl-tests mean it"),
       R::of("parts", &S::parts, integer_kind(1, kMaxParts),
             "that it is cut into, one after the other", kIfUnusual),
       R::of("skew", &S::zipf_thousandths, zipf_kind(),
             "of an all_to_all: \"zipf 0.5\", some ranks get more than others")});
  return kKeys;
}

const KeyTable<SendWork>& send_keys() {
  using S = SendWork;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("group", &S::group, group_kind(), "within which it goes", kIfUnusual),
       R::of("to", &S::to, word_kind<Direction>({"next", "prev", "right", "left"}),
             "next, prev: none at the chain's ends; right, left: in a ring", kIfUnusual),
       R::of("size", &S::size, size_kind(), "of what is sent", kRequiredKey),
       R::of("parts", &S::parts, integer_kind(1, kMaxParts), "messages that it is sent in",
             kIfUnusual)});
  return kKeys;
}

// --- the body of a phase ---------------------------------------------------------------------------

KeyRow<Phase> compute_row() {
  return {"compute",
          Form::of(Form::Kind::kTime),
          "so long",
          [](const YamlValue& value, Phase& phase) {
            const FabricTime time = value.as_time();
            if (time <= FabricTime::zero()) value.fail_expecting("a time above 0");
            phase.work = ComputeWork{time};
          },
          [](const Phase& phase) {
            const auto* work = std::get_if<ComputeWork>(&phase.work);
            return work != nullptr ? exact(work->time) : std::string();
          },
          {.need = Form::Key::kOneOf}};
}

KeyRow<Phase> exchange_row(Collective collective) {
  const auto read = [=](const YamlValue& value, Phase& phase) {
    ExchangeWork work;
    work.collective = collective;
    exchange_keys().read(value, work);
    const bool sized = collective != Collective::kBarrier;
    if (sized != value.get("size").has_value()) {
      value.fail(sized ? "no \"size\"" : "a \"size\"", sized ? "\"size: ...\"" : "none");
    }
    if (work.zipf_thousandths > 0 && collective != Collective::kAllToAll) {
      value.require("skew").fail("skew of " + std::string(name_of(collective)),
                                 "it of an all_to_all alone");
    }
    phase.work = work;
  };
  const auto write = [=](const Phase& phase) {
    const auto* work = std::get_if<ExchangeWork>(&phase.work);
    return work != nullptr && work->collective == collective ? exchange_keys().written(*work)
                                                             : std::string();
  };
  return {std::string(name_of(collective)),
          exchange_keys().form(),
          "a collective of a group",
          read,
          write,
          {.need = Form::Key::kOneOf}};
}

KeyRow<Phase> send_row() {
  return {"send",
          send_keys().form(),
          "a message to a neighbour, and one from the other",
          [](const YamlValue& value, Phase& phase) {
            SendWork work;
            send_keys().read(value, work);
            phase.work = work;
          },
          [](const Phase& phase) {
            const auto* work = std::get_if<SendWork>(&phase.work);
            return work != nullptr ? send_keys().written(*work) : std::string();
          },
          {.need = Form::Key::kOneOf}};
}

KeyRow<Phase> after_row() {
  const Form name = Form::of(Form::Kind::kText);
  return {"after", Form::either({name, Form::list(name)}),
          "phases that end before; absent: the one before it in the file; []: none of the step",
          [](const YamlValue& value, Phase& phase) {
            phase.after.emplace();
            for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
              phase.after->push_back(item.as_string());
            }
          },
          [](const Phase& phase) {
            if (!phase.after) return std::string();
            std::string text;
            for (const std::string& each : *phase.after) {
              text += (text.empty() ? "" : ", ") + yaml_word(each);
            }
            return "[" + text + "]";
          }};
}

auto other_kind() {
  return ValueKind{Form::of(Form::Kind::kText), &YamlValue::as_string, [](const std::string& in) {
                     return in.empty() ? std::string() : yaml_word(in);
                   }};
}

const KeyTable<Phase>& phase_keys() {
  using R = KeyRow<Phase>;
  static const KeyTable<Phase> kKeys([] {
    std::vector<R> rows{compute_row()};
    for (const Collective collective : kCollectives) rows.push_back(exchange_row(collective));
    rows.push_back(send_row());
    rows.push_back(after_row());
    rows.push_back(R::of("beside", &Phase::beside, other_kind(),
                         "a computing phase: part k goes when that one is as far"));
    rows.push_back(R::of("with", &Phase::with, other_kind(), "a phase that it begins with"));
    rows.push_back(R::of("each", &Phase::each_microbatch,
                         ValueKind{Form::word({"microbatch"}),
                                   [](const YamlValue& value) {
                                     value.as_word({"microbatch"});
                                     return true;
                                   },
                                   [](bool in) { return std::string(in ? "microbatch" : ""); }},
                         "once for each; absent: once a step"));
    rows.push_back(R::of("pass", &Phase::pass, word_kind<Pass>({"forward", "backward"}),
                         "of a micro-batch through the pipeline", kIfUnusual));
    return rows;
  }());
  return kKeys;
}

void check_phase(const YamlValue& body, const Phase& phase) {
  std::string found;
  for (const auto& [key, value] : body.members()) {
    for (const Form::Key& known : phase_keys().form().keys) {
      if (known.name != key || known.need != Form::Key::kOneOf) continue;
      if (!found.empty())
        body.fail_at_key(key, "a second work " + in_quotes(key), "one of a phase");
      found = key;
    }
  }
  if (found.empty())
    body.fail("no work", "one such as \"compute: 400us\" or \"all_reduce: {...}\"");
  if (phase.after.has_value() + !phase.beside.empty() + !phase.with.empty() > 1) {
    body.fail("two of \"after\", \"beside\" and \"with\"", "one of them");
  }
  if (!phase.beside.empty() && !std::holds_alternative<ExchangeWork>(phase.work)) {
    body.require("beside").fail("no collective beside a phase", "a collective, whose parts follow");
  }
}

}  // namespace

ValueForm phases_form() { return Form::list(Form::map_of(phase_keys().form()), 1, kMaxPhases); }

std::vector<Phase> read_phases(const YamlValue& list) {
  std::vector<Phase> phases;
  Mistakes mistakes;
  for (const YamlValue& entry : list.items()) {
    mistakes.go_on([&] {
      const auto members = entry.members();
      if (members.size() != 1) entry.fail_expecting("one phase, such as \"forward: {...}\"");
      const auto& [name, body] = members.front();
      if (!is_plain_name(name)) {
        entry.fail_at_key(name, "the phase " + in_quotes(name),
                          "a name of at most 32 of a-z, 0-9, dash and underscore");
      }
      for (const Phase& other : phases) {
        if (other.name == name) {
          entry.fail_at_key(name, "a second phase " + in_quotes(name), "names of their own");
        }
      }
      if (phases.size() == kMaxPhases) {
        entry.fail("more phases", "at most " + std::to_string(kMaxPhases));
      }
      Phase phase;
      phase.name = name;
      phase_keys().read(body, phase);
      check_phase(body, phase);
      phases.push_back(std::move(phase));
    });
  }
  mistakes.report();
  if (phases.empty()) list.fail("no phase", "at least one");
  return phases;
}

std::string phases_text(const std::vector<Phase>& phases) {
  std::string text;
  for (const Phase& phase : phases) {
    text += (text.empty() ? "" : ", ") + ("{" + yaml_word(phase.name)) + ": " +
            phase_keys().written(phase) + "}";
  }
  return text.empty() ? text : "[" + text + "]";
}

}  // namespace mrclab::job
