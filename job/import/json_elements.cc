#include "job/import/json_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fabric/text/input_error.h"
#include "fabric/text/json_text.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

/// One value, from the parser's calls.
class ValueMaker {
 public:
  /// Is it whole with this one?
  bool put(json&& value, bool opens) {
    ++values_;
    json* const made = place(std::move(value));
    if (opens) open_.push_back(made);
    return open_.empty();
  }
  void key(std::string& name) { key_ = std::move(name); }
  bool close() {
    open_.pop_back();
    return open_.empty();
  }
  size_t values() const { return values_; }
  json take() {
    values_ = 0;
    return std::move(root_);
  }

 private:
  json* place(json&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& into = *open_.back();
    if (into.is_array()) return &into.emplace_back(std::move(value));
    json& member = into[key_];
    member = std::move(value);
    return &member;
  }

  json root_;
  std::vector<json*> open_;  // of each only the last element grows, so they stay where they are
  std::string key_;
  size_t values_ = 0;
};

class ElementReader : public nlohmann::json_sax<json> {
 public:
  ElementReader(const std::string& name, const ElementsWanted& elements)
      : name_(name), elements_(elements) {}

  bool null() override { return put(json(nullptr), false); }
  bool boolean(bool value) override { return put(json(value), false); }
  bool number_integer(number_integer_t value) override { return put(json(value), false); }
  bool number_unsigned(number_unsigned_t value) override { return put(json(value), false); }
  bool number_float(number_float_t value, const string_t&) override {
    return put(json(value), false);
  }
  bool string(string_t& value) override { return put(json(std::move(value)), false); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    if (depth_ == 1) {
      key_ = value;
      const auto& names = elements_.wanted;
      wanted_ = std::find(names.begin(), names.end(), key_) != names.end();
      is_list_ = key_ == elements_.key;
    } else {
      maker_.key(value);
    }
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const json::exception&) override {
    throw InputError(fmt::format("{}: byte {}: no JSON", name_, byte));
  }

 private:
  /// Depth 1 is the document's object; in the list, elements lie at depth 2.
  bool inside() const { return depth_ >= (is_list_ ? 2u : 1u); }

  bool put(json&& value, bool opens) {
    if (depth_ == 0) throw InputError(name_ + ": found no object, where the document's should be");
    if (!inside() || !(is_list_ || wanted_)) return true;
    const bool whole = maker_.put(std::move(value), opens);
    if (maker_.values() > kMaxElementValues) {
      throw InputError(fmt::format("{}: more than {} values in one element of \"{}\"", name_,
                                   kMaxElementValues, key_));
    }
    if (whole) finish();
    return true;
  }
  bool open(json&& value) {
    if (depth_ >= kMaxJsonDepth) throw InputError(name_ + ": JSON that nests too deep");
    const bool document = depth_ == 0, list = depth_ == 1 && is_list_;
    if (document && !value.is_object()) {
      throw InputError(name_ + ": found a list, where the document's object should be");
    }
    if (list && !value.is_array()) {
      throw InputError(fmt::format("{}: \"{}\": expected a list", name_, key_));
    }
    if (!document && !list) put(std::move(value), true);
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    if (depth_ > 0 && inside() && (is_list_ || wanted_) && maker_.close()) finish();
    if (depth_ == 1) is_list_ = wanted_ = false;
    return true;
  }
  void finish() {
    if (is_list_) {
      elements_.element(maker_.take());
    } else {
      elements_.member(key_, maker_.take());
    }
  }

  const std::string& name_;
  const ElementsWanted& elements_;
  ValueMaker maker_;
  size_t depth_ = 0;
  std::string key_;
  bool is_list_ = false, wanted_ = false;
};

}  // namespace

void for_each_element(std::string_view text, const std::string& name,
                      const ElementsWanted& elements) {
  ElementReader reader(name, elements);
  json::sax_parse(text, &reader);
}

}  // namespace mrclab::job
