#include "analysis/expectation.h"

#include <array>

namespace mrclab::analysis {
namespace {

FabricTime read_within(const YamlValue& body) {
  const YamlValue within = body.require("within");
  const FabricTime bound = within.as_time();
  if (bound == FabricTime::zero()) within.fail_expecting("a duration above 0");
  return bound;
}

Expectation parse_goodput(const YamlValue& body) {
  body.only_keys({"from", "until", "at_least", "of"});
  ExpectGoodput expect;
  expect.from = body.require("from").as_time();
  if (const auto until = body.get("until")) {
    expect.until = until->as_time();
    if (expect.until <= expect.from) until->fail_expecting("an instant after \"from\"");
  }
  const YamlValue share = body.require("at_least");
  expect.at_least = share.as_probability();
  if (expect.at_least.ppb == 0) share.fail_expecting("a share above 0%");
  if (const auto of = body.get("of")) {
    const std::string word = of->is_scalar() ? of->as_string() : "";
    if (word != "baseline" && word != "line_rate") of->fail_expecting("baseline or line_rate");
    expect.of = word == "baseline" ? GoodputReference::kBaseline : GoodputReference::kLineRate;
  }
  return expect;
}

Expectation parse_detect(const YamlValue& body) {
  body.only_keys({"within"});
  return ExpectDetect{read_within(body)};
}

Expectation parse_recover(const YamlValue& body) {
  body.only_keys({"within", "to"});
  ExpectRecover expect;
  expect.within = read_within(body);
  if (const auto to = body.get("to")) {
    expect.to = to->as_probability();
    if (expect.to.ppb == 0) to->fail_expecting("a share above 0%");
  }
  return expect;
}

Expectation parse_leave(const YamlValue& body) {
  body.only_keys({"within"});
  return ExpectLeave{read_within(body)};
}

Expectation parse_qp_error(const YamlValue& body) {
  body.only_keys({"reason"});
  const YamlValue reason = body.require("reason");
  const std::string words = reason.as_string();
  if (words.empty() || words.find_first_of("\"\\\n") != std::string::npos) {
    reason.fail_expecting("a reason in words such as \"Retry Counter Exceeded\"");
  }
  return ExpectQpError{words};
}

/// In the order of Expectation's alternatives. A plain word has no parser.
struct Word {
  std::string_view name;
  Expectation (*parse)(const YamlValue& body);
  std::string_view form;  // what is right where a map is needed
};
constexpr std::array kWords{
    Word{"no_qp_error", nullptr, ""},
    Word{"memory_intact", nullptr, ""},
    Word{"healed", nullptr, ""},
    Word{"goodput", parse_goodput, "\"goodput: {from: 600us, at_least: 95%, of: baseline}\""},
    Word{"detect", parse_detect, "\"detect: {within: 6rtt}\""},
    Word{"recover", parse_recover, "\"recover: {within: 100rtt, to: 95%}\""},
    Word{"leave", parse_leave, "\"leave: {within: 5rtt}\""},
    Word{"qp_error", parse_qp_error, "\"qp_error: {reason: Retry Counter Exceeded}\""}};

std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const Word& word : kWords) words.emplace_back(word.name);
  return words;
}

const Word* find_word(std::string_view text) {
  for (const Word& word : kWords) {
    if (word.name == text) return &word;
  }
  return nullptr;
}

Expectation parse_plain(const YamlValue& entry) {
  const std::string text = entry.as_string();
  const Word* word = find_word(text);
  if (!word) entry.fail_expecting(one_of(text, all_words()));
  if (word->parse) entry.fail_expecting(std::string(word->form));
  if (text == "no_qp_error") return ExpectNoQpError{};
  if (text == "memory_intact") return ExpectMemoryIntact{};
  return ExpectHealed{};
}

Expectation parse_entry(const YamlValue& entry) {
  if (entry.is_scalar()) return parse_plain(entry);
  if (!entry.is_map()) entry.fail_expecting("an expectation such as no_qp_error");
  const auto members = entry.members();
  if (members.size() != 1) {
    entry.fail(std::to_string(members.size()) + " expectations", "one per entry");
  }
  const auto& [key, body] = members.front();
  const Word* word = find_word(key);
  if (!word) {
    entry.fail_at_key(key, "the expectation " + in_quotes(key), one_of(key, all_words()));
  }
  if (!word->parse) {
    entry.fail_at_key(key, "a value for " + in_quotes(key), "the word alone");
  }
  return word->parse(body);
}

}  // namespace

std::string_view name_of(const Expectation& expectation) {
  return kWords.at(expectation.index()).name;
}

std::string describe(const Expectation& expectation) {
  if (const auto* goodput = std::get_if<ExpectGoodput>(&expectation)) {
    return "goodput >= " + exact(goodput->at_least) + " of " +
           (goodput->of == GoodputReference::kBaseline ? "baseline" : "line rate") + " from " +
           exact(goodput->from) +
           (goodput->until == FabricTime::never() ? "" : " until " + exact(goodput->until));
  }
  if (const auto* detect = std::get_if<ExpectDetect>(&expectation)) {
    return "detected within " + to_string(detect->within);
  }
  if (const auto* recover = std::get_if<ExpectRecover>(&expectation)) {
    return "recovered to " + exact(recover->to) + " of baseline within " +
           to_string(recover->within);
  }
  if (const auto* leave = std::get_if<ExpectLeave>(&expectation)) {
    return "affected paths left within " + to_string(leave->within);
  }
  if (const auto* error = std::get_if<ExpectQpError>(&expectation)) {
    return "QP error \"" + error->reason + "\"";
  }
  if (std::holds_alternative<ExpectNoQpError>(expectation)) return "no QP in error";
  if (std::holds_alternative<ExpectMemoryIntact>(expectation)) return "memory intact";
  return "every fault healed";
}

std::vector<Expectation> parse_expectations(const YamlValue& list) {
  std::vector<Expectation> result;
  for (const YamlValue& entry : list.items()) {
    if (result.size() >= kMaxExpectations) {
      entry.fail("more expectations", "at most " + std::to_string(kMaxExpectations));
    }
    result.push_back(parse_entry(entry));
  }
  return result;
}

std::string to_yaml(const Expectation& expectation) {
  const std::string name(name_of(expectation));
  if (const auto* goodput = std::get_if<ExpectGoodput>(&expectation)) {
    return name + ": {from: " + exact(goodput->from) +
           (goodput->until == FabricTime::never() ? "" : ", until: " + exact(goodput->until)) +
           ", at_least: " + exact(goodput->at_least) +
           ", of: " + (goodput->of == GoodputReference::kBaseline ? "baseline" : "line_rate") + "}";
  }
  if (const auto* detect = std::get_if<ExpectDetect>(&expectation)) {
    return name + ": {within: " + exact(detect->within) + "}";
  }
  if (const auto* recover = std::get_if<ExpectRecover>(&expectation)) {
    return name + ": {within: " + exact(recover->within) + ", to: " + exact(recover->to) + "}";
  }
  if (const auto* leave = std::get_if<ExpectLeave>(&expectation)) {
    return name + ": {within: " + exact(leave->within) + "}";
  }
  if (const auto* error = std::get_if<ExpectQpError>(&expectation)) {
    return name + ": {reason: \"" + error->reason + "\"}";
  }
  return name;
}

}  // namespace mrclab::analysis
