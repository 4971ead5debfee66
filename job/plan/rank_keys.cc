#include "job/plan/rank_keys.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "fabric/text/input_file.h"
#include "job/import/host_file.h"
#include "job/plan/key_kinds.h"
#include "job/plan/placement.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;
using JobRow = KeyRow<JobSpec, NameResolver>;

const Form kHostText = Form::of(Form::Kind::kText);
const Form kHostNames = Form::either({kHostText, Form::list(kHostText)});

void check_rank_count(const YamlValue& value, size_t ranks, const char* what) {
  if (ranks >= 2 && ranks <= kMaxRanks) return;
  value.fail(std::to_string(ranks) + what, "2 to " + std::to_string(kMaxRanks));
}

/// In the order of the list. `again`: may a host stand in it more than once?
std::vector<uint32_t> read_host_list(const YamlValue& value, NameResolver& names, bool again) {
  std::vector<uint32_t> hosts;
  std::set<uint32_t> seen;
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    for (const NodeId id : names.hosts(item)) {
      const uint32_t host = names.topology().node(id).index;
      if (!seen.insert(host).second && !again) {
        item.fail(names.topology().node(id).name + " twice",
                  "each host once: it is one rank; \"ranks\" may have several on one host");
      }
      if (hosts.size() > kMaxRanks) break;
      hosts.push_back(host);
    }
  }
  return hosts;
}

std::vector<uint32_t> read_rank_hosts(const YamlValue& value, NameResolver& names) {
  std::vector<uint32_t> hosts = read_host_list(value, names, false);
  check_rank_count(value, hosts.size(), " hosts");
  return hosts;
}

std::string host_list_text(const std::vector<uint32_t>& hosts) {
  std::string text;
  for (const uint32_t host : hosts) text += (text.empty() ? "h" : ", h") + std::to_string(host);
  return "[" + text + "]";
}

/// `ranks` as a map: either a file, or hosts with as many ranks each.
struct RankMap {
  std::string file;
  HostFileFormat format = HostFileFormat::kHostfile;
  std::vector<uint32_t> on, hosts;
  uint32_t slots = 1;
};

const KeyTable<RankMap, NameResolver>& rank_map_keys() {
  using S = RankMap;
  using R = KeyRow<S, NameResolver>;
  const auto list = [](const YamlValue& value, NameResolver& names) {
    return read_host_list(value, names, false);
  };
  const ValueKind kind{kHostNames, list, host_list_text};
  static const KeyTable<S, NameResolver> kKeys(
      {R::of("file", &S::file, path_kind(), "from this file's folder"),
       R::of("format", &S::format, word_kind<HostFileFormat>({"hostfile", "rankfile", "slurm"}),
             "hostfile and rankfile: Open MPI's; slurm: hostlists, or SLURM_JOB_NODELIST and "
             "SLURM_TASKS_PER_NODE"),
       R::of(
           "on", &S::on, kind,
           "hosts of the fabric for those of the file, in the order in which it first names them; "
           "absent: they have the same names"),
       R::of("hosts", &S::hosts, kind, "in place of a file"),
       R::of("slots", &S::slots, integer_kind(1, kMaxRanks), "ranks on each of `hosts`")});
  return kKeys;
}

std::string host_file_text(const std::string& file) {
  require_input_file(file);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file + ": cannot be read");
  return read_at_most(in, kMaxHostFileBytes + 1);
}

/// A host of the fabric for each of the file's.
std::vector<uint32_t> hosts_named(const std::vector<PlacedRank>& ranks, const RankMap& map,
                                  const YamlValue& value, const Topology& topology) {
  std::map<std::string, uint32_t> host_named;
  std::vector<uint32_t> hosts;
  for (const PlacedRank& rank : ranks) {
    const auto [known, is_new] = host_named.emplace(rank.host, 0);
    if (is_new && value.get("on")) {
      const size_t place = host_named.size() - 1;
      if (place >= map.on.size()) {
        value.require("on").fail(std::to_string(map.on.size()) + " hosts",
                                 "as many as the file names, which is more");
      }
      known->second = map.on[place];
    } else if (is_new) {
      const auto node = topology.find_node(rank.host);
      if (!node || topology.node(*node).role != NodeRole::kHost) {
        throw InputError(map.file + ":" + std::to_string(rank.line) +
                         ": a host that the fabric has not: expected h0 to h" +
                         std::to_string(topology.host_count() - 1) +
                         ", or \"on\" beside \"file\" with those that stand for others");
      }
      known->second = topology.node(*node).index;
    }
    hosts.push_back(known->second);
  }
  return hosts;
}

std::vector<uint32_t> read_rank_map(const YamlValue& value, NameResolver& names) {
  RankMap map;
  rank_map_keys().read(value, map, names);
  const bool file = value.get("file").has_value();
  if (file == value.get("hosts").has_value()) {
    value.fail(file ? "\"file\" and \"hosts\"" : "neither \"file\" nor \"hosts\"", "one of them");
  }
  if (!file) {
    for (const char* key : {"format", "on"}) {
      if (value.get(key)) value.fail_at_key(key, in_quotes(key) + " without a file", "\"file\"");
    }
    std::vector<uint32_t> ranks;
    for (const uint32_t host : map.hosts) ranks.insert(ranks.end(), map.slots, host);
    return ranks;
  }
  if (value.get("slots")) {
    value.fail_at_key("slots", "\"slots\" beside a file", "slots in the file itself");
  }
  value.require("format");
  return hosts_named(read_host_file(host_file_text(map.file), map.format, map.file), map, value,
                     names.topology());
}

std::vector<uint32_t> read_ranks(const YamlValue& value, NameResolver& names) {
  std::vector<uint32_t> ranks =
      value.is_map() ? read_rank_map(value, names) : read_host_list(value, names, true);
  check_rank_count(value, ranks.size(), " ranks");
  return ranks;
}

}  // namespace

JobRow hosts_row() {
  const auto write = [](const JobSpec& spec) {
    return spec.shares_hosts() ? std::string() : host_list_text(spec.hosts);
  };
  return {"hosts",
          kHostNames,
          "one a rank, in the order of the list",
          [](const YamlValue& value, JobSpec& spec, NameResolver& names) {
            spec.hosts = read_rank_hosts(value, names);
          },
          write,
          {.read_pass = 0}};
}

JobRow ranks_row() {
  const auto write = [](const JobSpec& spec) {
    return spec.shares_hosts() ? host_list_text(spec.hosts) : std::string();
  };
  return {"ranks",
          Form::either({kHostText, Form::list(kHostText), rank_map_keys().form()}),
          "in place of `hosts`: the host of each rank, several of which may be on one",
          [](const YamlValue& value, JobSpec& spec, NameResolver& names) {
            spec.hosts = read_ranks(value, names);
          },
          write,
          {.read_pass = 0}};
}

JobRow place_row() {
  return {"place", Form::word({"packed", "spread", "rails"}),
          "packed: as listed; spread: neighbouring ranks below different T0s; rails: nodes whole, "
          "each NIC on its rail",
          [](const YamlValue& value, JobSpec& spec, NameResolver& names) {
            const auto how = static_cast<Placement>(value.as_word({"packed", "spread", "rails"}));
            spec.hosts = placed(std::move(spec.hosts), how, names.topology());
          }};
}

void check_ranks(const YamlValue& body, const JobSpec& spec) {
  const bool hosts = body.get("hosts").has_value();
  if (hosts && body.get("ranks")) {
    body.fail_at_key("ranks", "\"hosts\" and \"ranks\"", "one of them");
  }
  if (!hosts && !body.get("ranks")) body.fail("no ranks", "\"hosts\" or \"ranks\"");
  if (spec.local && !spec.shares_hosts()) {
    body.require("local").fail("copies within a host", "a host with several ranks");
  }
}

}  // namespace mrclab::job
