// Reading and writing of expectations, from their words and fields.

#include "analysis/expect/expectation.h"

#include <utility>

#include "analysis/expect/expectation_fields.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::analysis {
namespace {

bool is_positive(Need need) { return need == Need::kPositive || need == Need::kOptionalPositive; }
bool is_required(Need need) { return need == Need::kPositive || need == Need::kRequired; }

void read(const YamlValue& value, FabricTime& out, Need need) {
  out = value.as_time();
  if (is_positive(need) && out == FabricTime::zero()) value.fail_expecting("a duration above 0");
}
void read(const YamlValue& value, Probability& out, Need need) {
  out = value.as_probability();
  if (is_positive(need) && out.ppb == 0) value.fail_expecting("a share above 0%");
}
void read(const YamlValue& value, uint64_t& out, Need) {
  out = static_cast<uint64_t>(value.as_integer(0, kMostCounted));
}
void read(const YamlValue& value, std::optional<uint32_t>& out, Need) {
  out = static_cast<uint32_t>(value.as_integer(0, kMostPlanes));
}
void read(const YamlValue& value, FairnessMeasure& out, Need) {
  out = static_cast<FairnessMeasure>(value.as_word({kFairnessWords.begin(), kFairnessWords.end()}));
}
void read(const YamlValue& value, MapperWitness& out, Need) {
  out = static_cast<MapperWitness>(
      value.as_word({kMapperWitnessWords.begin(), kMapperWitnessWords.end()}));
}
void read(const YamlValue& value, MessageTimeMeasure& out, Need) {
  out = static_cast<MessageTimeMeasure>(
      value.as_word({kMessageTimeWords.begin(), kMessageTimeWords.end()}));
}
void read(const YamlValue& value, ServePart& out, Need) {
  out = static_cast<ServePart>(value.as_word({kServePartWords.begin(), kServePartWords.end()}));
}
void read(const YamlValue& value, StepReference& out, Need) {
  out = static_cast<StepReference>(
      value.as_word({kStepReferenceWords.begin(), kStepReferenceWords.end()}));
}
void read(const YamlValue& value, StepNumber& out, Need need) {
  out.value = static_cast<uint32_t>(value.as_integer(is_positive(need) ? 1 : 0, kMostSteps));
}
/// A time has a unit; a number, or one of percent, is a multiple.
void read(const YamlValue& value, TimeOrRatio& out, Need) {
  const std::string text = value.is_scalar() ? value.as_string() : "";
  const bool time = text.ends_with('s') || text.ends_with("rtt");
  out = time ? TimeOrRatio(value.as_time()) : TimeOrRatio(as_ratio(value));
  if (out == TimeOrRatio(FabricTime::zero()) || out == TimeOrRatio(Ratio{})) {
    value.fail_expecting("a multiple such as 105%, or a duration, above 0");
  }
}
void read(const YamlValue& value, Ratio& out, Need) {
  out = as_ratio(value);
  if (out == Ratio{}) value.fail_expecting("a multiple such as 105%, above 0");
}
void read(const YamlValue& value, std::optional<Bytes>& out, Need) { out = value.as_bytes(); }
void read(const YamlValue& value, GoodputReference& out, Need) {
  const std::string text = value.is_scalar() ? value.as_string() : "";
  if (text == "baseline") {
    out = GoodputReference::kBaseline;
  } else if (text == "line_rate") {
    out = GoodputReference::kLineRate;
  } else if (text.find_first_of("0123456789") == 0) {
    out = GoodputReference(value.as_rate());
    if (out.rate.bps == 0) value.fail_expecting("a rate above 0");
  } else {
    value.fail_expecting("baseline, line_rate, or a rate such as 100Gb/s");
  }
}
/// Names and reasons, on one line.
void read(const YamlValue& value, std::string& out, Need) {
  out = value.as_string();
  if (out.empty() || out.find_first_of("\"\\\n") != std::string::npos) {
    value.fail_expecting("words such as \"Retry Counter Exceeded\" or h[1-7]");
  }
}

void read(const YamlValue& value, TenantNames& out, Need) {
  for (const YamlValue& name : value.is_list() ? value.items() : std::vector{value}) {
    out.names.push_back(name.as_name());
  }
  if (out.names.empty()) value.fail_expecting("a tenant, or a list of them");
}

std::string written(const TenantNames& tenants) {
  std::string text;
  for (const std::string& name : tenants.names)
    text += (text.empty() ? "[" : ", ") + yaml_word(name);
  return text.empty() ? "" : text + "]";
}
std::string written(FabricTime time) { return exact(time); }
std::string written(Probability share) { return exact(share); }
std::string written(uint64_t number) { return std::to_string(number); }
std::string written(const std::optional<uint32_t>& plane) {
  return plane ? std::to_string(*plane) : "";
}
std::string written(FairnessMeasure by) {
  return std::string(kFairnessWords[static_cast<size_t>(by)]);
}
std::string written(MapperWitness by) {
  return std::string(kMapperWitnessWords[static_cast<size_t>(by)]);
}
std::string written(MessageTimeMeasure by) {
  return std::string(kMessageTimeWords[static_cast<size_t>(by)]);
}
std::string written(ServePart part) {
  return std::string(kServePartWords[static_cast<size_t>(part)]);
}
std::string written(StepReference of) {
  return std::string(kStepReferenceWords[static_cast<size_t>(of)]);
}
std::string written(const StepNumber& step) {
  return step.value ? std::to_string(*step.value) : "";
}
std::string written(const TimeOrRatio& bound) {
  return std::visit([](const auto& one) { return exact(one); }, bound);
}
std::string written(const Ratio& ratio) { return exact(ratio); }
std::string written(const std::optional<Bytes>& size) { return size ? exact(*size) : ""; }
std::string written(const GoodputReference& of) {
  if (of.kind == GoodputReference::kRate) return exact(of.rate);
  return of.kind == GoodputReference::kBaseline ? "baseline" : "line_rate";
}
std::string written(const std::string& text) { return yaml_string(text); }

/// Rules over several fields: bounds of which at least one is needed, and the order of instants.
template <class E>
void check_whole(const E& e, const YamlValue& body) {
  if constexpr (requires { e.until; }) {
    if (e.until <= e.from) body.require("until").fail_expecting("an instant after \"from\"");
  }
  if constexpr (requires { E::kBounded; }) {
    if (!body.get("at_least") && !body.get("at_most")) body.require("at_least");
  }
  if constexpr (requires { e.check_whole(body); }) e.check_whole(body);
}

template <class E>
Expectation parse_as(const YamlValue& body) {
  E e;
  if constexpr (requires { E::kAlone; }) {
    if (body.is_scalar()) {  // the value of that field alone
      for_each_field(e, [&](std::string_view name, auto& member, Need need) {
        if (name == E::kAlone) read(body, member, need);
      });
      return e;
    }
  }
  std::vector<std::string_view> known;
  for_each_field(e, [&](std::string_view name, auto&, Need) { known.push_back(name); });
  body.only_keys(std::span<const std::string_view>(known));
  for_each_field(e, [&](std::string_view name, auto& member, Need need) {
    if (is_required(need)) {
      read(body.require(name), member, need);
    } else if (const auto value = body.get(name)) {
      read(*value, member, need);
    }
  });
  check_whole(e, body);
  return e;
}

template <class E>
bool has_fields(const E& e) {
  bool any = false;
  for_each_field(e, [&](std::string_view, const auto&, Need) { any = true; });
  return any;
}

/// Calls with a default value of the alternative of that index.
template <size_t... I>
void with_alternative(size_t index, std::index_sequence<I...>, auto&& call) {
  ((index == I ? (call(std::variant_alternative_t<I, ExpectationKind>{}), 0) : 0), ...);
}
void with_alternative(size_t index, auto&& call) {
  with_alternative(index, std::make_index_sequence<std::variant_size_v<ExpectationKind>>{}, call);
}

size_t word_index(std::string_view text) {
  size_t index = 0;
  while (index < kExpectationWords.size() && kExpectationWords[index].name != text) ++index;
  return index;
}

std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const ExpectationWord& word : kExpectationWords) words.emplace_back(word.name);
  return words;
}

/// The body of "{no_qp_error, published: 0, ...}".
bool is_empty(const YamlValue& value) {
  return !value.is_scalar() && !value.is_map() && !value.is_list();
}

Expectation parse_plain(const YamlValue& entry) {
  const std::string text = entry.as_string();
  const size_t index = word_index(text);
  if (index == kExpectationWords.size()) entry.fail_expecting(one_of(text, all_words()));
  const std::string_view form = kExpectationWords[index].form;
  if (!form.empty()) entry.fail_expecting(std::string(form));
  Expectation result;
  with_alternative(index, [&](auto&& alone) { result = alone; });
  return result;
}

}  // namespace

std::string_view name_of(const Expectation& expectation) {
  return kExpectationWords.at(expectation.index()).name;
}

Expectation parse_expectation(const YamlValue& entry) {
  if (entry.is_scalar()) return parse_plain(entry);
  if (!entry.is_map()) entry.fail_expecting("an expectation such as no_qp_error");
  auto members = entry.members();
  std::erase_if(members, [](const auto& member) {
    return member.first == "published" || member.first == "figure";
  });
  if (members.size() != 1) {
    entry.fail(std::to_string(members.size()) + " expectations", "one per entry");
  }
  const auto& [key, body] = members.front();
  const size_t index = word_index(key);
  if (index == kExpectationWords.size()) {
    entry.fail_at_key(key, "the expectation " + in_quotes(key), one_of(key, all_words()));
  }
  Expectation result;
  with_alternative(index, [&, &key = key, &body = body](auto&& alone) {
    if (!has_fields(alone) && !is_empty(body)) {
      entry.fail_at_key(key, "a value for " + in_quotes(key), "the word alone");
    }
    if (has_fields(alone)) {
      result = parse_as<std::remove_cvref_t<decltype(alone)>>(body);
    } else {
      result = alone;
    }
  });
  result.published = parse_published(entry, kExpectationWords[index].measure);
  const bool bundle = std::holds_alternative<ExpectSafety>(result) ||
                      std::holds_alternative<ExpectLiveness>(result);
  if (bundle && result.published) {
    entry.require("published").fail("a figure for several checks", "one for a single check");
  }
  return result;
}

std::string to_yaml(const Expectation& expectation) {
  std::string fields;
  std::visit(
      [&](const auto& e) {
        const std::remove_cvref_t<decltype(e)> usual;
        std::vector<std::string> defaults;
        for_each_field(usual, [&](std::string_view, const auto& member, Need) {
          defaults.push_back(written(member));
        });
        size_t place = 0;
        for_each_field(e, [&](std::string_view name, const auto& member, Need need) {
          const std::string text = written(member);
          const bool as_usual = text == defaults[place++];
          if (as_usual && !is_required(need)) return;
          fields += (fields.empty() ? "" : ", ") + std::string(name) + ": " + text;
        });
      },
      expectation);
  const std::string name(name_of(expectation));
  const std::string body = fields.empty() ? name : name + ": {" + fields + "}";
  if (!expectation.published) return body;
  return "{" + body + to_yaml(*expectation.published) + "}";
}

std::vector<Expectation> without_bundles(const std::vector<Expectation>& expectations) {
  std::vector<Expectation> result;
  for (const Expectation& expectation : expectations) {
    if (std::holds_alternative<ExpectSafety>(expectation)) {
      result.insert(result.end(), {ExpectPlacedOnce{}, ExpectNoSilentLoss{}, ExpectInOrder{},
                                   ExpectNoQpErrorWhileAPathLives{}, ExpectAccounted{}});
    } else if (const auto* liveness = std::get_if<ExpectLiveness>(&expectation)) {
      result.insert(result.end(), {ExpectHealed{}, ExpectGoodputBack{liveness->within},
                                   ExpectEvsGood{liveness->within}, ExpectQueuesEmpty{}});
    } else {
      result.push_back(expectation);
    }
  }
  return result;
}

}  // namespace mrclab::analysis
