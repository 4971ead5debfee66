#pragma once
// BPF programs at the ingress of interfaces (tc, clsact), and the maps by which the lab configures such a program
// and reads its counters. libbpf loads them; where a build has none, everything here throws SystemError with
// EOPNOTSUPP, and why_no_bpf() gives the reason before.
//
// The kernel keeps an attached program and its maps as long as the interface is there: nothing here need live
// on, and another process finds the maps by attached_map().

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "netio/system/file_descriptor.h"

struct bpf_object;

namespace mrclab::netio {

struct BpfObjectDeleter {
  void operator()(bpf_object* object) const;
};
using BpfObject = std::unique_ptr<bpf_object, BpfObjectDeleter>;

/// A map of a loaded program: entries by key, of sizes that the program has chosen. A key or a value of another
/// size is a SystemError with EINVAL, and so is every map whose entries have a value per processor. What the
/// kernel refuses is a SystemError that names the map: E2BIG where it is full. Several threads may use a map.
class BpfMap {
 public:
  /// Takes the descriptor of a map. Throws SystemError if it is none.
  explicit BpfMap(FileDescriptor fd);

  /// As the kernel has it: at most 15 characters.
  const std::string& name() const { return name_; }
  uint32_t max_entries() const { return max_entries_; }

  /// Writes the entry, new or in place of what was there.
  template <class Key, class Value>
  void set(const Key& key, const Value& value) {
    set_bytes(bytes_of_key(key), bytes_of(value));
  }
  /// The entry; empty if there is none. `Value` must be named: get<Route>(key).
  template <class Value, class Key>
  std::optional<Value> get(const Key& key) const {
    Value value{};
    const std::span<uint8_t> bytes{reinterpret_cast<uint8_t*>(&value), sizeof value};
    static_assert(std::is_trivially_copyable_v<Value>);
    return get_bytes(bytes_of_key(key), bytes) ? std::optional(value) : std::nullopt;
  }
  /// False if there was none.
  template <class Key>
  bool erase(const Key& key) {
    return erase_bytes(bytes_of_key(key));
  }
  /// All keys in no order, at most max_entries(): while others erase, one may be missing or be there twice.
  template <class Key>
  std::vector<Key> keys() const {
    static_assert(std::has_unique_object_representations_v<Key>);
    std::vector<Key> keys;
    Key key{};
    const std::span<uint8_t> bytes{reinterpret_cast<uint8_t*>(&key), sizeof key};
    for (bool first = true; keys.size() < max_entries_ && next_key(bytes, first); first = false) {
      keys.push_back(key);
    }
    return keys;
  }

 private:
  using Bytes = std::span<const uint8_t>;

  template <class T>
  static Bytes bytes_of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
  }
  /// The kernel compares all bytes of a key: none of them may be padding.
  template <class Key>
  static Bytes bytes_of_key(const Key& key) {
    static_assert(std::has_unique_object_representations_v<Key>);
    return bytes_of(key);
  }

  void set_bytes(Bytes key, Bytes value);
  bool get_bytes(Bytes key, std::span<uint8_t> value) const;
  bool erase_bytes(Bytes key);
  /// Puts the key behind `key` in its place, or the first one; false behind the last.
  bool next_key(std::span<uint8_t> key, bool first) const;
  void require_key(Bytes key) const;
  void require_value(Bytes value) const;

  FileDescriptor fd_;
  std::string name_;
  uint32_t key_size_ = 0;    ///< bytes
  uint32_t value_size_ = 0;  ///< bytes
  uint32_t max_entries_ = 0;
  bool per_processor_ = false;
};

/// A program that the kernel has taken, and its maps.
class BpfProgram {
 public:
  /// Loads an ELF object, as clang makes it, and finds `program_name` (a function) in it. Throws SystemError: with the
  /// last words of the kernel's verifier if it refuses the program (EINVAL), ENOENT if there is no such program.
  /// libbpf prints nothing.
  static BpfProgram load(std::span<const uint8_t> object, const std::string& program_name);

  /// A map by the name that it has in the source. Throws SystemError with ENOENT if there is none.
  BpfMap map(const std::string& name) const;
  /// Puts the program at the ingress of an interface of the calling thread's namespace, in place of one that was put
  /// there before. Throws SystemError.
  void attach_to_ingress(int ifindex) const;

 private:
  BpfProgram(BpfObject object, std::string name)
      : object_(std::move(object)), name_(std::move(name)) {}

  BpfObject object_;
  std::string name_;
};

/// The map of this name (its first 15 characters count, as in the kernel) of the program that
/// BpfProgram::attach_to_ingress(), here or in another process, put at an interface of the calling thread's namespace.
/// Empty if there is no such program or map. Throws SystemError.
std::optional<BpfMap> attached_map(int ifindex, const std::string& map_name);

/// Empty if this build has libbpf and `object`, and the kernel takes the object; else a sentence: what is
/// missing and what to do. Tries it: takes root, and some milliseconds.
std::optional<std::string> why_no_bpf(std::span<const uint8_t> object);

}  // namespace mrclab::netio
