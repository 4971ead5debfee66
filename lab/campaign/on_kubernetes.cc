#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "console/shell_word.h"
#include "lab/campaign/engines.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint32_t kPodsAtOnce = 16;
constexpr size_t kBaseFileMax = 512 << 10;  // a ConfigMap holds 1 MiB
constexpr uint32_t kSecondsMost = 7 * 24 * 3'600;
constexpr const char* kVolumeMount = "/campaigns";
constexpr const char* kBaseMount = "/base";
/// Keys of a ConfigMap are of letters, digits, '-', '_' and '.', which names of files need not be.
constexpr const char* kBaseKey = "base.yaml";

bool is_file(const Campaign& campaign) { return campaign.base.find('/') != std::string::npos; }

/// Kubernetes writes values of variables for $(NAME) in a command, and $ for $$: what is to stay has each $ twice.
std::string unexpanded(const std::string& text) {
  std::string twice;
  for (const char c : text) twice += c == '$' ? "$$" : std::string(1, c);
  return twice;
}

Json metadata(const std::string& name) {
  return {{"name", name}, {"labels", {{"app.kubernetes.io/name", "mrclab"}}}};
}

/// One container that runs a line of sh, with the volumes of the campaign.
Json pod(const Campaign& campaign, const std::string& line) {
  Json mounts = Json::array({{{"name", "campaign"}, {"mountPath", kVolumeMount}}});
  Json volumes = Json::array(
      {{{"name", "campaign"}, {"persistentVolumeClaim", {{"claimName", campaign.claim}}}}});
  if (is_file(campaign)) {
    mounts.push_back({{"name", "base"}, {"mountPath", kBaseMount}, {"readOnly", true}});
    volumes.push_back({{"name", "base"}, {"configMap", {{"name", "mrclab-base"}}}});
  }
  const std::string cpus = std::to_string(std::max(1u, campaign.jobs));
  return {{"metadata", {{"labels", {{"app.kubernetes.io/name", "mrclab"}}}}},
          {"spec",
           {{"restartPolicy", "OnFailure"},
            {"containers",
             Json::array({{{"name", "mrclab"},
                           {"image", campaign.image},
                           {"command", Json::array({"/bin/sh", "-c", unexpanded(line)})},
                           {"resources", {{"requests", {{"cpu", cpus}, {"memory", "1Gi"}}}}},
                           {"volumeMounts", mounts}}})},
            {"volumes", volumes}}}};
}

}  // namespace

/// Names of Kubernetes' objects are subdomains (RFC 1123); what is none would be refused there, or end a comment here.
void require_object_name(std::string_view option, const std::string& name) {
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  const bool inside = name.find_first_not_of(kAll) == std::string::npos;
  const auto is_end = [](char c) { return c != '-' && c != '.'; };
  if (inside && !name.empty() && name.size() <= 253 && is_end(name.front()) &&
      is_end(name.back())) {
    return;
  }
  throw InputError(fmt::format(
      "{}: found {}: expected a name of Kubernetes, such as mrclab-campaigns: a-z, 0-9, "
      "dashes and dots, at most 253",
      option, in_quotes(name)));
}

std::string kubernetes_manifest(const Campaign& campaign) {
  require_object_name("--claim", campaign.claim);
  Campaign inside = campaign;
  inside.program = "mrclab";
  inside.jobs = std::max(1u, campaign.jobs);
  Json items = Json::array();
  if (is_file(campaign)) {
    inside.base = fmt::format("{}/{}", kBaseMount, kBaseKey);
    items.push_back({{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", metadata("mrclab-base")},
                     {"data", {{kBaseKey, netio::read_file(campaign.base, kBaseFileMax)}}}});
  }
  // The volume may hold several campaigns: each has the name of its folder here.
  const std::string folder =
      shell_word(fmt::format("{}/{}", kVolumeMount, campaign.folder.filename().string()));
  const std::string shards = folder + "/shards";
  const std::string shard_line = "i=$((JOB_COMPLETION_INDEX + 1)) && exec " +
                                 shard_command(inside, "$i", fmt::format("{}/$i.json", shards));
  items.push_back({{"apiVersion", "batch/v1"},
                   {"kind", "Job"},
                   {"metadata", metadata("mrclab-chaos")},
                   {"spec",
                    {{"completionMode", "Indexed"},
                     {"completions", campaign.shards},
                     {"parallelism", std::min(kPodsAtOnce, campaign.shards)},
                     {"backoffLimit", campaign.shards * 3},
                     {"activeDeadlineSeconds", kSecondsMost},
                     {"template", pod(inside, shard_line)}}}});
  // Jobs have no order: this one waits for the files. Each comes by rename, so what is there is whole.
  const std::string join_line = fmt::format(
      "until [ \"$(ls {0} 2>/dev/null | grep -c '^[0-9]*[.]json$')\" -ge {1} ]; do sleep 5; done; "
      "mrclab chaos --merge {0}/*.json --json > {2}/summary.json || test -s {2}/summary.json",
      shards, campaign.shards, folder);
  items.push_back({{"apiVersion", "batch/v1"},
                   {"kind", "Job"},
                   {"metadata", metadata("mrclab-join")},
                   {"spec",
                    {{"backoffLimit", 3},
                     {"activeDeadlineSeconds", kSecondsMost},
                     {"template", pod(inside, join_line)}}}});
  // JSON is YAML, and needs no quoting of ours.
  const Json list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}};
  return "# mrclab chaos: kubectl apply -f this. Its persistentVolumeClaim must be there "
         "(ReadWriteMany).\n" +
         list.dump(2) + "\n";
}

int write_kubernetes_manifest(const Campaign& campaign) {
  const netio::OutputFolder folder = netio::OutputFolder::make(campaign.folder);
  folder.write_file("manifest.yaml", kubernetes_manifest(campaign));
  fmt::print("manifest    {}\n", (campaign.folder / "manifest.yaml").string());
  fmt::print("start it    kubectl apply -f {}\n", (campaign.folder / "manifest.yaml").string());
  fmt::print("the result  kubectl logs job/mrclab-join\n");
  return 0;
}

}  // namespace mrclab::lab
