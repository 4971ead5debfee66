#pragma once
// Makes text from files and packets (names, causes, comments, commands) fit to be shown to a
// person. An escape sequence in it could hide lines of a terminal or write others, and what is not
// UTF-8 cannot become part of JSON.

#include <string>
#include <string_view>

namespace mrclab {

/// The text with everything that has no shape of its own as \xNN: control characters (a line's end
/// as \n), marks that change the direction of writing, bytes that are no UTF-8.
std::string visible(std::string_view text);

/// The same, but lines stay lines.
std::string visible_lines(std::string_view text);

}  // namespace mrclab
