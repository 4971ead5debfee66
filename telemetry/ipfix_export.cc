#include "telemetry/ipfix_export.h"

#include <fmt/format.h>

#include "telemetry/sai_numbers.h"

namespace mrclab::telemetry {
namespace {

constexpr uint16_t kVersion = 10, kTemplateSet = 2, kFirstTemplate = 256;
constexpr uint16_t kObservationTimeNanoseconds = 325, kEnterpriseBit = 0x8000, kFieldBytes = 8;
constexpr size_t kHeaderBytes = 16, kSetBytes = 4;
/// Of a template. A message has at most 65,535 bytes, and a template needs as many as a record for a field.
constexpr size_t kMostFields = 4000;
constexpr size_t kRecordsInMessage = 60'000;  ///< bytes
constexpr uint32_t kQueuesOfPort = 8, kDataQueue = 0, kRoceQueue = 3;

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

struct Field {
  uint16_t element = 0;
  uint32_t enterprise = 0;
  bool operator<(const Field& other) const {
    return std::pair(element, enterprise) < std::pair(other.element, other.enterprise);
  }
};
/// Of a switch: the values of each field, by step.
using Fields = std::map<Field, std::vector<uint64_t>>;

class IpfixWriter {
 public:
  IpfixWriter(const CounterSeries& series, const Topology& topology)
      : series_(series), topology_(topology) {}

  IpfixExport written() {
    out_.objects = "domain,node,template,element,enterprise,object,statistic\n";
    std::map<uint32_t, Fields> switches;
    for (const CounterSeries::Line& line : series_.lines()) add(line, switches);
    for (const auto& [node, fields] : switches) write_switch(node, fields);
    return std::move(out_);
  }

 private:
  void add(const CounterSeries::Line& line, std::map<uint32_t, Fields>& switches) {
    const std::optional<SaiNumber> sai = sai_number(line.row->sonic);
    if (!sai || line.row->at != Counts::kPort) return;
    uint32_t object = line.port.port.value;
    if (sai->object_type == kSaiQueue) object = object * kQueuesOfPort + queue_of(*line.row);
    if (object + 1 >= kEnterpriseBit) return;  // more objects than an element's number has room for
    const Field field{static_cast<uint16_t>(kEnterpriseBit | (object + 1)),
                      uint32_t{sai->object_type} << 16 | sai->statistic};
    std::vector<uint64_t>& values = switches[line.port.node.value][field];
    names_[{line.port.node.value, field}] = {object_name(line, *sai), line.row->sonic};
    values.resize(line.values.size(), 0);
    // SONiC's unit of a pause is a microsecond.
    const uint64_t divisor = line.row->word == "paused_ps" ? 1'000'000 : 1;
    for (size_t i = 0; i < values.size(); ++i) values[i] += line.values[i] / divisor;
  }

  static uint32_t queue_of(const CounterRow& row) {
    return row.word.starts_with("lossless") ? kRoceQueue : kDataQueue;
  }
  static std::string object_name(const CounterSeries::Line& line, const SaiNumber& sai) {
    constexpr uint32_t kLanes = 4;
    const std::string port = fmt::format("Ethernet{}", line.port.port.value * kLanes);
    return sai.object_type == kSaiQueue ? fmt::format("{}|{}", port, queue_of(*line.row)) : port;
  }

  void write_switch(uint32_t node, const Fields& fields) {
    const uint32_t domain = node + 1;
    uint32_t sequence = 0;
    auto first = fields.begin();
    for (uint16_t id = kFirstTemplate; first != fields.end(); ++id) {
      auto end = first;
      for (size_t n = 0; n < kMostFields && end != fields.end(); ++n) ++end;
      std::string set;
      const auto count = static_cast<size_t>(std::distance(first, end));
      put(set, id, 2);
      put(set, count + 1, 2);
      put(set, kObservationTimeNanoseconds, 2);
      put(set, kFieldBytes, 2);
      for (auto at = first; at != end; ++at) {
        put(set, at->first.element, 2);
        put(set, kFieldBytes, 2);
        put(set, at->first.enterprise, 4);
        const auto& [object, statistic] = names_.at({node, at->first});
        out_.objects +=
            fmt::format("{},{},{},{},{},{},{}\n", domain, topology_.node(NodeId{node}).name, id,
                        at->first.element, at->first.enterprise, object, statistic);
      }
      out_.fields += count;
      message(kTemplateSet, set, domain, sequence, FabricTime());
      write_records(id, first, end, domain, sequence);
      first = end;
    }
  }

  void write_records(uint16_t id, Fields::const_iterator first, Fields::const_iterator end,
                     uint32_t domain, uint32_t& sequence) {
    std::string set;
    uint32_t records = 0;
    for (size_t i = 0; i < series_.steps(); ++i) {
      const FabricTime at = series_.step() * static_cast<int64_t>(i);
      put(set, static_cast<uint64_t>(at.ns()), 8);
      for (auto field = first; field != end; ++field) put(set, field->second[i], 8);
      ++records;
      const bool full = set.size() + set.size() / records > kRecordsInMessage;
      if (!full && i + 1 < series_.steps()) continue;
      message(id, set, domain, sequence, at);
      sequence += records;
      out_.records += records;
      set.clear();
      records = 0;
    }
  }

  /// The sequence number is that of the first data record (RFC 7011, section 3.1).
  void message(uint16_t set_id, const std::string& set, uint32_t domain, uint32_t sequence,
               FabricTime at) {
    put(out_.bytes, kVersion, 2);
    put(out_.bytes, kHeaderBytes + kSetBytes + set.size(), 2);
    put(out_.bytes, static_cast<uint64_t>(at.ns() / 1'000'000'000), 4);
    put(out_.bytes, sequence, 4);
    put(out_.bytes, domain, 4);
    put(out_.bytes, set_id, 2);
    put(out_.bytes, kSetBytes + set.size(), 2);
    out_.bytes += set;
    ++out_.messages;
  }

  const CounterSeries& series_;
  const Topology& topology_;
  std::map<std::pair<uint32_t, Field>, std::pair<std::string, std::string_view>> names_;
  IpfixExport out_;
};

}  // namespace

IpfixExport ipfix_of(const CounterSeries& series, const Topology& topology) {
  return IpfixWriter(series, topology).written();
}

}  // namespace mrclab::telemetry
