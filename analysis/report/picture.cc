#include "analysis/report/picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/history/path_wires.h"
#include "analysis/incident/wait_history.h"
#include "analysis/measure/path_states.h"
#include "analysis/report/window_picture.h"
#include "fabric/paths/path_list.h"
#include "fabric/paths/path_pattern.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value, double steps) { return std::round(value * steps) / steps; }
double micros(FabricTime t) { return rounded(t.us(), 1e6); }
Json micros_or_null(FabricTime t) {
  return t == FabricTime::never() ? Json(nullptr) : Json(micros(t));
}

std::string hex_of(Qpn qp) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", qp.value);
  return text;
}

std::string path_name(EntropyValue ev) {
  const auto path = path_of(ev);
  return path ? to_string(*path) : "EV " + std::to_string(ev.value);
}

class Picture {
 public:
  explicit Picture(const PictureInputs& in)
      : in_(in), topology_(in.story.topology), m_(in.story.measurements) {}

  Json draw() const {
    return {{"fabric", topology_.name},
            {"end_us", micros(m_.end)},
            {"rtt_us", micros(m_.base_rtt)},
            {"series", series()},
            {"regions", regions()},
            {"planes", planes()},
            {"evs", evs()},
            {"windows", windows_picture(topology_, in_.story.evidence.events())},
            {"packets", packets()},
            {"story", story()},
            {"waits", waits()},
            {"jobs", jobs()},
            {"pace", pace()}};
  }

 private:
  const PacketHistory& history() const { return in_.story.evidence.packets(); }
  std::string host(uint32_t number) const { return topology_.node(topology_.host(number)).name; }

  Json series() const {
    const FabricTime bin = m_.planes.bin;
    const double gbps = 8e3 / static_cast<double>(std::max<int64_t>(bin.ps(), 1));
    Json goodput = Json::array();
    for (const auto& bins : m_.planes.bytes) {
      Json row = Json::array();
      for (const uint64_t bytes : bins) {
        row.push_back(rounded(static_cast<double>(bytes) * gbps, 100));
      }
      goodput.push_back(std::move(row));
    }
    const size_t bins = m_.planes.bytes.empty() ? 0 : m_.planes.bytes[0].size();
    std::vector<uint64_t> lost(bins), trimmed(bins), again(bins);
    const auto count = [&](std::vector<uint64_t>& into, FabricTime t) {
      const int64_t at = t / bin;
      if (at >= 0 && static_cast<size_t>(at) < bins) ++into[static_cast<size_t>(at)];
    };
    for (const Attempt& attempt : history().attempts()) {
      if (attempt.lost()) count(lost, attempt.ended);
      if (attempt.trimmed && attempt.ended != FabricTime::never()) count(trimmed, attempt.ended);
      if (attempt.attempt > 0) count(again, attempt.start);
    }
    return {{"bin_us", rounded(bin.us(), 1e6)},
            {"planes", std::move(goodput)},
            {"lost", lost},
            {"trimmed", trimmed},
            {"again", again},
            {"unseen", in_.story.evidence.coverage().why(Witness::kPackets)},
            {"queues", queues()}};
  }

  Json queues() const {
    const QueueDepths& depths = in_.queues;
    if (!depths.unknown.empty()) return {{"unknown", depths.unknown}};
    Json rows = Json::array();
    for (const auto& bins : depths.deepest) {
      Json row = Json::array();
      for (const uint64_t bytes : bins) {
        row.push_back(rounded(static_cast<double>(bytes) / 1024, 10));
      }
      rows.push_back(std::move(row));
    }
    Json deep = Json::array();
    for (const QueueDepths::PortBins& port : depths.ports) {
      Json kib = Json::array();
      for (const uint64_t bytes : port.deepest) {
        kib.push_back(rounded(static_cast<double>(bytes) / 1024, 10));
      }
      deep.push_back({{"port", port.port},
                      {"roce", port.roce},
                      {"kib", std::move(kib)},
                      {"trimmed", port.trimmed},
                      {"marked", port.marked}});
    }
    return {{"kib", std::move(rows)}, {"ports", depths.deepest_port}, {"deep", std::move(deep)}};
  }

  /// Where a fault was on, as a whole and by plane.
  Json regions() const {
    Json list = Json::array();
    for (size_t i = 0; i < in_.story.faults.size() && i < kMaxRegionsShown; ++i) {
      const FaultSpan& fault = in_.story.faults[i];
      std::set<uint32_t> planes;
      for (const Impairment& impairment : fault.impairments) {
        planes.insert(topology_.port(topology_.wire(impairment.wire).from).plane);
      }
      list.push_back({{"from_us", micros(fault.start)},
                      {"until_us", micros(std::min(fault.healed_at, m_.end))},
                      {"fault", i},
                      {"label", fault.description},
                      {"planes", planes}});
    }
    return list;
  }

  Json planes() const {
    std::vector<uint64_t> bytes(m_.planes.bytes.size());
    uint64_t all = 0;
    for (size_t p = 0; p < bytes.size(); ++p) {
      for (const uint64_t b : m_.planes.bytes[p]) bytes[p] += b;
      all += bytes[p];
    }
    Json list = Json::array();
    for (size_t p = 0; p < bytes.size(); ++p) {
      const double share =
          all == 0 ? 0 : 100.0 * static_cast<double>(bytes[p]) / static_cast<double>(all);
      list.push_back({{"plane", p}, {"bytes", bytes[p]}, {"share", rounded(share, 1e4)}});
    }
    return list;
  }

  /// The ends whose states are shown: those that reported anything first, then in the plan's order.
  std::vector<QueuePairName> rows_shown() const {
    std::set<std::pair<uint32_t, Qpn>> spoke;
    for (const PathNews& news : in_.story.evidence.events().paths()) {
      spoke.insert({news.host, news.qp});
    }
    std::vector<QueuePairName> rows;
    for (const QueuePairName& name : in_.story.queue_pairs) {
      if (!name.roce) rows.push_back(name);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      return spoke.contains({a.host, a.qp}) > spoke.contains({b.host, b.qp});
    });
    if (rows.size() > kMaxRowsShown) rows.resize(kMaxRowsShown);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.host < b.host; });
    return rows;
  }

  /// Ends of MRC's queue pairs: those of RC keep to one path.
  size_t spraying_pairs() const {
    const auto& all = in_.story.queue_pairs;
    return static_cast<size_t>(std::count_if(all.begin(), all.end(),
                                             [](const QueuePairName& name) { return !name.roce; }));
  }

  Json evs() const {
    const std::vector<QueuePairName> names = rows_shown();
    std::vector<Path> paths;
    for (const Path path : all_paths(topology_)) {
      const bool used = std::any_of(names.begin(), names.end(), [&](const QueuePairName& n) {
        return has_path(topology_, n.host, n.peer, path);
      });
      if (used) paths.push_back(path);
    }
    Json columns = Json::array(), rows = Json::array(), states = Json::array();
    std::vector<std::string> path_names;
    for (const Path path : paths) {
      path_names.push_back(to_string(path));
      columns.push_back({{"path", to_string(path)}, {"plane", path.plane}});
    }
    std::map<std::pair<uint32_t, Qpn>, size_t> row_of;
    for (const QueuePairName& n : names) {
      row_of[{n.host, n.qp}] = rows.size();
      rows.push_back({{"host", host(n.host)},
                      {"qp", hex_of(n.qp)},
                      {"peer", host(n.peer)},
                      {"local", has_path(topology_, n.host, n.peer, {0, kT0LocalUplink})}});
    }
    for (const std::string_view word : kPathWords) states.push_back(word);
    Json changes = Json::array();
    uint64_t left_out = 0;
    PathStates known;
    struct Cell {
      std::optional<PathStates::Key> value;  ///< the entropy value that its host reported
      PathWord word = PathWord::kGood;       ///< shown by now
    };
    std::map<std::pair<size_t, size_t>, Cell> cells;  // by row and column
    Json shown_until = nullptr;
    for (const PathNews& news : in_.story.evidence.events().paths()) {
      known.take(news);
      const auto row = row_of.find({news.host, news.qp});
      if (row == row_of.end()) continue;
      const std::string name = news.ev ? path_name(*news.ev) : "";
      for (size_t column = 0; column < paths.size(); ++column) {
        const bool concerned =
            news.ev ? path_names[column] == name : paths[column].plane == news.plane;
        if (!concerned) continue;
        Cell& cell = cells[{row->second, column}];
        if (news.ev) cell.value = PathStates::key_of(news);
        const PathWord own = cell.value ? known.word_of(*cell.value) : PathWord::kGood;
        const bool down = known.plane_down(news.host, news.qp, paths[column].plane);
        const PathWord word = down ? PathWord::kPortDown : own;
        if (word == cell.word) continue;
        cell.word = word;
        if (changes.size() >= kMaxChangesShown) {
          if (++left_out == 1) shown_until = micros(news.t);
          continue;
        }
        changes.push_back({micros(news.t), row->second, column, static_cast<unsigned>(word)});
      }
    }
    return {{"heard", in_.story.evidence.events().heard()},
            {"unseen", in_.story.evidence.coverage().why(Witness::kEvents)},
            {"rows", std::move(rows)},
            {"columns", std::move(columns)},
            {"states", std::move(states)},
            {"changes", std::move(changes)},
            {"left_out", left_out},
            {"shown_until_us", shown_until},
            {"rows_left_out", spraying_pairs() - names.size()},
            {"one_path", in_.story.queue_pairs.size() - spraying_pairs()}};
  }

  Json packets() const {
    const auto& attempts = history().attempts();
    std::vector<uint32_t> chosen;
    uint64_t left_out = 0;
    for (uint32_t a = 0; a < attempts.size(); ++a) {
      if (attempts[a].fate == Fate::kDropped || attempts[a].trimmed) chosen.push_back(a);
    }
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](uint32_t a, uint32_t b) { return attempts[a].ended < attempts[b].ended; });
    if (chosen.size() > kMaxPacketsShown) {
      left_out = chosen.size() - kMaxPacketsShown;
      chosen.resize(kMaxPacketsShown);
    }
    const std::map<uint32_t, uint32_t> next = next_attempts(chosen);
    Json rows = Json::array();
    for (const uint32_t a : chosen) rows.push_back(packet(a, next));
    return {{"rows", std::move(rows)}, {"left_out", left_out}};
  }

  /// The attempt behind each of these, if there was one.
  std::map<uint32_t, uint32_t> next_attempts(const std::vector<uint32_t>& chosen) const {
    const auto& attempts = history().attempts();
    std::map<uint32_t, uint32_t> next;
    for (const uint32_t a : chosen) {
      uint32_t at = history().packets()[attempts[a].packet].last;
      while (at != Attempt::kNone && attempts[at].previous != a) at = attempts[at].previous;
      if (at != Attempt::kNone) next[a] = at;
    }
    return next;
  }

  Json packet(uint32_t number, const std::map<uint32_t, uint32_t>& next) const {
    const Attempt& attempt = history().attempts()[number];
    const Packet& packet = history().packets()[attempt.packet];
    const Flow& flow = history().flows()[packet.flow];
    Json again = nullptr, again_path = nullptr;
    if (const auto found = next.find(number); found != next.end()) {
      const Attempt& second = history().attempts()[found->second];
      again = micros(second.start);
      again_path = path_name(second.ev);
    }
    const bool trimmed = attempt.trimmed && attempt.fate != Fate::kDropped;
    return {{"t_us", micros_or_null(attempt.ended)},
            {"what", trimmed             ? "trimmed"
                     : attempt.refused() ? "refused"
                                         : "lost"},
            {"cause", trimmed ? "queue" : std::string(name_of(attempt.cause))},
            {"where", place(attempt)},
            {"source", host(flow.source)},
            {"destination", host(flow.destination)},
            {"qp", hex_of(flow.destination_qp)},
            {"psn", packet.psn.value()},
            {"path", path_name(attempt.ev)},
            {"attempt", attempt.attempt},
            {"sent_us", micros(attempt.start)},
            {"again_us", again},
            {"again_path", again_path},
            {"delivered_us", micros_or_null(packet.delivered)}};
  }

  std::string place(const Attempt& attempt) const {
    const PortRef where = attempt.where;
    if (where.node.value >= topology_.nodes.size()) return "";
    if (where.port.value >= topology_.node(where.node).ports.size()) return "";
    return topology_.port_name(where);
  }

  Json story() const {
    Json lines = Json::array();
    for (const StoryLine& line : write_story(in_.story)) {
      Json links = Json::array();
      for (const uint32_t a : line.attempts) {
        const Packet& packet = history().packets()[history().attempts()[a].packet];
        const Flow& flow = history().flows()[packet.flow];
        links.push_back({hex_of(flow.destination_qp), packet.psn.value()});
      }
      lines.push_back({{"t_us", micros(line.t)},
                       {"kind", line.kind},
                       {"text", line.text},
                       {"packets", std::move(links)}});
    }
    return lines;
  }

  Json waits() const {
    Json list = Json::array();
    for (const WaitSpan& span : in_.story.waits) {
      Json chain = Json::array();
      for (const uint32_t number : span.wait.chain) chain.push_back(host(number));
      list.push_back({{"from_us", micros(span.from)},
                      {"until_us", micros(span.until)},
                      {"host", host(span.wait.host)},
                      {"chain", std::move(chain)},
                      {"text", to_string(topology_, span.wait)}});
    }
    return list;
  }

  Json jobs() const {
    Json list = Json::array();
    for (const JobResult& job : in_.jobs) {
      Json groups = Json::array({"computing"}), ops = Json::array();
      for (const std::string& group : job.groups) groups.push_back(group);
      const size_t shown = std::min(job.ops.size(), kMaxJobOps);
      for (const JobOp& op : std::span(job.ops).first(shown)) {
        const auto group = std::find(job.groups.begin(), job.groups.end(), op.group);
        ops.push_back({op.rank, op.step, micros(op.begin), micros(std::min(op.end, m_.end)),
                       op.group.empty() ? 0 : 1 + (group - job.groups.begin())});
      }
      list.push_back({{"name", job.name},
                      {"groups", std::move(groups)},
                      {"ops", std::move(ops)},
                      {"left_out", job.ops_left_out + job.ops.size() - shown}});
    }
    return list;
  }

  Json pace() const {
    Json list = Json::array();
    const size_t step = in_.pace.size() / kMaxPaceShown + 1;
    for (size_t i = 0; i < in_.pace.size(); i += step) {
      const PacePoint& p = in_.pace[i];
      const Json dilation = p.dilation > 0 ? Json(rounded(p.dilation, 1)) : Json(nullptr);
      const Json slack =
          p.slack_ns ? Json(rounded(static_cast<double>(*p.slack_ns) / 1e6, 1e3)) : Json(nullptr);
      list.push_back({micros(p.t), dilation, slack, p.slack_of});
    }
    return list;
  }

  const PictureInputs& in_;
  const Topology& topology_;
  const Measurements& m_;
};

}  // namespace

std::string picture_of(const PictureInputs& in) {
  return Picture(in).draw().dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mrclab::analysis
