#include "lab/schema/json_schema.h"

#include <array>

#include "analysis/report/verdict_form.h"
#include "fabric/text/schema_id.h"
#include "fabric/topology/keys/fabric_keys.h"
#include "scenario/spec/scenario_keys.h"
#include "session/lesson.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ValueForm::Kind;

// As fabric/text/yaml_units.cc reads them: digits, perhaps a fraction, perhaps blanks, a unit.
constexpr std::string_view kNumber = R"([0-9]+(\.[0-9]+)?)";

Json quantity(std::string_view units) {
  return {{"type", "string"},
          {"pattern", "^" + std::string(kNumber) + " *(" + std::string(units) + ")$"}};
}

/// YAML 1.1 takes some words for truth values, and a reader of YAML 1.2 does not.
Json words_schema(const std::vector<std::string>& words) {
  Json values = Json::array();
  for (const std::string& word : words) {
    values.push_back(word);
    if (word == "on") values.push_back(true);
    if (word == "off") values.push_back(false);
  }
  return {{"enum", values}};
}

/// A text is whatever its reader does not take for a list or a map: `name: 7` is one.
Json text_schema(bool is_json) {
  if (is_json) return {{"type", "string"}};
  return {{"type", {"string", "number", "boolean"}}};
}

Json name_schema() {
  return {{"anyOf",
           {{{"type", "string"}, {"pattern", "^[a-z0-9][a-z0-9-]{0,31}$"}},
            {{"type", "integer"}, {"minimum", 0}},
            {{"type", "boolean"}}}}};
}

Json schema_of(const ValueForm& form, bool is_json);

Json map_schema(const ValueForm& form, bool is_json) {
  Json properties = Json::object(), required = Json::array(), choice = Json::array();
  for (const ValueForm::Key& key : form.keys) {
    Json property = schema_of(key.form, is_json);
    if (!key.about.empty()) property["description"] = key.about;
    properties[key.name] = std::move(property);
    if (key.need == ValueForm::Key::kRequired) required.push_back(key.name);
    if (key.need == ValueForm::Key::kOneOf) choice.push_back({{"required", {key.name}}});
  }
  Json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  if (!choice.empty()) schema["oneOf"] = std::move(choice);
  return schema;
}

Json schema_of(const ValueForm& form, bool is_json) {
  switch (form.kind) {
    case Kind::kAnything: return Json::object();
    case Kind::kNothing: return {{"type", "null"}};
    case Kind::kText: return text_schema(is_json);
    case Kind::kName: return name_schema();
    case Kind::kWord: return words_schema(form.words);
    case Kind::kSwitch: return {{"enum", {true, false, "on", "off", "yes", "no"}}};
    case Kind::kInteger: return {{"type", "integer"}, {"minimum", form.min}, {"maximum", form.max}};
    case Kind::kNumber: return {{"type", "number"}};
    case Kind::kTrueFalse: return {{"type", "boolean"}};
    case Kind::kTime: return quantity("ps|ns|us|ms|s|rtt");
    case Kind::kBytes: return quantity("B|kB|MB|GB|KiB|MiB|GiB");
    case Kind::kRate: return quantity("b/s|kb/s|Mb/s|Gb/s|Tb/s");
    case Kind::kShare:
      return {{"anyOf", {quantity("%"), {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}}}};
    case Kind::kErrorRate:
      return {{"anyOf",
               {{{"type", "string"}, {"pattern", "^" + std::string(kNumber) + "e-[0-9]{1,2}$"}},
                {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}}}};
    case Kind::kMultiple: return {{"type", "number"}, {"minimum", 0.001}, {"maximum", 100}};
    case Kind::kHex:
      return {{"anyOf",
               {{{"type", "string"}, {"pattern", "^(0x)?[0-9a-fA-F]{1,8}$"}},
                {{"type", "integer"}, {"minimum", 0}}}}};
    case Kind::kMap: return map_schema(form, is_json);
    case Kind::kMapOf:
      return {{"type", "object"}, {"additionalProperties", schema_of(form.parts[0], is_json)}};
    case Kind::kList: {
      Json schema{{"type", "array"}, {"items", schema_of(form.parts[0], is_json)}};
      if (form.least > 0) schema["minItems"] = form.least;
      if (form.most < SIZE_MAX) schema["maxItems"] = form.most;
      return schema;
    }
    case Kind::kEither: {
      Json parts = Json::array();
      for (const ValueForm& part : form.parts) parts.push_back(schema_of(part, is_json));
      return {{"anyOf", std::move(parts)}};
    }
  }
  return {};
}

}  // namespace

std::span<const DocumentForm> document_forms() {
  static constexpr std::array kDocuments{
      DocumentForm{"fabric", "A fabric: what the hardware is", &fabric_form},
      DocumentForm{"scenario", "A scenario: what hosts do, what breaks, what must hold",
                   []() -> const ValueForm& { return scenario_keys().form(); }},
      DocumentForm{"lesson", "The front matter of a lesson",
                   []() -> const ValueForm& { return lesson_keys().form(); }},
      DocumentForm{"verdict", "verdict.json: what a run came to", &analysis::verdict_form, true}};
  return kDocuments;
}

nlohmann::ordered_json json_schema(const DocumentForm& document) {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"$id", schema_id(document.name)},
              {"title", document.about}};
  schema.update(schema_of(document.form(), document.is_json));
  return schema;
}

}  // namespace mrclab::lab
