#pragma once
// Words by which people call hosts and switches: in labels, groups, icons, names of nodes and names of images.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrclab::lab {

enum class LabRole : uint8_t { kUnknown, kHost, kSwitch, kManagement };

struct RoleWord {
  std::string_view word;
  LabRole role = LabRole::kUnknown;
  std::optional<int> height;  ///< of a switch above the hosts
};

/// A text that is one of the words, in any letters: "Leaf", "super-spine". Null: it is none.
const RoleWord* role_word(std::string_view text);

/// The last of the words in a name: "p0-leaf00", "dc1-leaf1-server1" (a server), "gpuHost3", "oob-mgmt-switch".
const RoleWord* role_word_in(std::string_view name);

/// What an image runs, by the name behind its registry: a routing program or a network operating system, a traffic
/// generator or a tool of hosts. Null: an image that may run anything (alpine).
const RoleWord* role_of_image(std::string_view image);

/// Is this kind of containerlab's neither a network operating system nor a bridge: plain Linux, a generator of traffic?
bool is_machine_kind(std::string_view kind);

}  // namespace mrclab::lab
