#include "fabric/text/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "fabric/text/foreign_yaml.h"
#include "fabric/text/input_file.h"
#include "fabric/text/mistakes.h"
#include "fabric/text/plain_text.h"
#include "fabric/text/variable_name.h"
#include "fabric/text/yaml_tree.inc"

namespace mrclab {

namespace {

using yaml_tree::fail_at;
using yaml_tree::kMaxDepth;
using yaml_tree::kMaxKeys;
using yaml_tree::kMaxValues;
using yaml_tree::Position;
using yaml_tree::Tree;
using yaml_tree::TreeKey;

constexpr size_t kMaxFileBytes = 1u << 20;

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

/// Characters that no file has (they are refused) in place of the braces of "${name}", which would end a flow map.
constexpr char kOpenBrace = '\x02', kCloseBrace = '\x03';

/// The text with these, each line and column as it was.
std::string without_braces(std::string_view text) {
  std::string made(text);
  for (size_t at = made.find("${"); at != std::string::npos; at = made.find("${", at + 1)) {
    const size_t close = made.find_first_of("}\n", at);
    if (close == std::string::npos || made[close] != '}') continue;
    if (!is_variable_name(std::string_view(made).substr(at + 2, close - at - 2))) continue;
    made[at + 1] = kOpenBrace;
    made[close] = kCloseBrace;
  }
  return made;
}

std::string with_braces(std::string text) {
  std::replace(text.begin(), text.end(), kOpenBrace, '{');
  std::replace(text.begin(), text.end(), kCloseBrace, '}');
  return text;
}

/// Builds the tree from the parser's events. yaml-cpp's own node type would follow aliases, keep
/// duplicate keys and lose the position of keys; here each of them is an error where it stands.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& file, bool anchors = false)
      : file_(file), anchors_(anchors) {}

  Tree take() { return std::move(root_); }
  /// Throws InputError for what is no part of our YAML, all of it.
  void report() const { mistakes_.report(); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(leaf(Tree::Kind::kNothing, mark, ""), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = named_.find(anchor);
    if (anchors_ && found != named_.end()) {
      nodes_ += size_of(found->second);
      return add(Tree(found->second));
    }
    note(position_of(mark), "an alias",
         "the value itself: aliases are not supported, vars are (vars: {size: 1MiB}, ${size})");
    add(leaf(Tree::Kind::kNothing, mark, ""));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& written) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    const std::string value = with_braces(written);
    // Escapes ("\x1b") write characters that the file does not have.
    if (const auto odd = find_odd_text(value)) {
      note(position_of(mark), odd->found, "text without it");
    }
    add(leaf(Tree::Kind::kScalar, mark, value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Tree::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Tree::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Tree tree;
    std::set<std::string> seen;
    YAML::anchor_t anchor = YAML::NullAnchor;
  };

  static Tree leaf(Tree::Kind kind, const YAML::Mark& mark, std::string text) {
    Tree tree;
    tree.kind = kind;
    tree.at = position_of(mark);
    tree.text = std::move(text);
    return tree;
  }

  /// Keeps a mistake behind which the text can be read on.
  void note(Position at, const std::string& found, const std::string& expected) {
    mistakes_.go_on([&] { fail_at(file_, at, found, expected); });
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor || anchors_) return;
    note(position_of(mark), "an anchor", "a plain value: anchors are not supported");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;  // plain and quoted
    note(position_of(mark), "the tag " + in_quotes(tag), "a plain value: tags are not supported");
  }

  void open(Tree::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    refuse_structured_key(position_of(mark));
    if (stack_.size() >= kMaxDepth) {
      fail_at(file_, position_of(mark), "deeper nesting",
              "at most " + std::to_string(kMaxDepth) + " levels");
    }
    stack_.push_back({leaf(kind, mark, ""), {}, anchor});
  }

  void close() {
    Tree done = std::move(stack_.back().tree);
    const YAML::anchor_t anchor = stack_.back().anchor;
    stack_.pop_back();
    if (anchors_) merge(done);
    add(std::move(done), anchor);
  }

  static size_t size_of(const Tree& tree) {
    size_t size = 1;
    for (const Tree& child : tree.children) size += size_of(child);
    return size;
  }

  /// "<<: *base" and "<<: [*a, *b]": the keys that a map lacks are those of others, the first that has one.
  static void merge(Tree& map) {
    const auto found = std::find_if(map.keys.begin(), map.keys.end(),
                                    [](const TreeKey& key) { return key.text == "<<"; });
    if (map.kind != Tree::Kind::kMap || found == map.keys.end()) return;
    const auto at = found - map.keys.begin();
    const Tree base = std::move(map.children[static_cast<size_t>(at)]);
    map.keys.erase(found);
    map.children.erase(map.children.begin() + at);
    const auto take = [&map](const Tree& from) {
      for (size_t i = 0; from.kind == Tree::Kind::kMap && i < from.keys.size(); ++i) {
        const bool has = std::any_of(map.keys.begin(), map.keys.end(), [&](const TreeKey& key) {
          return key.text == from.keys[i].text;
        });
        if (has) continue;
        map.keys.push_back(from.keys[i]);
        map.children.push_back(from.children[i]);
      }
    };
    take(base);
    if (base.kind == Tree::Kind::kList)
      std::for_each(base.children.begin(), base.children.end(), take);
  }

  bool wants_key() const {
    if (stack_.empty()) return false;
    const Tree& top = stack_.back().tree;
    return top.kind == Tree::Kind::kMap && top.keys.size() == top.children.size();
  }

  void refuse_structured_key(Position at) const {
    if (wants_key()) fail_at(file_, at, "a list or a map as a key", "a name");
  }

  void add(Tree tree, YAML::anchor_t anchor = YAML::NullAnchor) {
    if (anchor != YAML::NullAnchor) {
      named_.insert_or_assign(anchor, tree);
      nodes_ += size_of(tree);
    }
    if (++nodes_ > kMaxValues) {
      fail_at(file_, tree.at, "more values", "at most " + std::to_string(kMaxValues));
    }
    if (stack_.empty()) {
      root_ = std::move(tree);
    } else if (wants_key()) {
      add_key(tree);
    } else {
      stack_.back().tree.children.push_back(std::move(tree));
    }
  }

  void add_key(const Tree& tree) {
    Open& top = stack_.back();
    if (tree.kind != Tree::Kind::kScalar) fail_at(file_, tree.at, "an empty key", "a name");
    if (!top.seen.insert(tree.text).second) {
      note(tree.at, "a second " + in_quotes(tree.text), "each key once");
    }
    if (top.seen.size() > kMaxKeys) {
      fail_at(file_, tree.at, "more keys", "at most " + std::to_string(kMaxKeys) + " in one map");
    }
    top.tree.keys.push_back({tree.text, tree.at, nullptr});
  }

  const std::string& file_;
  bool anchors_;
  Mistakes mistakes_;
  std::map<YAML::anchor_t, Tree> named_;
  std::vector<Open> stack_;
  Tree root_;
  size_t nodes_ = 0;
};

/// Refuses text that is not plain, at which yaml-cpp might silently end the document. Carriage
/// returns are accepted, because they end lines in files of other systems.
void refuse_odd_text(std::string_view text, const std::string& file) {
  std::string lines(text);
  std::replace(lines.begin(), lines.end(), '\r', ' ');
  const std::optional<OddText> odd = find_odd_text(lines);
  if (!odd) return;
  const std::string_view before = text.substr(0, odd->at);
  const size_t line_start = before.rfind('\n') + 1;  // 0 on the first line
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  fail_at(file, {static_cast<int>(line), static_cast<int>(odd->at - line_start) + 1}, odd->found,
          "text");
}

}  // namespace

bool YamlValue::is_map() const { return impl_->tree->kind == Tree::Kind::kMap; }
bool YamlValue::is_list() const { return impl_->tree->kind == Tree::Kind::kList; }
bool YamlValue::is_scalar() const { return impl_->tree->kind == Tree::Kind::kScalar; }

const std::string& YamlValue::file() const { return impl_->file_of(impl_->tree->origin); }

void YamlValue::fail(const std::string& found, const std::string& expected) const {
  const auto& origin = impl_->tree->origin;
  const std::string from = origin && !origin->variable.empty() ? ", by " + origin->variable : "";
  fail_at(file(), impl_->tree->at, found + from, expected);
}

void YamlValue::fail_expecting(const std::string& expected) const {
  fail(impl_->description(), expected);
}

std::string YamlValue::as_string() const {
  if (!is_scalar()) fail_expecting("text");
  return impl_->tree->text;
}

FabricTime YamlValue::rtt() const { return impl_->context.rtt; }

std::vector<YamlValue> YamlValue::items() const {
  if (!is_list()) fail_expecting("a list");
  std::vector<YamlValue> result;
  result.reserve(impl_->tree->children.size());
  for (const Tree& part : impl_->tree->children) result.push_back(impl_->child(part));
  return result;
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::members() const {
  if (!is_map()) fail_expecting("a map (key: value)");
  std::vector<std::pair<std::string, YamlValue>> result;
  result.reserve(impl_->tree->keys.size());
  for (size_t i = 0; i < impl_->tree->keys.size(); ++i) {
    result.emplace_back(impl_->tree->keys[i].text, impl_->child(impl_->tree->children[i]));
  }
  return result;
}

std::optional<YamlValue> YamlValue::get(std::string_view key) const {
  if (!is_map()) fail_expecting("a map (key: value)");
  for (size_t i = 0; i < impl_->tree->keys.size(); ++i) {
    if (impl_->tree->keys[i].text == key) return impl_->child(impl_->tree->children[i]);
  }
  return std::nullopt;
}

YamlValue YamlValue::require(std::string_view key) const {
  if (auto value = get(key)) return *value;
  fail("no " + in_quotes(key), in_quotes(std::string(key) + ": ..."));
}

void YamlValue::only_keys(std::span<const std::string_view> known) const {
  if (!is_map()) fail_expecting("a map (key: value)");
  Mistakes mistakes;
  for (const TreeKey& key : impl_->tree->keys) {
    if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
    mistakes.go_on([&] {
      fail_at(impl_->file_of(key.origin), key.at, "the key " + in_quotes(key.text),
              one_of(key.text, {known.begin(), known.end()}));
    });
  }
  mistakes.report();
}

void YamlValue::fail_at_key(std::string_view key, const std::string& found,
                            const std::string& expected) const {
  for (const TreeKey& candidate : impl_->tree->keys) {
    if (candidate.text != key) continue;
    fail_at(impl_->file_of(candidate.origin), candidate.at, found, expected);
  }
  fail(found, expected);
}

YamlValue YamlValue::with_rtt(FabricTime rtt) const {
  Impl copy = *impl_;
  copy.context.rtt = rtt;
  return YamlValue(std::make_shared<const Impl>(std::move(copy)));
}

namespace {

YamlValue read_text(std::string_view text, const std::string& file_name, bool anchors) {
  if (text.size() > kMaxFileBytes) {
    fail_at(file_name, {}, "more than 1 MiB", "a file of at most 1 MiB");
  }
  refuse_odd_text(text, file_name);
  std::istringstream stream{without_braces(text)};
  TreeBuilder builder(file_name, anchors);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      fail_at(file_name, {}, "an empty file", "a map (key: value)");
    }
    TreeBuilder rest(file_name);
    if (parser.HandleNextDocument(rest)) {
      fail_at(file_name, rest.take().at, "a second document", "one document in a file");
    }
    builder.report();
  } catch (const YAML::Exception& error) {
    fail_at(file_name, position_of(error.mark), "text that is not YAML",
            "YAML (" + error.msg + ")");
  }
  auto tree = std::make_shared<const Tree>(builder.take());
  return YamlValue(std::make_shared<const YamlValue::Impl>(
      YamlValue::Impl{std::move(tree), YamlContext{file_name, FabricTime::zero()}}));
}

}  // namespace

YamlValue read_yaml_text(std::string_view text, const std::string& file_name) {
  return read_text(text, file_name, false);
}

YamlValue read_foreign_yaml_text(std::string_view text, const std::string& file_name) {
  return read_text(text, file_name, true);
}

std::string read_yaml_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string() + ": found a directory: expected a YAML file");
  }
  require_input_file(path);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw InputError(path.string() + ": found no readable file (" + std::strerror(errno) +
                     "): expected a YAML file");
  }
  return read_at_most(stream, kMaxFileBytes + 1);
}

YamlValue read_yaml_file(const std::filesystem::path& path) {
  return read_yaml_text(read_yaml_bytes(path), path.string());
}

}  // namespace mrclab
