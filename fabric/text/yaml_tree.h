#pragma once
// What a YamlValue looks at: the tree of a document. For the reader of files (yaml.cc) and for what composes documents
// (yaml_compose.cc); everybody else includes yaml.h.

#include <memory>
#include <string>
#include <vector>

#include "fabric/text/yaml.h"

namespace mrclab {

// Has a name because YamlValue::Impl has external linkage.
namespace yaml_tree {

inline constexpr size_t kMaxDepth = 32;
inline constexpr size_t kMaxValues = 1u << 17;
inline constexpr size_t kMaxKeys = 1024;  ///< in one map

struct Position {
  int line = 1;
  int column = 1;
};

/// Where a part comes from that does not stand in the document's own file as it is.
struct Origin {
  std::string file;      ///< empty: the document's own
  std::string variable;  ///< "${size}", whose value this is; empty: of none
};
/// Shared by all parts that come from there; null for what stands in the document as it is.
using OriginPointer = std::shared_ptr<const Origin>;

struct TreeKey {
  std::string text;
  Position at;
  OriginPointer origin;
};

struct Tree {
  enum class Kind { kNothing, kScalar, kList, kMap };
  Kind kind = Kind::kNothing;
  Position at;
  std::string text = {};            // kScalar
  std::vector<TreeKey> keys = {};   // kMap, in file order
  std::vector<Tree> children = {};  // items of a list, or the values of keys
  OriginPointer origin = {};
};

[[noreturn]] inline void fail_at(const std::string& file, Position at, const std::string& found,
                                 const std::string& expected) {
  throw InputError(file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                   ": found " + found + ": expected " + expected);
}

}  // namespace yaml_tree

struct YamlValue::Impl {
  std::shared_ptr<const yaml_tree::Tree>
      tree;  // shared: points into the document, which it keeps alive
  YamlContext context;

  YamlValue child(const yaml_tree::Tree& part) const {
    return YamlValue(std::make_shared<const Impl>(
        Impl{std::shared_ptr<const yaml_tree::Tree>(tree, &part), context}));
  }
  const std::string& file_of(const yaml_tree::OriginPointer& origin) const {
    return origin && !origin->file.empty() ? origin->file : context.file;
  }
  std::string description() const {
    using Kind = yaml_tree::Tree::Kind;
    switch (tree->kind) {
      case Kind::kNothing: return "nothing";
      case Kind::kScalar: return in_quotes(tree->text);
      case Kind::kList: return "a list";
      case Kind::kMap: return "a map";
    }
    return "nothing";
  }
};

}  // namespace mrclab
