#pragma once
// The sentences by which switches and hosts report that a link went down or up: one row for each, with the system that
// writes it and the document or the source that has it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mrclab::lab {

enum class LinkEventKind : uint8_t { kUp, kDown, kErrors };

/// In small letters: '$' is the interface, '#' a number, '~' anything. Either side of the interface may be empty.
struct LinkSentence {
  std::string_view text;
  LinkEventKind kind;
  std::string_view system;
  std::string_view source;
};
std::span<const LinkSentence> link_sentences();

/// The state that the text of a message reports for an interface.
struct LinkMessage {
  LinkEventKind kind = LinkEventKind::kDown;
  std::string interface;                   ///< as written, but "Ethernet 1/1" without its blank
  const LinkSentence* sentence = nullptr;  ///< the row
};
/// Empty if it is about something else.
std::optional<LinkMessage> read_link_message(std::string_view message);

/// Does a message that has none of the sentences look as if it were about a link that went down or up?
bool looks_like_link_message(std::string_view message);

}  // namespace mrclab::lab
