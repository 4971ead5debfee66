#pragma once
// Counts with what they count, as people read them: "1 fault", "2 faults", the caller writes "no fault".

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace mrclab {

/// A thing that is counted, in both numbers.
struct Noun {
  /// A regular one, also with what follows an "of", "in" or "with": "packet", "pair of hosts", "queue pair in error".
  Noun(std::string singular) : one(std::move(singular)), many(plural_of(one)) {}
  Noun(const char* singular) : Noun(std::string(singular)) {}
  /// Any other: {"fault that heals", "faults that heal"}.
  Noun(std::string singular, std::string plural)
      : one(std::move(singular)), many(std::move(plural)) {}

  const std::string& of(uint64_t count) const { return count == 1 ? one : many; }
  bool operator==(const Noun&) const = default;

  std::string one, many;

 private:
  static std::string plural_of(const std::string& one) {
    size_t end = one.size();
    for (const char* word : {" of ", " in ", " with "}) end = std::min(end, one.find(word));
    std::string head = one.substr(0, end);
    const auto ends_in = [&](const char* ending) { return head.ends_with(ending); };
    if (ends_in("s") || ends_in("x") || ends_in("ch") || ends_in("sh")) {
      head += "es";
    } else if (ends_in("y") && !ends_in("ay") && !ends_in("ey") && !ends_in("oy")) {
      head.replace(head.size() - 1, 1, "ies");
    } else {
      head += "s";
    }
    return head + one.substr(end);
  }
};

/// "1 check", "2 checks", "0 checks"
inline std::string counted_noun(uint64_t count, const Noun& noun) {
  return std::to_string(count) + " " + noun.of(count);
}

}  // namespace mrclab
