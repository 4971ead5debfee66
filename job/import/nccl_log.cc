#include "job/import/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "fabric/text/words.h"
#include "job/import/line_words.h"
#include "job/import/measured_processes.h"

namespace mrclab::job {
namespace {

constexpr std::string_view kInfo = " NCCL INFO ";
constexpr size_t kMaxLogLine = size_t{64} << 10;
constexpr size_t kMaxWords = 4 * kMaxRanks;
constexpr size_t kMaxConnections = 1'000'000;
/// Of ncclDataType_t, by its number.
constexpr std::array<uint64_t, 12> kTypeBytes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/// Who wrote a line.
struct Writer {
  std::string host;  ///< with its device, as a process may have several
  uint64_t pid = 0;
  std::string_view text;  ///< behind "NCCL INFO"
};

class NcclLogReader {
 public:
  explicit NcclLogReader(const std::string& name) : name_(name), processes_(name) {}

  NcclLog read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line_;
      if (const auto writer = writer_of(line)) read_text(*writer);
    }
    if (collectives_ == 0) {
      throw InputError(fmt::format(
          "{}: no exchange of {}: expected NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL",
          name_, counted_noun(joined_.size(), "communicator's rank")));
    }
    for (auto& [communicator, ring] : rings_) processes_.set_ring(communicator, ring);
    for (auto& [communicator, next] : next_in_ring_) {
      if (!rings_.contains(communicator)) processes_.set_ring(communicator, chain_of(next));
    }
    NcclLog log{processes_.made(), {}};
    log.notes = notes();
    return log;
  }

 private:
  /// Of a communicator in one process, by its address there.
  using Address = std::tuple<std::string, uint64_t, std::string>;  // host, pid, comm
  struct Joined {
    uint32_t process = 0, communicator = 0;
    uint64_t rank = 0;
  };

  std::optional<Writer> writer_of(std::string_view line) {
    const size_t at = line.find(kInfo);
    if (at == std::string_view::npos) return std::nullopt;
    if (line.size() > kMaxLogLine) fail("a line of more than 64 KiB");
    std::string_view who = line.substr(0, at);
    // A launcher may put a name of its own before each line.
    if (const size_t device = who.rfind(" ["); device != std::string_view::npos) {
      const size_t blank = who.substr(0, device).find_last_of(" \t");
      if (blank != std::string_view::npos) who.remove_prefix(blank + 1);
    }
    const size_t pid = who.find(':'), tid = who.find(':', pid + 1);
    const size_t open = who.find('['), close = who.find(']');
    if (pid == std::string_view::npos || tid == std::string_view::npos) return std::nullopt;
    const auto number = whole_number(who.substr(pid + 1, tid - pid - 1));
    if (!number) return std::nullopt;
    Writer writer{std::string(who.substr(0, std::min<size_t>(pid, kMaxLabel))), *number,
                  line.substr(at + kInfo.size())};
    hosts_.insert(writer.host);
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
      writer.host += who.substr(open, std::min<size_t>(close - open + 1, kMaxLabel));
    }
    return writer;
  }

  std::string_view word(size_t place) const {
    return place < words_.size() ? words_[place] : std::string_view{};
  }
  /// The word behind this one, or "".
  std::string_view behind(std::string_view key) const {
    const auto at = std::find(words_.begin(), words_.end(), key);
    return at == words_.end() || at + 1 == words_.end() ? std::string_view{} : at[1];
  }

  void read_text(const Writer& writer) {
    split_words(writer.text, words_);
    if (words_.size() > kMaxWords) fail("more than 4096 words");
    if (behind("-") == "Init" && words_.back() == "COMPLETE") return read_init(writer);
    if (word(0) == "Channel") return read_channel(writer);
    if (word(0) == "Ring" && word(2) == ":") return read_ring(writer);
    if (word(0) == "Trees" || word(0) == "Tree") ++trees_;
    if (word(1) == "coll" && word(2).starts_with("channels")) {
      if (const auto channels = whole_number(word(0))) channels_.insert(*channels);
    }
    if (word(1) == "opCount" && word(0).ends_with(':')) read_exchange(writer);
  }

  void read_init(const Writer& writer) {
    const auto rank = whole_number(behind("rank")), ranks = whole_number(behind("nranks"));
    const std::string comm(behind("comm"));
    if (comm.empty() || !rank || !ranks || *ranks == 0 || *ranks > kMaxRanks || *rank >= *ranks) {
      fail(fmt::format("expected comm, rank below nranks, and nranks 1 to {}", kMaxRanks));
    }
    // Logs before NCCL 2.14 have no commId: then all communicators of so many ranks are one.
    std::string id(behind("commId"));
    if (id.empty()) id = fmt::format("{} ranks", *ranks);
    Joined joined;
    joined.process = processes_.process(writer.host, writer.pid, line_);
    joined.communicator = processes_.communicator(id, "", *ranks, line_);
    joined.rank = *rank;
    processes_.join(joined.communicator, *rank, joined.process, line_);
    if (joined_.size() >= kMaxConnections) fail("too many communicators");
    joined_[{writer.host, writer.pid, comm}] = joined;
    take_graph(writer, joined);
  }

  /// NCCL logs a communicator's rings before the line with its commId: they go to the next one that this process has.
  void take_graph(const Writer& writer, const Joined& joined) {
    const auto key = std::pair(writer.host, writer.pid);
    if (const auto ring = open_rings_.find(key); ring != open_rings_.end()) {
      rings_.emplace(joined.communicator, std::move(ring->second));
      open_rings_.erase(ring);
    }
    if (const auto next = open_next_.find(key); next != open_next_.end()) {
      next_in_ring_[joined.communicator][next->second.first] = next->second.second;
      open_next_.erase(next);
    }
  }

  /// "Channel 00/02 : 0 1 2", or "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC".
  void read_channel(const Writer& writer) {
    if (word(2) != ":") return;
    if (word(4) == "->") {
      const std::string_view way = behind("via");
      if (way.empty()) return;
      const std::string_view kind = way.substr(0, way.find('/'));
      const bool net = kind == "NET";
      // Both ends of a connection over the network write a line.
      if (net && word(6) == "[receive]") return;
      ways_[net ? std::string(way.substr(0, way.find('/', 4))) : std::string(kind.substr(0, 16))]++;
      if (ways_.size() > kMaxLabel) fail("too many kinds of ways");
      return;
    }
    if (word(1).substr(0, word(1).find('/')) != "00" && !word(1).starts_with("0/")) return;
    std::vector<uint32_t> ring;
    for (size_t i = 3; i < words_.size(); ++i) {
      const auto rank = whole_number(words_[i]);
      if (!rank || *rank >= kMaxRanks || ring.size() == kMaxRanks) {
        fail(fmt::format("expected a ring of ranks 0 to {}", kMaxRanks - 1));
      }
      ring.push_back(static_cast<uint32_t>(*rank));
    }
    if (!ring.empty()) open_rings_[{writer.host, writer.pid}] = std::move(ring);
  }

  /// "Ring 00 : 2 -> 3 -> 4": whom rank 3 sends to.
  void read_ring(const Writer& writer) {
    if (word(1) != "00" || word(4) != "->" || word(6) != "->") return;
    const auto rank = whole_number(word(5)), next = whole_number(word(7));
    if (!rank || !next || *rank >= kMaxRanks || *next >= kMaxRanks) {
      fail(fmt::format("expected ranks 0 to {}", kMaxRanks - 1));
    }
    open_next_[{writer.host, writer.pid}] = {static_cast<uint32_t>(*rank),
                                             static_cast<uint32_t>(*next)};
  }

  static std::vector<uint32_t> chain_of(const std::map<uint32_t, uint32_t>& next) {
    std::vector<uint32_t> chain;
    uint32_t at = next.begin()->first;
    while (chain.size() < next.size() && next.contains(at)) {
      chain.push_back(at);
      at = next.at(at);
    }
    return chain;
  }

  void read_exchange(const Writer& writer) {
    const std::string comm(behind("comm"));
    const auto known = joined_.find({writer.host, writer.pid, comm});
    if (known == joined_.end()) {
      fail("an exchange of a communicator that no line \"Init COMPLETE\" of its process names");
    }
    const Joined& joined = known->second;
    const uint64_t ranks = processes_.ranks_of(joined.communicator);
    const auto count = whole_number(behind("count")), type = whole_number(behind("datatype"));
    const auto root = whole_number(behind("root"));
    if (!count || !type || *type >= kTypeBytes.size() || !root) {
      fail("expected count, datatype 0 to 11 and root");
    }
    if (*count > kMaxMeasuredElements) fail("more than 2^48 elements");
    const MeasuredName is = measured_name(word(0).substr(0, word(0).size() - 1));
    MeasuredProcesses::Record record;
    record.process = joined.process;
    record.communicator = joined.communicator;
    record.line = record.exchange.line = line_;
    MeasuredExchange& exchange = record.exchange;
    exchange.bytes = *count * kTypeBytes[*type];
    if (is.kind == MeasuredKind::kCollective) {
      exchange.collective = is.collective;
      const bool of_a_part = is.collective == Collective::kAllGather ||
                             is.collective == Collective::kReduceScatter ||
                             is.collective == Collective::kAllToAll;
      if (of_a_part) exchange.bytes *= ranks;
      if (is.collective == Collective::kBroadcast) {
        if (*root >= ranks) fail("root is no rank of the communicator");
        exchange.root = static_cast<uint32_t>(*root);
      }
      record.number = ++numbers_[{joined.process, joined.communicator}];
    } else if (is.kind == MeasuredKind::kSend || is.kind == MeasuredKind::kReceive) {
      exchange.what = is.kind == MeasuredKind::kSend ? MeasuredExchange::What::kSend
                                                     : MeasuredExchange::What::kReceive;
      if (*root >= ranks) fail("the peer is no rank of the communicator");
      exchange.ranks = {static_cast<uint32_t>(*root)};
    } else {
      return processes_.leave_out(joined.process);
    }
    ++collectives_;
    processes_.add(std::move(record));
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    std::set<uint32_t> communicators;
    for (const auto& [address, joined] : joined_) communicators.insert(joined.communicator);
    notes.push_back(fmt::format("{} on {}", counted_noun(communicators.size(), "communicator"),
                                counted_noun(hosts_.size(), "host")));
    std::string text;
    if (!channels_.empty()) {
      text = fmt::format("{} channels of collectives", *channels_.rbegin());
    }
    const size_t rings = rings_.size() + next_in_ring_.size();
    if (rings > 0)
      text += (text.empty() ? "" : ", ") + std::string("rings in the order of the log");
    if (trees_ > 0) text += (text.empty() ? "" : ", ") + std::string("trees as well");
    if (!text.empty()) notes.push_back(text);
    std::string ways;
    for (const auto& [way, count] : ways_) {
      ways += (ways.empty() ? "" : ", ") + counted_noun(count, "connection") + " by " + way;
    }
    if (!ways.empty()) notes.push_back(ways);
    return notes;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  const std::string& name_;
  uint32_t line_ = 0;
  MeasuredProcesses processes_;
  std::vector<std::string_view> words_;  ///< what read_text() looks at
  std::map<Address, Joined> joined_;
  std::map<std::pair<std::string, uint64_t>, std::vector<uint32_t>> open_rings_;
  std::map<std::pair<std::string, uint64_t>, std::pair<uint32_t, uint32_t>> open_next_;
  std::map<uint32_t, std::vector<uint32_t>> rings_;  ///< by communicator
  std::map<uint32_t, std::map<uint32_t, uint32_t>> next_in_ring_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> numbers_;  ///< by process and communicator
  std::map<std::string, uint64_t> ways_;
  std::set<uint64_t> channels_;
  std::set<std::string> hosts_;
  uint64_t trees_ = 0, collectives_ = 0;
};

}  // namespace

bool is_nccl_log(std::string_view text) {
  constexpr size_t kLookedAt = size_t{256} << 10;  // a job prints other things before
  return text.substr(0, kLookedAt).find(kInfo) != std::string_view::npos;
}

NcclLog read_nccl_log(std::string_view text, const std::string& name) {
  return NcclLogReader(name).read(text);
}

}  // namespace mrclab::job
