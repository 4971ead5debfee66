#include "job/measure/op_times_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>

#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/text/input_error.h"
#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::job {
namespace {

constexpr std::string_view kTimesMagic = "mrcopt01";
constexpr size_t kTimesHeadBytes = 8 + 8 + 4 + 8 + 4 + 8 + 2;
constexpr size_t kTimeBytes = 24;
constexpr size_t kCrcBytes = 4;
/// Later than any run ends, and far enough from never() that sums of two fit.
constexpr FabricTime kLatestTime = FabricTime::from_ps(int64_t{1} << 61);

template <std::unsigned_integral T>
void put_field(std::string& bytes, T value) {
  std::array<uint8_t, sizeof value> raw{};
  store_be<T>(raw.data(), value);
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
}
void put_field(std::string& bytes, FabricTime t) {
  put_field(bytes, static_cast<uint64_t>(t.ps()));
}

/// Takes fields from the front; the caller has checked that they are there.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  template <std::unsigned_integral T>
  T number() {
    const T value = load_be<T>(reinterpret_cast<const uint8_t*>(rest_.data()));
    rest_.remove_prefix(sizeof value);
    return value;
  }
  FabricTime time() { return FabricTime::from_ps(static_cast<int64_t>(number<uint64_t>())); }
  std::string_view text(size_t bytes) {
    const std::string_view text = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return text;
  }

 private:
  std::string_view rest_;
};

bool is_time(FabricTime t) {
  return t == FabricTime::never() || (t >= FabricTime::zero() && t <= kLatestTime);
}

/// What keeps this from being what happened to operation `op`; empty: nothing.
std::string_view fault_of(const OpTime& time, uint32_t op, const RankTimes& rank,
                          const JobProgram& program) {
  if (!is_time(time.begin) || !is_time(time.end)) return "a time that is none";
  if (time.end != FabricTime::never() &&
      (time.begin == FabricTime::never() || time.end < time.begin)) {
    return "an end before its begin";
  }
  if (time.begun_by != kNoOp) {
    if (time.begun_by >= program.graph().ops().size() || time.begun_by == op ||
        program.graph().op(time.begun_by).rank != rank.rank) {
      return "begun by an operation that is none of this rank";
    }
    const OpTime& before = rank.times[program.place(time.begun_by)];
    if (time.begin != FabricTime::never() && before.begin > time.begin) {
      return "begun by an operation that began later";
    }
  }
  if (time.ended_by != kNoOp &&
      (program.graph().op(op).kind != OpKind::kReceive || time.ended_by != program.partner(op))) {
    return "ended by an operation that is not its send";
  }
  return {};
}

}  // namespace

uint64_t fingerprint_of(const OpGraph& graph) {
  uint64_t hash = mix64(graph.ranks());
  const auto add = [&](uint64_t value) { hash = mix64(hash ^ value); };
  for (const Op& op : graph.ops()) {
    add(uint64_t{op.rank} << 32 | uint64_t{op.lane} << 16 | static_cast<uint64_t>(op.kind) << 8 |
        static_cast<uint64_t>(op.collective));
    add(uint64_t{op.peer} << 32 | op.tag);
    add(op.bytes);
    add(static_cast<uint64_t>(op.duration.ps()));
    add(static_cast<uint64_t>(op.not_before.ps()));
    for (const Dependency& dependency : graph.dependencies(op)) {
      add(uint64_t{dependency.op} << 1 | (dependency.on_start ? 1 : 0));
    }
  }
  return hash;
}

std::string op_times_bytes(const RankTimes& rank, const JobProgram& program) {
  assert(rank.times.size() == program.ops_of(rank.rank).size());
  const std::string_view reason = std::string_view(rank.died).substr(0, kMaxDeathText);
  std::string bytes(kTimesMagic);
  bytes.reserve(kTimesHeadBytes + reason.size() + rank.times.size() * kTimeBytes + kCrcBytes);
  put_field(bytes, fingerprint_of(program.graph()));
  put_field(bytes, rank.rank);
  put_field(bytes, rank.origin);
  put_field(bytes, static_cast<uint32_t>(rank.times.size()));
  put_field(bytes, rank.died_at);
  put_field(bytes, static_cast<uint16_t>(reason.size()));
  bytes += reason;
  for (const OpTime& time : rank.times) {
    put_field(bytes, time.begin);
    put_field(bytes, time.end);
    put_field(bytes, time.begun_by);
    put_field(bytes, time.ended_by);
  }
  put_field(bytes, checksum(0, std::string_view(bytes)));
  return bytes;
}

RankTimes parse_op_times(std::string_view bytes, const std::string& name,
                         const JobProgram& program) {
  const auto fail = [&](const std::string& what) { throw InputError(name + ": " + what); };
  if (bytes.size() < kTimesHeadBytes + kCrcBytes || !bytes.starts_with(kTimesMagic)) {
    fail(fmt::format("found \"{}\": expected the times of a job's rank (\"{}\"), whole",
                     visible(bytes.substr(0, kTimesMagic.size())), kTimesMagic));
  }
  const std::string_view covered = bytes.substr(0, bytes.size() - kCrcBytes);
  if (Fields(bytes.substr(covered.size())).number<uint32_t>() != checksum(0, covered)) {
    fail("the checksum does not fit: the file is cut or damaged");
  }
  Fields fields(covered.substr(kTimesMagic.size()));
  if (fields.number<uint64_t>() != fingerprint_of(program.graph())) {
    fail("times of another job: the scenario or its seed has changed since");
  }
  RankTimes rank;
  rank.rank = fields.number<uint32_t>();
  rank.origin = fields.time();
  const auto ops = fields.number<uint32_t>();
  rank.died_at = fields.time();
  const auto reason = fields.number<uint16_t>();
  if (rank.rank >= program.graph().ranks()) fail(fmt::format("rank {} is none", rank.rank));
  const std::span<const uint32_t> own = program.ops_of(rank.rank);
  if (ops != own.size() || reason > kMaxDeathText ||
      covered.size() != kTimesHeadBytes + reason + ops * kTimeBytes) {
    fail(fmt::format("{} operations in {} bytes: rank {} has {}", ops, bytes.size(), rank.rank,
                     own.size()));
  }
  if (rank.origin < FabricTime::zero() || rank.origin > kLatestTime || !is_time(rank.died_at)) {
    fail("a time that is none");
  }
  rank.died = fields.text(reason);
  rank.times.resize(ops);
  for (OpTime& time : rank.times) {
    time.begin = fields.time();
    time.end = fields.time();
    time.begun_by = fields.number<uint32_t>();
    time.ended_by = fields.number<uint32_t>();
  }
  for (size_t i = 0; i < own.size(); ++i) {
    const std::string_view fault = fault_of(rank.times[i], own[i], rank, program);
    if (!fault.empty()) fail(fmt::format("{}: {}", program.graph().text_of(own[i]), fault));
  }
  return rank;
}

void write_op_times(const std::filesystem::path& file, const RankTimes& rank,
                    const JobProgram& program) {
  std::ofstream out(file, std::ios::binary);
  out << op_times_bytes(rank, program) << std::flush;
  if (!out) throw InputError(fmt::format("{}: cannot be written", file.string()));
}

RankTimes read_op_times(const std::filesystem::path& file, const JobProgram& program) {
  require_input_file(file);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be read", file.string()));
  const size_t most =
      kTimesHeadBytes + kMaxDeathText + program.graph().ops().size() * kTimeBytes + kCrcBytes;
  return parse_op_times(read_at_most(in, most + 1), file.string(), program);
}

OpTimes joined_times(std::span<const RankTimes> ranks, const JobProgram& program) {
  OpTimes all(program.graph().ops().size());
  std::vector<bool> seen(program.graph().ranks());
  FabricTime first = FabricTime::never();
  for (const RankTimes& rank : ranks) first = std::min(first, rank.origin);
  for (const RankTimes& rank : ranks) {
    if (seen[rank.rank]) throw InputError(fmt::format("times of rank {} twice", rank.rank));
    seen[rank.rank] = true;
    const std::span<const uint32_t> own = program.ops_of(rank.rank);
    const FabricTime late = rank.origin - first;
    for (size_t i = 0; i < own.size(); ++i) {
      OpTime& time = all[own[i]];
      time = rank.times[i];
      if (time.begin != FabricTime::never()) time.begin += late;
      if (time.end != FabricTime::never()) time.end += late;
    }
  }
  return all;
}

}  // namespace mrclab::job
