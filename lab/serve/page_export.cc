#include "lab/serve/page_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libdeflate.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "session/session_start.h"

namespace mrclab::lab {
namespace {

constexpr size_t kSimulatorMax = size_t{64} << 20;  // bytes of a file of it

std::string_view file_at(std::span<const PageFile> files, std::string_view path) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const PageFile& file) { return file.path == path; });
  if (found == files.end()) {
    throw std::invalid_argument(fmt::format("the page has no file {}", path));
  }
  return found->bytes;
}

// --- modules -------------------------------------------------------------------------------------

/// import {a, b} from "./x.js";
struct ModuleImport {
  std::string_view names, path;  // "a, b", "/x.js"
};

ModuleImport parse_import(std::string_view line) {
  constexpr std::string_view kBegin = "import {", kFrom = "} from \".", kEnd = "\";";
  const size_t from = line.find(kFrom);
  if (!line.starts_with(kBegin) || from == std::string_view::npos || !line.ends_with(kEnd)) {
    throw std::invalid_argument(fmt::format("found the import {}", line));
  }
  const size_t path = from + kFrom.size();
  return {line.substr(kBegin.size(), from - kBegin.size()),
          line.substr(path, line.size() - path - kEnd.size())};
}

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";

/// The name that a declaration brings: "const a = 1;", "class C {", "async function f(x) {".
std::string_view declared_name(std::string_view line) {
  std::string_view rest = line;
  for (const std::string_view word : {"async ", "function ", "class ", "const "}) {
    if (rest.starts_with(word)) rest.remove_prefix(word.size());
  }
  const size_t end = rest.find_first_not_of(kNameCharacters);
  if (rest.size() == line.size() || end == 0 || end == std::string_view::npos) {
    throw std::invalid_argument(fmt::format("found the export {}", line));
  }
  return rest.substr(0, end);
}

/// "a, b"
std::vector<std::string_view> split_names(std::string_view text) {
  constexpr std::string_view kComma = ", ";
  std::vector<std::string_view> names;
  while (true) {
    const size_t end = text.find(kComma);
    names.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return names;
    text.remove_prefix(end + kComma.size());
  }
}

class ModuleBundle {
 public:
  explicit ModuleBundle(std::span<const PageFile> files) : files_(files) {}

  /// Adds the module at `path`, after those that it imports from, unless it is there. Returns the names that it
  /// exports. Throws std::invalid_argument.
  const std::set<std::string_view>& add(std::string_view path) {
    if (const auto found = done_.find(path); found != done_.end()) return found->second;
    if (!open_.insert(path).second) {
      throw std::invalid_argument(fmt::format("{} imports from itself", path));
    }
    std::string body;
    std::set<std::string_view> exported;
    std::string_view rest = file_at(files_, path);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      add_line(rest.substr(0, end), body, exported);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text_ += fmt::format("modules[\"{}\"] = (() => {{\n{}return {{{}}};\n}})();\n", path, body,
                         fmt::join(exported, ", "));
    return done_[path] = std::move(exported);
  }
  std::string text() && { return std::move(text_); }

 private:
  void add_line(std::string_view line, std::string& body, std::set<std::string_view>& exported) {
    constexpr std::string_view kExport = "export ";
    if (line.starts_with("import ")) {
      const ModuleImport from = parse_import(line);
      const std::set<std::string_view>& there = add(from.path);
      for (const std::string_view name : split_names(from.names)) {
        if (there.contains(name)) continue;
        throw std::invalid_argument(fmt::format("{} does not export {}", from.path, name));
      }
      body += fmt::format("const {{{}}} = modules[\"{}\"];\n", from.names, from.path);
      return;
    }
    if (line.starts_with(kExport)) {
      line.remove_prefix(kExport.size());
      exported.insert(declared_name(line));
    }
    body += std::string(line) + '\n';
  }

  std::span<const PageFile> files_;
  std::string text_ = "\"use strict\";\nconst modules = {};\n";
  std::set<std::string_view> open_;                              // begun, also those that are done
  std::map<std::string_view, std::set<std::string_view>> done_;  // what they export
};

// --- text in text --------------------------------------------------------------------------------

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with a zero behind it
  text.resize(static_cast<size_t>(::EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(text.data()),
      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
  return text;
}

std::string gzip(std::string_view bytes) {
  constexpr int kLevel = 9;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      ::libdeflate_alloc_compressor(kLevel), ::libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string packed(::libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(::libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(),
                                           packed.data(), packed.size()));
  return packed;
}

/// 'sha256-...', as a Content-Security-Policy names a script or style that stands in a page.
std::string policy_hash(std::string_view text) {
  std::array<char, 32> hash{};
  if (::EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(hash.data()), nullptr,
                   ::EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 of the page: libcrypto refused");
  }
  return fmt::format("'sha256-{}'", base64({hash.data(), hash.size()}));
}

/// What is between `<script>` and `</script>` ends at the first "</script", and of it "<!--" is no text either.
void require_embeddable(std::string_view script) {
  for (const std::string_view word : {"</script", "</style", "<!--"}) {
    if (script.find(word) == std::string_view::npos) continue;
    throw std::invalid_argument(fmt::format("found {} in a script of the page", word));
  }
}

void replace_once(std::string& text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  if (at == std::string::npos) {
    throw std::invalid_argument(fmt::format("the page has no {}", what));
  }
  text.replace(at, what.size(), with);
}

/// Data that a script finds by its id. Base64 has no character that means something in HTML.
std::string data_block(std::string_view id, std::string_view bytes) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id,
                     base64(gzip(bytes)));
}

}  // namespace

std::string bundled_modules(std::span<const PageFile> files, std::string_view first) {
  ModuleBundle bundle(files);
  bundle.add(first);
  return std::move(bundle).text();
}

PageSimulator read_page_simulator() {
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "wasm";
  if (!std::filesystem::exists(folder / "simulator.js")) {  // which is made last
    throw InputError("found no simulator for browsers in " + folder.string() +
                     ": expected the one that `./mrclab export page` builds, with sudo where its "
                     "packages are not installed");
  }
  return {netio::read_file(folder / "simulator.js", kSimulatorMax),
          netio::read_file(folder / "simulator.wasm", kSimulatorMax),
          netio::read_file(folder / "licences", kSimulatorMax)};
}

std::string exported_page(const PlayedSession& played, const PageSimulator& simulator) {
  const std::span<const PageFile> files = page_files();
  const std::string script = "\n" + bundled_modules(files, "/main.js");
  const std::string style = "\n" + std::string(file_at(files, "/style.css"));
  require_embeddable(script);
  require_embeddable(style);
  // The worker is made of a block of data, which is no script of the page: hence worker-src. Compiling the
  // simulator is no evaluation of JavaScript, and has a word of its own.
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {} 'wasm-unsafe-eval'; style-src {}; worker-src blob:; "
      "img-src data: blob:; base-uri 'none'; form-action 'none'",
      policy_hash(script), policy_hash(style));
  std::string html(file_at(files, "/index.html"));
  replace_once(html, "<meta charset=\"utf-8\">\n",
               fmt::format("<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
                           "content=\"{}\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
                           policy));
  replace_once(html, "<link rel=\"stylesheet\" href=\"style.css\">\n",
               "<style>" + style + "</style>\n");
  replace_once(html, "<script type=\"module\" src=\"main.js\"></script>\n", "");
  const std::string worker = simulator.glue + "\n" + std::string(file_at(files, "/simulator.js"));
  const std::string data = data_block("simulator", simulator.wasm) + data_block("worker", worker) +
                           data_block("licences", simulator.licences) +
                           data_block("start", start_of(played));
  replace_once(html, "</body>\n", data + "<script>" + script + "</script>\n</body>\n");
  return html;
}

}  // namespace mrclab::lab
