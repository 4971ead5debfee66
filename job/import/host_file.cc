#include "job/import/host_file.h"

#include <algorithm>
#include <map>
#include <optional>

#include "fabric/text/words.h"
#include "job/graph/op_graph.h"
#include "job/import/line_words.h"

namespace mrclab::job {
namespace {

constexpr size_t kMaxDigits = 9;
constexpr size_t kMaxBrackets = 8;  ///< in the name of one host; our choice

bool is_host_name(std::string_view text) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !text.empty() && text.size() <= kMaxHostName &&
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

std::optional<uint32_t> small_number(std::string_view text) {
  const auto value = whole_number(text);
  if (!value || text.size() > kMaxDigits) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

/// Takes `prefix` off the front.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

class HostFileReader {
 public:
  HostFileReader(std::string_view text, const std::string& name) : lines_(text, name), name_(name) {
    if (text.size() > kMaxHostFileBytes) throw InputError(name + ": more than 1 MiB");
  }

  std::vector<PlacedRank> read(HostFileFormat format) {
    while (lines_.next()) {
      words_.clear();
      for (const std::string_view word : lines_.words()) {
        const size_t comment = word.find('#');
        if (comment != 0) words_.push_back(word.substr(0, comment));
        if (comment != std::string_view::npos) break;
      }
      if (words_.empty()) continue;
      switch (format) {
        case HostFileFormat::kHostfile: read_slots(); break;
        case HostFileFormat::kRankfile: read_rank(); break;
        case HostFileFormat::kSlurm: read_slurm(); break;
      }
    }
    if (format == HostFileFormat::kHostfile) fill(hosts_, slots_);
    if (format == HostFileFormat::kRankfile) order_ranks();
    if (format == HostFileFormat::kSlurm) place_tasks();
    if (ranks_.empty()) throw InputError(name_ + ": no ranks: expected at least one host");
    return std::move(ranks_);
  }

 private:
  [[noreturn]] void expect(const std::string& what) const { lines_.fail("expected " + what); }

  std::string host_of(std::string_view text) const {
    if (!is_host_name(text)) {
      expect("a host's name of at most " + std::to_string(kMaxHostName) +
             " letters, digits, dots, dashes and underscores");
    }
    return std::string(text);
  }

  void add_rank(PlacedRank rank) {
    if (ranks_.size() == kMaxRanks) {
      throw InputError(name_ + ":" + std::to_string(rank.line) + ": more than " +
                       std::to_string(kMaxRanks) + " ranks");
    }
    ranks_.push_back(std::move(rank));
  }

  /// One host after the other; each has as many ranks as slots.
  void fill(const std::vector<PlacedRank>& hosts, const std::vector<uint32_t>& slots) {
    for (size_t i = 0; i < hosts.size(); ++i) {
      for (uint32_t slot = 0; slot < slots[i]; ++slot) add_rank(hosts[i]);
    }
  }

  void read_slots() {
    std::string_view name = words_[0];
    if (const size_t user = name.find('@'); user != std::string_view::npos) {
      name.remove_prefix(user + 1);
    }
    uint32_t slots = 1;
    std::optional<uint32_t> most;
    for (size_t i = 1; i < words_.size(); ++i) {
      std::string_view word = words_[i];
      const bool bound = take_prefix(word, "max_slots=") || take_prefix(word, "max-slots=");
      if (!bound && !take_prefix(word, "slots=")) expect("\"HOST slots=N max_slots=N\"");
      const auto count = small_number(word);
      if (!count || *count == 0 || *count > kMaxRanks) {
        expect("1 to " + std::to_string(kMaxRanks) + " slots");
      }
      if (bound) {
        most = count;
      } else {
        slots = *count;
      }
    }
    if (most && *most < slots) expect("no more slots than max_slots");
    const std::string host = host_of(name);
    const auto [known, is_new] = place_of_.emplace(host, hosts_.size());
    if (is_new) {
      hosts_.push_back({host, lines_.number()});
      slots_.push_back(slots);
    } else {
      slots_[known->second] = std::min(slots_[known->second] + slots, kMaxRanks + 1);
    }
  }

  /// "rank 3=h1 slot=0:1"; on which cores a rank is pinned matters to no fabric.
  void read_rank() {
    const std::string_view pair = words_.size() > 1 ? words_[1] : std::string_view{};
    const size_t equals = pair.find('=');
    if (words_.size() != 3 || words_[0] != "rank" || equals == std::string_view::npos ||
        !words_[2].starts_with("slot=") || words_[2].size() == 5) {
      expect("\"rank R=HOST slot=S\"");
    }
    const auto rank = small_number(pair.substr(0, equals));
    if (!rank || *rank >= kMaxRanks) expect("a rank below " + std::to_string(kMaxRanks));
    if (pair.substr(equals + 1).starts_with('+')) {
      expect("a host's name: the order that +n0 counts in stands in another file");
    }
    const PlacedRank placed{host_of(pair.substr(equals + 1)), lines_.number()};
    if (const auto [first, is_new] = by_rank_.emplace(*rank, placed); !is_new) {
      lines_.fail("rank " + std::to_string(*rank) + " again: line " +
                  std::to_string(first->second.line) + " has it");
    }
  }
  void order_ranks() {
    for (const auto& [rank, placed] : by_rank_) {
      if (rank != ranks_.size()) {
        throw InputError(name_ + ": no rank " + std::to_string(ranks_.size()) +
                         ": expected each from 0 to the last");
      }
      add_rank(placed);
    }
  }

  void read_slurm() {
    if (words_[0] == "export") words_.erase(words_.begin());
    if (words_.size() != 1) expect("a hostlist, or a variable of a job, a line");
    std::string_view text = words_[0];
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      if (has_nodelist_) expect("either hostlists or variables");
      return read_hostlist(text);
    }
    const std::string_view variable = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
      text = text.substr(1, text.size() - 2);
    }
    if (!variable.starts_with("SLURM_")) expect("SLURM_JOB_NODELIST=...");
    if (variable == "SLURM_JOB_NODELIST" || variable == "SLURM_STEP_NODELIST" ||
        variable == "SLURM_NODELIST") {
      std::vector<PlacedRank> before;
      std::swap(before, hosts_);
      read_hostlist(text);
      // A job's environment has the same list by two names.
      if (has_nodelist_ && names_of(before) != names_of(hosts_)) {
        expect("the hosts of the other variable");
      }
      if (!has_nodelist_ && !before.empty()) expect("either hostlists or variables");
      has_nodelist_ = true;
    } else if (variable == "SLURM_TASKS_PER_NODE" || variable == "SLURM_STEP_TASKS_PER_NODE") {
      read_tasks(text);
    }
  }

  static std::vector<std::string> names_of(const std::vector<PlacedRank>& hosts) {
    std::vector<std::string> names;
    names.reserve(hosts.size());
    for (const PlacedRank& host : hosts) names.push_back(host.host);
    return names;
  }

  /// "2(x3),1": two tasks on each of three hosts, one on the fourth.
  void read_tasks(std::string_view text) {
    slots_.clear();
    for (bool more = true; more;) {
      const size_t comma = text.find(',');
      std::string_view item = text.substr(0, comma);
      more = comma != std::string_view::npos;
      if (more) text.remove_prefix(comma + 1);
      std::optional<uint32_t> times = 1;
      if (const size_t open = item.find("(x"); open != std::string_view::npos) {
        if (!item.ends_with(')')) expect("counts such as 2(x3),1");
        times = small_number(item.substr(open + 2, item.size() - open - 3));
        item = item.substr(0, open);
      }
      const auto tasks = small_number(item);
      if (!tasks || !times || *tasks == 0 || *times == 0 || *tasks > kMaxRanks ||
          slots_.size() + *times > kMaxRanks) {
        expect("counts such as 2(x3),1, of at most " + std::to_string(kMaxRanks) + " hosts");
      }
      slots_.insert(slots_.end(), *times, *tasks);
    }
    tasks_line_ = lines_.number();
  }

  void place_tasks() {
    if (tasks_line_ == 0) slots_.assign(hosts_.size(), 1);
    if (slots_.size() != hosts_.size()) {
      throw InputError(name_ + ":" + std::to_string(tasks_line_) + ": tasks of " +
                       std::to_string(slots_.size()) + " hosts: the hostlist has " +
                       std::to_string(hosts_.size()));
    }
    fill(hosts_, slots_);
  }

  /// Commas within brackets do not separate.
  void read_hostlist(std::string_view text) {
    size_t from = 0, depth = 0;
    for (size_t at = 0; at <= text.size(); ++at) {
      const char c = at < text.size() ? text[at] : ',';
      if (c == '[' && depth++ > 0) expect("no bracket within brackets");
      if (c == ']' && depth-- == 0) expect("a [ before each ]");
      if (c != ',' || (depth > 0 && at < text.size())) continue;
      if (depth > 0) expect("a ] behind each [");
      add_hosts("", text.substr(from, at - from), 0);
      from = at + 1;
    }
  }

  /// `before` and all that the rest of a name stands for; the last bracket counts fastest.
  void add_hosts(const std::string& before, std::string_view rest, size_t brackets) {
    const size_t open = rest.find('[');
    if (open == std::string_view::npos) {
      if (hosts_.size() == kMaxRanks)
        lines_.fail("more than " + std::to_string(kMaxRanks) + " hosts");
      hosts_.push_back({host_of(before + std::string(rest)), lines_.number()});
      return;
    }
    if (brackets == kMaxBrackets)
      lines_.fail("more than " + std::to_string(kMaxBrackets) + " brackets");
    const size_t close = rest.find(']', open);
    const std::string prefix = before + std::string(rest.substr(0, open));
    std::string_view ranges = rest.substr(open + 1, close - open - 1);
    for (bool more = true; more;) {
      const size_t comma = ranges.find(',');
      const std::string_view range = ranges.substr(0, comma);
      more = comma != std::string_view::npos;
      if (more) ranges.remove_prefix(comma + 1);
      const size_t dash = range.find('-');
      const std::string_view low = range.substr(0, dash);
      const auto first = small_number(low);
      const auto last =
          dash == std::string_view::npos ? first : small_number(range.substr(dash + 1));
      if (!first || !last || *last < *first)
        expect("numbers or ranges in brackets, such as [1-3,07]");
      for (uint32_t number = *first; number <= *last; ++number) {
        std::string digits = std::to_string(number);
        if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
        add_hosts(prefix + digits, rest.substr(close + 1), brackets + 1);
      }
    }
  }

  LineWords lines_;
  const std::string& name_;
  std::vector<std::string_view> words_;  ///< in the line that lines_ is at, up to its comment
  std::vector<PlacedRank> ranks_;
  std::vector<PlacedRank> hosts_;  ///< in the order of the file
  std::vector<uint32_t> slots_;    ///< by host
  std::map<std::string, size_t>
      place_of_;  ///< where hosts_ has the host, by name; for a hostfile, which may list it twice
  std::map<uint32_t, PlacedRank>
      by_rank_;                ///< where a rankfile puts it; its lines may have any order
  bool has_nodelist_ = false;  ///< hosts_ are those of a variable
  uint32_t tasks_line_ = 0;    ///< 0: the file has no counts
};

}  // namespace

std::vector<PlacedRank> read_host_file(std::string_view text, HostFileFormat format,
                                       const std::string& name) {
  return HostFileReader(text, name).read(format);
}

}  // namespace mrclab::job
