#include "faults/fault_order.h"

#include <algorithm>
#include <utility>

#include "fabric/text/yaml.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::lab {
namespace {

constexpr const char* kByHand = "by hand";

/// A key or a value in YAML: a list or a map as it stands, anything else as one string.
std::string yaml_value(const std::string& text) {
  return text.starts_with('[') || text.starts_with('{') ? text : yaml_string(text);
}

/// There is no file whose lines and columns would mean anything.
std::string without_position(const std::string& message) {
  const bool placed = message.starts_with(std::string(kByHand) + ":");
  return placed ? message.substr(message.find(": ") + 2) : message;
}

faults::FaultKind kind_of(const std::string& word) {
  const std::optional<faults::FaultKind> kind = faults::find_fault(word);
  if (kind) return *kind;
  std::vector<std::string> known;
  for (const faults::FaultInfo& fault : faults::all_faults()) known.emplace_back(fault.name);
  throw InputError("found the fault " + in_quotes(word) + ": expected " + one_of(word, known));
}

/// What a word without a key names: what the kind is about.
std::string target_key(const faults::FaultInfo& fault, const std::string& name) {
  const auto keys = faults::keys_of(fault.targets);
  if (keys.front() != "wire" || name.find("->") != std::string::npos) {
    return std::string(keys.front());
  }
  const bool takes_switch = std::find(keys.begin(), keys.end(), "switch") != keys.end();
  return takes_switch && name.find(':') == std::string::npos ? "switch" : "link";
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  char quote = 0;
  for (const char c : line) {
    const bool blank = c == ' ' || c == '\t';
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && depth == 0 && blank) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      if (quote == 0 && (c == '[' || c == '{')) ++depth;
      if (quote == 0 && (c == ']' || c == '}') && depth > 0) --depth;
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace

std::map<std::string, std::string> body_of_words(const std::string& kind,
                                                 const std::vector<std::string>& words) {
  std::map<std::string, std::string> body;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
    if (equals == std::string::npos) {
      const auto known = faults::find_fault(kind);
      if (!known) break;  // refused by its own message
      key = target_key(faults::info(*known), word);
    }
    if (key.empty() || value.empty()) {
      throw InputError("found " + in_quotes(word) + ": expected key=value, such as for=50us");
    }
    if (!body.try_emplace(key, value).second) {
      throw InputError("found " + in_quotes(key) + " twice: expected once");
    }
  }
  return body;
}

FaultOrder order_of_line(const std::string& line) {
  std::vector<std::string> words = words_of(line);
  FaultOrder order;
  const auto at =
      std::find_if(words.begin(), words.end(), [](const auto& w) { return w.starts_with("at="); });
  if (at != words.end()) {
    order.at = at->substr(3);
    words.erase(at);
  }
  if (words.empty()) throw InputError("found no kind of fault: expected one, such as link_down");
  order.kind = words.front();
  kind_of(order.kind);
  words.erase(words.begin());
  order.body = body_of_words(order.kind, words);
  return order;
}

faults::Fault fault_of(const FaultOrder& order, FabricTime at, NameResolver& names) {
  const faults::FaultKind kind = kind_of(order.kind);
  std::string text = "{";
  for (const auto& [key, value] : order.body) {
    text += yaml_value(key) + ": " + yaml_value(value) + ", ";
  }
  try {
    const YamlValue body = read_yaml_text(text + "}", kByHand).with_rtt(names.topology().base_rtt);
    return faults::parse_fault(kind, at, body, names);
  } catch (const InputError& error) {
    throw InputError(order.kind + ": " + without_position(error.what()));
  }
}

}  // namespace mrclab::lab
