// draw: a fabric as a drawing.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/fabric_drawing.h"
#include "fabric/topology/fabric_file.h"
#include "lab/verbs/cli.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

struct DrawOptions {
  std::string fabric, out;
  bool svg = false;
};

void draw_fabric(const DrawOptions& options) {
  const Topology topology = read_fabric_file(find_fabric(options.fabric));
  const std::string drawing = options.svg ? drawn_as_svg(topology) : drawn_as_text(topology);
  if (options.out.empty()) {
    fmt::print("{}", drawing);
    return;
  }
  netio::write_file(options.out, drawing);
}

}  // namespace

void add_draw_verb(CLI::App& app, CliResult&) {
  auto options = std::make_shared<DrawOptions>();  // shared with the callback
  CLI::App* verb = add_verb(app, "draw");
  verb->add_option("FABRIC", options->fabric, "a shipped fabric's name, or a file")->required();
  verb->add_flag("--svg", options->svg, "as SVG, all planes beside each other");
  verb->add_option("-o,--out", options->out, "a file; else it is printed");
  verb->footer(
      "A bar links each node above it with each node below it.\n"
      "Example: mrclab draw octet\n"
      "         mrclab draw octet --svg -o octet.svg");
  verb->callback([options] { draw_fabric(*options); });
}

}  // namespace mrclab::lab
