#include <fmt/format.h>

#include <map>

#include "fabric/text/input_error.h"
#include "fabric/text/visible_text.h"
#include "job/import/json_elements.h"
#include "job/import/measured_fields.h"
#include "job/import/pytorch_file.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

class EtReader {
 public:
  explicit EtReader(const std::string& name) : name_(name) { rank_.has_clock = false; }

  MeasuredRank read(std::string_view text) {
    for_each_element(
        text, name_,
        {.key = "nodes",
         .wanted = {"schema"},
         .element = [&](json&& node) { read_node(node); },
         .member = [&](const std::string&, json&& value) { schema_ = text_in(value); }});
    if (rank_.exchanges.empty()) throw InputError(name_ + ": no exchange (record_param_comms)");
    for (MeasuredExchange& one : rank_.exchanges) {
      if (one.end_ns < 0) one.end_ns = one.begin_ns;
    }
    return std::move(rank_);
  }

 private:
  void read_node(const json& node) {
    const std::string called = text_in(member(node, "name"));
    if (called == "## process_group:init ##") return read_groups(node);
    if (called != "record_param_comms") return;
    id_ = count_in(member(node, "id")).value_or(0);
    attributes_.clear();
    const json& list = member(node, "attrs");
    if (list.is_array()) {
      for (const json& one : list) attributes_[text_in(member(one, "name"))] = member(one, "value");
    }
    if (!attributes_.contains("collective_name")) {
      fail(fmt::format("no collective_name: schema \"{}\" is too old, expected 1.0.3 or later",
                       visible(schema_.substr(0, 40))));
    }
    read_exchange(node);
  }

  /// inputs.values[0] is a list of groups as text; no ranks: all.
  void read_groups(const json& node) {
    const json& values = member(member(node, "inputs"), "values");
    if (!values.is_array() || values.empty()) return;
    const json list = parse_json<json>(text_in(values[0]));
    if (!list.is_array()) return;
    for (const json& group : list) {
      std::vector<uint32_t> ranks = ranks_in(member(group, "ranks"));
      if (ranks.empty())
        ranks = ranks_from(0, 1, count_in(member(group, "group_size")).value_or(0));
      groups_[text_in(member(group, "pg_name"))] = std::move(ranks);
    }
  }

  void read_exchange(const json& node) {
    const std::string called = text_in(attributes_["collective_name"]);
    const MeasuredName is = measured_name(called);
    // The number of the exchange in PyTorch, by which a wait names it.
    const json& values = member(member(node, "inputs"), "values");
    const auto value = [&](size_t place) {
      return values.is_array() && place < values.size() ? values[place] : json();
    };
    ++now_;
    if (is.kind == MeasuredKind::kWait) {
      const auto found = by_number_.find(count_in(value(0)).value_or(~uint64_t{0}));
      if (found != by_number_.end()) rank_.exchanges[found->second].end_ns = now_;
      return;
    }
    if (is.kind == MeasuredKind::kOther) {
      rank_.left_out += called != "init" && !called.empty();
      return;
    }
    MeasuredExchange exchange;
    exchange.group = text_in(attributes_["pg_name"]);
    exchange.begin_ns = now_;
    exchange.end_ns = -1;  // until a wait names it
    const auto number = [&](const char* key) { return count_in(attributes_[key]).value_or(0); };
    const uint64_t in = number("in_msg_nelems"), out = number("out_msg_nelems");
    const std::string type = text_in(attributes_["dtype"]);
    const uint64_t bytes = element_bytes(type);
    if (in > kMaxMeasuredElements || out > kMaxMeasuredElements) fail("more than 2^48 elements");
    if (bytes == 0) fail(fmt::format("unknown dtype \"{}\"", visible(type.substr(0, 40))));
    exchange.bytes = bytes * in;
    if (is.kind == MeasuredKind::kCollective) {
      exchange.collective = is.collective;
      if (is.collective == Collective::kAllGather) exchange.bytes = bytes * out;
      if (is.collective == Collective::kBarrier) exchange.bytes = 0;
      exchange.ranks = members(exchange.group);
      const uint64_t root = count_in(value(3)).value_or(0);
      if (is.collective == Collective::kBroadcast && root < exchange.ranks.size()) {
        exchange.root = static_cast<uint32_t>(root);
      }
    } else {
      // The peer is a rank inside the group: destination, or source.
      exchange.what = is.kind == MeasuredKind::kSend ? MeasuredExchange::What::kSend
                                                     : MeasuredExchange::What::kReceive;
      const std::vector<uint32_t> group = members(exchange.group);
      const uint64_t peer = count_in(value(3)).value_or(kMaxRanks);
      if (peer >= group.size()) fail(fmt::format("peer {} of a group of {}", peer, group.size()));
      exchange.ranks = {group[peer]};
      if (exchange.what == MeasuredExchange::What::kReceive) exchange.bytes = bytes * out;
    }
    if (rank_.exchanges.size() >= kMaxExchangesOfRank) fail("too many exchanges");
    by_number_[count_in(value(1)).value_or(~uint64_t{0})] = rank_.exchanges.size();
    rank_.exchanges.push_back(std::move(exchange));
  }

  std::vector<uint32_t> members(const std::string& group) {
    const auto number = [&](const char* key) { return count_in(attributes_[key]).value_or(0); };
    const uint64_t size = number("pg_size");
    const auto found = groups_.find(group);
    std::vector<uint32_t> ranks;
    if (found != groups_.end() && !found->second.empty()) {
      ranks = found->second;
    } else {
      ranks = ranks_from(number("global_rank_start"),
                         std::max<uint64_t>(number("global_rank_stride"), 1), size);
    }
    if (ranks.empty()) {
      fail(fmt::format("group \"{}\" of {} ranks: expected 1 to {}", visible(group.substr(0, 40)),
                       size, kMaxRanks));
    }
    return ranks;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: node {}: {}", name_, id_, what));
  }

  const std::string& name_;
  MeasuredRank rank_;
  std::string schema_;
  uint64_t id_ = 0;
  int64_t now_ = 0;  ///< the order stands for times
  std::map<std::string, json> attributes_;
  std::map<std::string, std::vector<uint32_t>> groups_;
  std::map<uint64_t, size_t> by_number_;
};

}  // namespace

MeasuredRank read_pytorch_et(std::string_view text, const std::string& name) {
  return EtReader(name).read(text);
}

}  // namespace mrclab::job
