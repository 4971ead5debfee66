#pragma once
// JSON files that chaos and its campaigns write and read again. They may come from anywhere.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "fabric/text/json_text.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {

/// Calls read(json). Throws InputError with the file's name for one that cannot be read, is longer than `most` bytes,
/// or is not what `writer` ("chaos --json") writes, which `read` reports by an exception of nlohmann's or an InputError.
template <class Read>
void read_json_file(const std::filesystem::path& file, size_t most, const char* writer,
                    const Read& read) {
  try {
    read(require_json<nlohmann::json>(netio::read_file(file, most)));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string() + ": " + json_problem(error) + ": expected what " + writer +
                     " writes");
  } catch (const InputError& error) {
    throw InputError(file.string() + ": " + error.what());
  } catch (const netio::SystemError& error) {
    throw InputError(error.what());
  }
}

}  // namespace mrclab::lab
