#include "live/translate/containerlab_export.h"

#include <fmt/format.h>

#include "fabric/text/enum_words.h"
#include "fabric/text/yaml_write.h"
#include "live/translate/endpoint_words.h"
#include "live/translate/export_notes.h"
#include "live/translate/fabric_labels.h"
#include "live/translate/node_setup.h"
#include "live/translate/switch_config.h"

namespace mrclab::lab {
namespace {

constexpr const char* kBgpdFile = "/etc/mrc-bgpd.yaml";

/// The row of a topology viewer, from above.
int level_of(NodeRole role) {
  switch (role) {
    case NodeRole::kT2: return 0;
    case NodeRole::kT1: return 1;
    case NodeRole::kT0: return 2;
    case NodeRole::kHost: return 3;
  }
  return 3;
}

class ContainerlabWriter {
 public:
  explicit ContainerlabWriter(const ExportedFabric& fabric)
      : fabric_(fabric), topology_(fabric.topology()), folder_(topology_.name + "-config") {}

  ExportedLab write(const std::string& command) {
    text_ = as_comment(export_notes(fabric_, "a containerlab topology", command));
    if (has_endpoint_words(fabric_)) {
      text_ += fmt::format(
          "#\n# MRC between two hosts: docker exec -it clab-{0}-h0 sh -c 'mrc-endpoint $MRC_SELF "
          "$MRC_TO_h1', then\n# docker exec -it clab-{0}-h1 sh -c 'mrc-endpoint $MRC_SELF "
          "$MRC_TO_h0 clab-{0}-h0'\n",
          topology_.name);
    }
    text_ += "name: " + yaml_word(topology_.name) + "\ntopology:\n";
    write_defaults();
    text_ += "  nodes:\n";
    for (const NodeSite& site : topology_.nodes) write_node(site);
    text_ += "  links:\n";
    for (const Link& link : topology_.links) {
      text_ +=
          fmt::format("    - endpoints: [\"{}\", \"{}\"]\n", endpoint(link.a), endpoint(link.b));
      if (fabric_.options().link_mtu != 0) {
        text_ += fmt::format("      mtu: {}\n", fabric_.link_mtu());
      }
    }
    return {std::move(text_), std::move(files_)};
  }

 private:
  std::string endpoint(PortRef port) const {
    return fabric_.name(port.node) + ":" + fabric_.interface(port);
  }

  void line(const std::string& key, const std::string& value) {
    text_ += "      " + key + ": " + value + "\n";
  }

  void write_defaults() {
    const auto labels = fabric_labels(fabric_.shape());
    if (labels.empty()) return;
    text_ += "  defaults:\n    labels:\n";
    for (const auto& [label, value] : labels) {
      text_ += fmt::format("      {}: {}\n", label, yaml_string(value));
    }
  }

  void write_node(const NodeSite& site) {
    text_ += "    " + yaml_word(fabric_.name(site.id)) + ":\n";
    const SwitchKind kind = fabric_.options().switches;
    const bool foreign = !fabric_.is_host(site.id) && kind != SwitchKind::kMrclab;
    line("kind", foreign && kind == SwitchKind::kSonicVs ? "sonic-vs"
                 : foreign && kind == SwitchKind::kCeos  ? "arista_ceos"
                                                         : "linux");
    line("image", yaml_string(fabric_.image(site.id)));
    if (!foreign) {  // our image's own entry point is a command that ends
      line("entrypoint", "/bin/sleep");
      line("cmd", "infinity");
    }
    write_labels(site);
    if (fabric_.options().bare) return;
    if (foreign && kind == SwitchKind::kSonicVs) {
      write_exec(sonic_commands(fabric_, site.id));
    } else if (foreign && kind == SwitchKind::kCeos) {
      write_startup(eos_config(fabric_, site.id));
    } else {
      write_linux(site);
    }
  }

  void write_labels(const NodeSite& site) {
    static constexpr auto kRoles = words_by_value<NodeRole>({{NodeRole::kHost, "host"},
                                                             {NodeRole::kT0, "t0"},
                                                             {NodeRole::kT1, "t1"},
                                                             {NodeRole::kT2, "t2"}});
    std::string labels =
        fmt::format("{{{}: {}, {}: \"{}\"", kRoleLabel, kRoles[static_cast<size_t>(site.role)],
                    kLevelLabel, level_of(site.role));
    if (fabric_.name(site.id) != site.name) {
      labels += fmt::format(", {}: {}", kNodeLabel, yaml_string(site.name));
    }
    if (!topology_.has_planes() && !fabric_.is_host(site.id)) {
      labels += fmt::format(", {}: \"{:04x}\"", kUsidLabel, site.usid.value);
    }
    line("labels", labels + "}");
  }

  void write_linux(const NodeSite& site) {
    const bool is_host = fabric_.is_host(site.id);
    const NodeSetup setup = node_setup(fabric_, site.id);
    text_ += "      sysctls:\n";
    for (const auto& [name, value] : setup.sysctls) {
      text_ += fmt::format("        {}: \"{}\"\n", name, value);
    }
    if (is_host && has_endpoint_words(fabric_)) {
      text_ += "      env:\n";
      for (const auto& [name, value] : endpoint_words(fabric_, site.id)) {
        text_ += fmt::format("        {}: {}\n", name, yaml_string(value));
      }
    }
    std::vector<std::string> commands = setup.commands;
    if (!is_host) add_program(site, commands);
    write_exec(commands);
  }

  /// FRR's files, or our BGP speaker with its own.
  void add_program(const NodeSite& site, std::vector<std::string>& commands) {
    const std::string& name = fabric_.name(site.id);
    if (fabric_.options().switches == SwitchKind::kFrr) {
      add_file(name + ".conf", frr_config_of(fabric_, site.id));
      if (files_.size() == 1) add_file("daemons", frr_daemons(fabric_));
      text_ += fmt::format(
          "      binds:\n        - {0}/daemons:/etc/frr/daemons\n"
          "        - {0}/{1}.conf:/etc/frr/frr.conf\n",
          folder_, name);
    } else if (topology_.routing.is_fare()) {
      add_file(name + ".bgpd.yaml", bgpd_config(exported_speaker(fabric_, site.id)));
      text_ +=
          fmt::format("      binds:\n        - {}/{}.bgpd.yaml:{}\n", folder_, name, kBgpdFile);
      commands.push_back(fmt::format(
          "sh -c '/usr/lib/mrclab/mrc-bgpd {} > /var/log/mrc-bgpd.log 2>&1 &'", kBgpdFile));
    }
  }

  void add_file(const std::string& name, const std::string& text) {
    files_.push_back({folder_ + "/" + name, text});
  }

  void write_exec(const std::vector<std::string>& commands) {
    text_ += "      exec:\n";
    for (const std::string& command : commands) text_ += "        - " + yaml_string(command) + "\n";
  }

  void write_startup(const std::string& config) {
    text_ += "      startup-config: |\n";
    for (size_t at = 0; at < config.size();) {
      const size_t end = config.find('\n', at);
      text_ += "        " + config.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }

  const ExportedFabric& fabric_;
  const Topology& topology_;
  const std::string folder_;
  std::string text_;
  std::vector<LabFile> files_;
};

}  // namespace

ExportedLab export_containerlab(const FabricShape& shape, const ExportOptions& options,
                                const std::string& command) {
  const ExportedFabric fabric(shape, options, containerlab_tool());
  return ContainerlabWriter(fabric).write(command);
}

}  // namespace mrclab::lab
