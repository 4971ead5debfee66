#include "job/import/chakra_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <unordered_map>

#include "fabric/text/input_error.h"

namespace mrclab::job {
namespace {

// et_def.proto of schema 1.0.0: field numbers of Node, of AttributeProto and of IOInfo.
enum : protozero::pbf_tag_type {
  kNodeId = 1,
  kNodeType = 3,
  kNodeDataDeps = 5,
  kNodeDuration = 7,
  kNodeInputs = 8,
  kNodeAttr = 10,
  kInputsValues = 1,
  kAttrName = 1,
  kAttrInt32 = 7,
  kAttrInt64 = 9,
  kAttrUint32 = 11,
  kAttrUint64 = 13,
  kAttrSint32 = 15,
  kAttrSint64 = 17,
  kAttrFixed32 = 19,
  kAttrFixed64 = 21,
  kAttrSfixed32 = 23,
  kAttrSfixed64 = 25,
  kAttrBool = 27,
  kAttrString = 29,
};
enum NodeType : int32_t {
  kMetadata = 1,
  kLoad = 2,
  kStore = 3,
  kComp = 4,
  kSend = 5,
  kRecv = 6,
  kColl = 7
};
// A field by its number and how its value is written: one that is written otherwise is skipped, as protobuf has it.
constexpr uint32_t as_varint(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr uint32_t as_bytes(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}
constexpr uint32_t as_fixed32(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::fixed32);
}
constexpr uint32_t as_fixed64(protozero::pbf_tag_type tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::fixed64);
}
constexpr uint64_t kMaxMicros = uint64_t{1} << 40;

/// What of a node matters; absent numbers are 0, as proto3 leaves them out.
struct ChakraNode {
  uint64_t id = 0, micros = 0;
  int32_t type = 0;
  std::vector<uint64_t> data_deps;
  std::map<std::string, uint64_t, std::less<>> numbers;
  std::string group, inputs;
  bool has(std::string_view name) const { return numbers.find(name) != numbers.end(); }
  uint64_t number(std::string_view name, uint64_t otherwise) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
};

/// Producers differ in the kind of integer that they write for the same attribute.
void read_attribute(protozero::pbf_reader attribute, ChakraNode& node) {
  std::string name, text;
  std::optional<uint64_t> number;
  while (attribute.next()) {
    switch (attribute.tag_and_type()) {
      case as_bytes(kAttrName): name = attribute.get_string(); break;
      case as_varint(kAttrInt32): number = static_cast<uint64_t>(attribute.get_int32()); break;
      case as_varint(kAttrInt64): number = static_cast<uint64_t>(attribute.get_int64()); break;
      case as_varint(kAttrUint32): number = attribute.get_uint32(); break;
      case as_varint(kAttrUint64): number = attribute.get_uint64(); break;
      case as_varint(kAttrSint32): number = static_cast<uint64_t>(attribute.get_sint32()); break;
      case as_varint(kAttrSint64): number = static_cast<uint64_t>(attribute.get_sint64()); break;
      case as_fixed32(kAttrFixed32): number = attribute.get_fixed32(); break;
      case as_fixed64(kAttrFixed64): number = attribute.get_fixed64(); break;
      case as_fixed32(kAttrSfixed32):
        number = static_cast<uint64_t>(attribute.get_sfixed32());
        break;
      case as_fixed64(kAttrSfixed64):
        number = static_cast<uint64_t>(attribute.get_sfixed64());
        break;
      case as_varint(kAttrBool): number = attribute.get_bool() ? 1 : 0; break;
      case as_bytes(kAttrString): text = attribute.get_string(); break;
      default: attribute.skip();
    }
  }
  if (number) node.numbers[name] = *number;
  if (name == "pg_name") node.group = number ? std::to_string(*number) : text;
}

ChakraNode read_node(protozero::pbf_reader message) {
  ChakraNode node;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case as_varint(kNodeId): node.id = message.get_uint64(); break;
      case as_varint(kNodeType): node.type = message.get_enum(); break;
      case as_varint(kNodeDataDeps): node.data_deps.push_back(message.get_uint64()); break;
      case as_bytes(kNodeDataDeps): {
        const auto packed = message.get_packed_uint64();
        node.data_deps.insert(node.data_deps.end(), packed.begin(), packed.end());
        break;
      }
      case as_varint(kNodeDuration): node.micros = message.get_uint64(); break;
      case as_bytes(kNodeInputs): {
        protozero::pbf_reader inputs = message.get_message();
        while (inputs.next()) {
          if (inputs.tag_and_type() == as_bytes(kInputsValues)) {
            node.inputs = inputs.get_string();
          } else {
            inputs.skip();
          }
        }
        break;
      }
      case as_bytes(kNodeAttr): read_attribute(message.get_message(), node); break;
      default: message.skip();
    }
  }
  return node;
}

class ChakraReader {
 public:
  ChakraReader(const std::vector<std::string>& files, const std::vector<std::string>& names)
      : files_(files), names_(names), trace_{TraceFormat::kChakra, OpGraph(ranks_of(files))} {}

  Trace read() {
    for (uint32_t rank = 0; rank < files_.size(); ++rank) {
      try {
        read_rank(rank);
      } catch (const protozero::exception& error) {
        throw InputError(fmt::format("{}: byte {}: no message of this format ({})", names_[rank],
                                     at_, error.what()));
      }
    }
    if (communicating_ < trace_.graph.ops().size()) {
      trace_.notes.push_back(fmt::format("{} of {} operations communicate", communicating_,
                                         trace_.graph.ops().size()));
    }
    return std::move(trace_);
  }

 private:
  static uint32_t ranks_of(const std::vector<std::string>& files) {
    return static_cast<uint32_t>(std::min<size_t>(files.size(), kMaxRanks + 1));
  }

  /// The messages of a file behind the metadata; one of length 0 ends it, as for the reader of the format's makers.
  std::vector<ChakraNode> nodes_of(uint32_t rank) {
    const std::string& bytes = files_[rank];
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    std::vector<ChakraNode> nodes;
    for (bool first = true; at < end; first = false) {
      at_ = static_cast<size_t>(at - bytes.data());
      const uint64_t length = protozero::decode_varint(&at, end);
      if (length > static_cast<uint64_t>(end - at)) throw protozero::end_of_buffer_exception{};
      if (length == 0) break;
      const protozero::data_view view(at, static_cast<size_t>(length));
      at += length;
      if (first) continue;
      if (nodes.size() >= kMaxOps) throw InputError(names_[rank] + ": too many operations");
      nodes.push_back(read_node(protozero::pbf_reader(view)));
    }
    return nodes;
  }

  void read_rank(uint32_t rank) {
    const std::vector<ChakraNode> nodes = nodes_of(rank);
    if (nodes.empty()) throw InputError(names_[rank] + ": no operations: is it a Chakra trace?");
    groups_.clear();
    std::unordered_map<uint64_t, uint32_t> place;  // by the file's own number
    auto next = static_cast<uint32_t>(trace_.graph.ops().size());
    for (const ChakraNode& node : nodes) {
      if (node.type == kMetadata) read_groups(node, rank);
      const bool added = node.type != kMetadata;
      if (!place.emplace(node.id, added ? next : kNowhere).second) {
        throw InputError(fmt::format("{}: node {} twice", names_[rank], node.id));
      }
      next += added ? 1 : 0;
    }
    for (const ChakraNode& node : nodes) {
      if (node.type == kMetadata) continue;
      std::vector<Dependency> waits;
      for (const uint64_t id : node.data_deps) {
        const auto found = place.find(id);
        if (found == place.end()) {
          throw InputError(fmt::format("{}: node {} depends on {}, which does not exist",
                                       names_[rank], node.id, id));
        }
        if (found->second != kNowhere) waits.push_back({found->second});
      }
      trace_.graph.add(op_of(node, rank), waits);
    }
  }

  /// A list of {"pg_name": ..., "ranks": [...]} as text; between brackets of its own or not. No ranks: all.
  void read_groups(const ChakraNode& node, uint32_t rank) {
    const size_t first = node.inputs.find("[{"), last = node.inputs.rfind("}]");
    if (first == std::string::npos || last == std::string::npos || last < first) return;
    const auto list =
        nlohmann::json::parse(node.inputs.substr(first, last + 2 - first), nullptr, false);
    if (!list.is_array()) return;
    for (const auto& group : list) {
      if (!group.is_object() || !group.contains("pg_name")) continue;
      const auto& name = group.at("pg_name");
      std::vector<uint32_t> ranks;
      if (group.contains("ranks") && group.at("ranks").is_array()) {
        for (const auto& member : group.at("ranks")) {
          if (!member.is_number_unsigned() || member.get<uint64_t>() >= files_.size()) {
            throw InputError(
                fmt::format("{}: group {} has a rank that is none", names_[rank], name.dump()));
          }
          ranks.push_back(member.get<uint32_t>());
        }
      }
      if (ranks.empty()) ranks = everybody();
      groups_[name.is_string() ? name.get<std::string>() : name.dump()] = std::move(ranks);
    }
  }

  std::vector<uint32_t> everybody() const {
    std::vector<uint32_t> all(files_.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  uint32_t group_of(const ChakraNode& node, uint32_t rank) {
    const auto found = groups_.find(node.group);
    if (found != groups_.end()) return trace_.graph.add_group(node.group, found->second);
    if (node.group.empty() || node.group == "0") return trace_.graph.add_group("all", everybody());
    throw InputError(fmt::format("{}: node {} names group \"{}\", and no metadata says its ranks",
                                 names_[rank], node.id, node.group.substr(0, 40)));
  }

  Op op_of(const ChakraNode& node, uint32_t rank) {
    Op op;
    op.rank = rank;
    const auto reject = [&](const std::string& what) {
      throw InputError(fmt::format("{}: node {}: {}", names_[rank], node.id, what));
    };
    const uint64_t bytes = node.number("comm_size", 0);
    communicating_ += node.type == kSend || node.type == kRecv || node.type == kColl;
    switch (node.type) {
      case kComp:
      case kLoad:
      case kStore:
        if (node.micros > kMaxMicros) reject("longer than 2^40 microseconds");
        op.duration = FabricTime::from_us(static_cast<int64_t>(node.micros));
        op.lane = node.number("is_cpu_op", 0) != 0 ? 1 : 0;
        return op;
      case kSend:
      case kRecv:
        op.kind = node.type == kSend ? OpKind::kSend : OpKind::kReceive;
        op.peer = static_cast<uint32_t>(std::min<uint64_t>(
            node.number(node.type == kSend ? "comm_dst" : "comm_src", rank), kMaxRanks));
        op.tag = static_cast<uint32_t>(node.number("comm_tag", 0));
        op.bytes = bytes;
        return op;
      case kColl: break;
      default: reject(fmt::format("type {} is none of 1 to 7", node.type));
    }
    op.kind = OpKind::kCollective;
    op.collective = collective_of(node, rank);
    op.group = group_of(node, rank);
    const size_t ranks = trace_.graph.groups()[op.group].ranks.size();
    op.bytes = op.collective == Collective::kAllGather ? bytes * ranks : bytes;
    return op;
  }

  /// ChakraCollectiveCommType.
  Collective collective_of(const ChakraNode& node, uint32_t rank) const {
    switch (node.number("comm_type", 0)) {
      case 0: return Collective::kAllReduce;
      case 2: return Collective::kAllGather;
      case 5: return Collective::kBroadcast;
      case 6: return Collective::kAllToAll;
      case 7:
      case 8: return Collective::kReduceScatter;
      case 9: return Collective::kBarrier;
      default: break;
    }
    throw InputError(
        fmt::format("{}: node {}: collective {} (REDUCE, GATHER or SCATTER) is not "
                    "supported: only all ranks end with a result here",
                    names_[rank], node.id, node.number("comm_type", 0)));
  }

  static constexpr uint32_t kNowhere = 0xFFFF'FFFF;  ///< of a node that is no operation
  const std::vector<std::string>& files_;
  const std::vector<std::string>& names_;
  Trace trace_;
  std::map<std::string, std::vector<uint32_t>> groups_;  ///< of the rank in hand
  size_t at_ = 0;                                        ///< byte of the message in hand
  size_t communicating_ = 0;
};

}  // namespace

std::vector<std::filesystem::path> chakra_files(const std::filesystem::path& prefix) {
  std::vector<std::filesystem::path> files;
  while (files.size() <= kMaxRanks) {
    std::filesystem::path file = prefix;
    file += fmt::format(".{}.et", files.size());
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) break;
    files.push_back(std::move(file));
  }
  return files;
}

Trace read_chakra(const std::vector<std::string>& files, const std::vector<std::string>& names,
                  const TraceOptions&) {
  return ChakraReader(files, names).read();
}

}  // namespace mrclab::job
