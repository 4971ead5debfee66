#include "live/translate/kathara_export.h"

#include <fmt/format.h>

#include "live/translate/export_notes.h"
#include "live/translate/node_setup.h"
#include "live/translate/switch_config.h"

namespace mrclab::lab {
namespace {

constexpr const char* kKatharaBgpdFile = "etc/mrc-bgpd.yaml";

class KatharaWriter {
 public:
  explicit KatharaWriter(const ExportedFabric& fabric)
      : fabric_(fabric), topology_(fabric.topology()) {}

  ExportedLab write(const std::string& command) {
    lab_.text = as_comment(export_notes(fabric_, "a network scenario of Kathara", command)) +
                "LAB_NAME=\"" + topology_.name + "\"\n";
    for (const NodeSite& site : topology_.nodes) add_node(site);
    return std::move(lab_);
  }

 private:
  void meta(const std::string& name, const std::string& key, const std::string& value) {
    lab_.text += fmt::format("{}[{}]=\"{}\"\n", name, key, value);
  }

  void add_node(const NodeSite& site) {
    const std::string& name = fabric_.name(site.id);
    const bool frr = !fabric_.is_host(site.id) && fabric_.options().switches == SwitchKind::kFrr;
    lab_.text += "\n";
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      meta(name, std::to_string(i), fmt::format("l{}", site.ports[i].link.value));
    }
    meta(name, "image", fabric_.image(site.id));
    if (!frr) {
      meta(name, "entrypoint", "/bin/sleep");
      meta(name, "args", "infinity");
    }
    meta(name, "ipv6", "true");
    if (fabric_.options().bare) return;
    const NodeSetup setup = node_setup(fabric_, site.id);
    for (const auto& [sysctl, value] : setup.sysctls) meta(name, "sysctl", sysctl + "=" + value);
    std::string startup;
    for (const std::string& command : setup.commands) startup += command + "\n";
    if (!fabric_.is_host(site.id)) add_program(site, startup);
    lab_.files.push_back({name + ".startup", startup});
  }

  void add_program(const NodeSite& site, std::string& startup) {
    const std::string& name = fabric_.name(site.id);
    if (fabric_.options().switches == SwitchKind::kFrr) {
      lab_.files.push_back({name + "/etc/frr/frr.conf", frr_config_of(fabric_, site.id)});
      lab_.files.push_back({name + "/etc/frr/daemons", frr_daemons(fabric_)});
      startup += "/usr/lib/frr/frrinit.sh start\n";
    } else if (topology_.routing.is_fare()) {
      lab_.files.push_back(
          {name + "/" + kKatharaBgpdFile, bgpd_config(exported_speaker(fabric_, site.id))});
      startup += fmt::format("/usr/lib/mrclab/mrc-bgpd /{} > /var/log/mrc-bgpd.log 2>&1 &\n",
                             kKatharaBgpdFile);
    }
  }

  const ExportedFabric& fabric_;
  const Topology& topology_;
  ExportedLab lab_;
};

}  // namespace

ExportedLab export_kathara(const FabricShape& shape, const ExportOptions& options,
                           const std::string& command) {
  const ExportedFabric fabric(shape, options, kathara_tool());
  return KatharaWriter(fabric).write(command);
}

}  // namespace mrclab::lab
