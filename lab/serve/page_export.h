#pragma once
// The live page as one file that needs no server: page, simulator and scenario in one HTML text, which opens
// without a network (page/inside.js is the page's side of it).

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "session/page_files.h"
#include "session/session_commands.h"

namespace mrclab::lab {

/// What page/wasm/ is built into.
struct PageSimulator {
  std::string glue;      ///< JavaScript that starts it
  std::string wasm;      ///< the WebAssembly module
  std::string licences;  ///< of what is compiled into it
};

/// Reads build/wasm/ beside this program. Throws InputError with the command that builds it, where
/// they are not there.
PageSimulator read_page_simulator();

/// One script of these ES modules, each in a scope of its own, those first that others import from.
/// It understands the parts of the module syntax that page/ uses: imports of names on one line, exports of declarations.
/// Throws std::invalid_argument for anything else, for a module that is missing, and for a circle.
std::string bundled_modules(std::span<const PageFile> files, std::string_view first);

/// The page, as HTML. Its policy lets run what stands in it, by hash, and load nothing.
std::string exported_page(const PlayedSession& played, const PageSimulator& simulator);

}  // namespace mrclab::lab
