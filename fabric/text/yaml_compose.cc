#include "fabric/text/yaml_compose.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "fabric/text/mistakes.h"
#include "fabric/text/variable_name.h"
#include "fabric/text/yaml_tree.inc"

namespace mrclab {
namespace {

using yaml_tree::fail_at;
using yaml_tree::Origin;
using yaml_tree::OriginPointer;
using yaml_tree::Tree;
using yaml_tree::TreeKey;

/// What variables may make of a document in all: as much as a file may have.
constexpr size_t kMaxMadeBytes = 1u << 20;

YamlValue document_of(Tree tree, const YamlContext& context) {
  return YamlValue(std::make_shared<const YamlValue::Impl>(
      YamlValue::Impl{std::make_shared<const Tree>(std::move(tree)), context}));
}

/// How many values are left for what is made.
class Room {
 public:
  explicit Room(const YamlValue& at) : at_(at) {}
  void take(size_t bytes = 0) {
    bytes_ += bytes;
    if (++values_ > yaml_tree::kMaxValues || bytes_ > kMaxMadeBytes) {
      at_.fail("more than a file may have, once variables and included files are in their place",
               "at most " + std::to_string(yaml_tree::kMaxValues) + " values and 1 MiB");
    }
  }

 private:
  const YamlValue& at_;
  size_t values_ = 0, bytes_ = 0;
};

/// Notes in every part that it stands in `file`.
void mark_file(Tree& tree, const std::string& file, std::map<std::string, OriginPointer>& known) {
  const auto marked = [&](OriginPointer& origin) {
    if (origin && !origin->file.empty()) return;
    const std::string variable = origin ? origin->variable : "";
    OriginPointer& shared = known[variable];
    if (!shared) shared = std::make_shared<const Origin>(Origin{file, variable});
    origin = shared;
  };
  marked(tree.origin);
  for (TreeKey& key : tree.keys) marked(key.origin);
  for (Tree& child : tree.children) mark_file(child, file, known);
}

void lay_over(Tree& under, const Tree& over) {
  if (under.kind == Tree::Kind::kList && over.kind == Tree::Kind::kList) {
    under.children.insert(under.children.end(), over.children.begin(), over.children.end());
    under.at = over.at;
    under.origin = over.origin;
    return;
  }
  if (under.kind != Tree::Kind::kMap || over.kind != Tree::Kind::kMap) {
    under = over;
    return;
  }
  for (size_t i = 0; i < over.keys.size(); ++i) {
    const auto same = std::find_if(under.keys.begin(), under.keys.end(), [&](const TreeKey& key) {
      return key.text == over.keys[i].text;
    });
    if (same == under.keys.end()) {
      under.keys.push_back(over.keys[i]);
      under.children.push_back(over.children[i]);
    } else {
      const auto place = static_cast<size_t>(same - under.keys.begin());
      *same = over.keys[i];
      lay_over(under.children[place], over.children[i]);
    }
  }
  under.at = over.at;
  under.origin = over.origin;
}

void count_values(const Tree& tree, Room& room) {
  room.take();
  for (const Tree& child : tree.children) count_values(child, room);
}

/// The place of a list that a part of a path means.
bool is_place(const std::string& part, const Tree& list, size_t& place) {
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), place);
  return error == std::errc{} && end == part.data() + part.size() && place < list.children.size();
}

void set_at(Tree& tree, const std::vector<std::string>& path, size_t depth, const Tree& value) {
  if (depth == path.size()) {
    tree = value;
    return;
  }
  const std::string& part = path[depth];
  const auto refuse = [&](const std::string& expected) {
    std::string before;
    for (size_t i = 0; i < depth; ++i) before += (i ? "." : "") + path[i];
    throw InputError("--set: found " + in_quotes(part) +
                     (before.empty() ? "" : " behind " + in_quotes(before)) + ": expected " +
                     expected);
  };
  if (part == "*") {
    if (tree.children.empty()) refuse("a list or a map there");
    for (Tree& child : tree.children) set_at(child, path, depth + 1, value);
    return;
  }
  if (tree.kind == Tree::Kind::kList) {
    size_t place = 0;
    if (tree.children.empty()) refuse("a list that has something");
    if (!is_place(part, tree, place)) {
      refuse("a place from 0 to " + std::to_string(tree.children.size() - 1) + ", or *");
    }
    return set_at(tree.children[place], path, depth + 1, value);
  }
  if (tree.kind == Tree::Kind::kScalar && depth > 0) {
    refuse("the end of the path: what stands there is " + in_quotes(tree.text));
  }
  tree.kind = Tree::Kind::kMap;  // also where nothing stands behind a key
  for (size_t i = 0; i < tree.keys.size(); ++i) {
    if (tree.keys[i].text == part) return set_at(tree.children[i], path, depth + 1, value);
  }
  if (tree.keys.size() >= yaml_tree::kMaxKeys) refuse("fewer keys");
  tree.keys.push_back({part, value.at, value.origin});
  tree.children.emplace_back();
  tree.children.back().at = value.at;
  set_at(tree.children.back(), path, depth + 1, value);
}

/// Puts values in place of names, part by part.
class Substitution {
 public:
  Substitution(const YamlValue& document, const YamlValue& vars)
      : room_(document), file_(document.impl().context.file) {
    const Tree& map = *vars.impl().tree;
    for (size_t i = 0; i < map.keys.size(); ++i) {
      const TreeKey& key = map.keys[i];
      mistakes_.go_on([&] {
        if (!is_variable_name(key.text)) {
          fail_at(file_of(key.origin), key.at, "the variable " + in_quotes(key.text),
                  "a name of letters, digits, dash and underscore");
        }
      });
      Tree value = map.children[i];
      replace(value, 1);  // by those above it
      values_.emplace(key.text, Variable{std::move(value), key, false});
    }
  }

  void replace(Tree& tree, size_t depth) {
    if (depth > yaml_tree::kMaxDepth) {
      fail_at(file_of(tree.origin), tree.at, "deeper nesting by variables",
              "at most " + std::to_string(yaml_tree::kMaxDepth) + " levels");
    }
    room_.take(tree.text.size());
    mistakes_.go_on([&] { replace_text(tree); });
    if (copied_) {  // a variable's own names are replaced already
      copied_ = false;
      return;
    }
    std::set<std::string> seen;
    for (TreeKey& key : tree.keys) {
      mistakes_.go_on([&] {
        const bool changed = replace_in(key.text, file_of(key.origin), key.at);
        if (!seen.insert(key.text).second && changed) {
          fail_at(file_of(key.origin), key.at, "a second " + in_quotes(key.text), "each key once");
        }
      });
    }
    for (Tree& child : tree.children) replace(child, depth + 1);
  }

  void finish() {
    for (const auto& named : values_) {
      const Variable& variable = named.second;
      const TreeKey& key = variable.key;
      if (variable.used || (key.origin && !key.origin->file.empty())) continue;
      mistakes_.go_on([&] {
        fail_at(file_of(key.origin), key.at,
                "the variable " + in_quotes(named.first) + ", which nothing uses",
                "\"${" + named.first + "}\" somewhere, or no such variable");
      });
    }
    mistakes_.report();
  }

 private:
  struct Variable {
    Tree value;
    TreeKey key;
    bool used;
  };

  const std::string& file_of(const OriginPointer& origin) const {
    return origin && !origin->file.empty() ? origin->file : file_;
  }

  Variable& find(const std::string& name, const std::string& file, yaml_tree::Position at) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : values_) names.push_back(known);
      const std::string near = nearest_name(name, names);
      fail_at(file, at, in_quotes("${" + name + "}") + ", which no variable above is called",
              near.empty() ? "a variable of \"vars:\", or \"$${\" for the text \"${\""
                           : in_quotes("${" + near + "}"));
    }
    found->second.used = true;
    return found->second;
  }

  /// The name that "${" at `open` begins, and where it ends.
  static std::string name_at(const std::string& text, size_t open, const std::string& file,
                             yaml_tree::Position at) {
    const size_t close = text.find('}', open);
    std::string name = close == std::string::npos ? "" : text.substr(open + 2, close - open - 2);
    if (!is_variable_name(name)) {
      fail_at(file, at, in_quotes(text.substr(open, 20)),
              "\"${name}\", or \"$${\" for the text \"${\"");
    }
    return name;
  }

  /// In text, of which variables are a part. True if it has any.
  bool replace_in(std::string& text, const std::string& file, yaml_tree::Position at) {
    std::string made;
    bool changed = false;
    for (size_t i = 0; i < text.size();) {
      if (text.compare(i, 3, "$${") == 0) {
        made += "${";
        i += 3;
      } else if (text.compare(i, 2, "${") == 0) {
        const std::string name = name_at(text, i, file, at);
        const Tree& value = find(name, file, at).value;
        if (value.kind != Tree::Kind::kScalar) {
          fail_at(file, at, "\"${" + name + "}\", which is no text, inside of text",
                  "it alone, or a variable that is text");
        }
        made += value.text;
        room_.take(value.text.size());
        i += name.size() + 3;
        changed = true;
      } else {
        made += text[i++];
      }
    }
    text = std::move(made);
    return changed;
  }

  void replace_text(Tree& tree) {
    if (tree.kind != Tree::Kind::kScalar || tree.text.find("${") == std::string::npos) return;
    const std::string written = tree.text, file = file_of(tree.origin);
    const yaml_tree::Position at = tree.at;
    OriginPointer origin =
        std::make_shared<const Origin>(Origin{tree.origin ? tree.origin->file : "", written});
    if (written.starts_with("${") && written.find('}') == written.size() - 1) {
      tree = find(name_at(written, 0, file, at), file, at).value;
      count_values(tree, room_);
      copied_ = true;
    } else if (!replace_in(tree.text, file, at)) {
      return;  // "$${" alone
    }
    if (tree.kind != Tree::Kind::kScalar) return;  // its parts stand where the variable does
    tree.at = at;
    tree.origin = std::move(origin);
  }

  Room room_;
  std::string file_;
  Mistakes mistakes_;
  std::map<std::string, Variable> values_;
  bool copied_ = false;
};

}  // namespace

YamlValue laid_over(const YamlValue& under, const YamlValue& over) {
  Tree tree = *under.impl().tree;
  std::map<std::string, OriginPointer> known;
  mark_file(tree, under.impl().context.file, known);
  lay_over(tree, *over.impl().tree);
  Room room(over);
  count_values(tree, room);
  return document_of(std::move(tree), over.impl().context);
}

YamlValue without_key(const YamlValue& document, std::string_view key) {
  Tree tree = *document.impl().tree;
  for (size_t i = tree.keys.size(); i-- > 0;) {
    if (tree.keys[i].text != key) continue;
    tree.keys.erase(tree.keys.begin() + static_cast<ptrdiff_t>(i));
    tree.children.erase(tree.children.begin() + static_cast<ptrdiff_t>(i));
  }
  return document_of(std::move(tree), document.impl().context);
}

std::vector<std::string> path_parts(const std::string& path) {
  std::vector<std::string> parts(1);
  const auto refuse = [&] {
    throw InputError("--set: found " + in_quotes(path) +
                     ": expected a key such as seed, transport.profile or workload[0].write.size");
  };
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.' || path[i] == '[') {
      if (parts.back().empty()) refuse();
      parts.emplace_back();
    } else if (path[i] == ']') {
      if (i + 1 < path.size() && path[i + 1] != '.' && path[i + 1] != '[') refuse();
      if (i + 1 < path.size() && path[i + 1] == '.') ++i, parts.emplace_back();
    } else {
      parts.back() += path[i];
    }
  }
  const bool empty =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  if (empty || parts.size() > yaml_tree::kMaxDepth) refuse();
  return parts;
}

YamlValue with_value(const YamlValue& document, const std::vector<std::string>& path,
                     const YamlValue& value) {
  Tree set = *value.impl().tree;
  std::map<std::string, OriginPointer> known;
  mark_file(set, value.impl().context.file, known);
  Tree tree = *document.impl().tree;
  set_at(tree, path, 0, set);
  return document_of(std::move(tree), document.impl().context);
}

YamlValue with_variables(const YamlValue& document, const YamlValue& vars) {
  if (!vars.is_map()) vars.fail_expecting("a map of variables: {size: 1MiB, hosts: \"h[0-3]\"}");
  Substitution substitution(document, vars);
  Tree tree = *document.impl().tree;
  substitution.replace(tree, 1);
  substitution.finish();
  return document_of(std::move(tree), document.impl().context);
}

void refuse_variables(const YamlValue& value) {
  Mistakes mistakes;
  const auto look = [&](const auto& again, const YamlValue& at) -> void {
    if (at.is_scalar()) {
      const std::string text = at.as_string();
      if (!text.starts_with("${") || text.find('}') != text.size() - 1) return;
      mistakes.go_on([&] {
        at.fail(in_quotes(text) + ", without variables",
                "\"vars: {" + text.substr(2, text.size() - 3) + ": ...}\" in the file");
      });
    }
    if (at.is_list()) {
      for (const YamlValue& item : at.items()) again(again, item);
    }
    if (!at.is_map()) return;
    for (const auto& [key, member] : at.members()) {
      if (key != "exec" && key != "program" && key != "about") again(again, member);
    }
  };
  look(look, value);
  mistakes.report();
}

}  // namespace mrclab
