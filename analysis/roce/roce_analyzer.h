#pragma once
// Packets of RoCEv2 in the order of time in, RoceTraffic out, in one pass. State is kept per flow and place, and per packet
// for the last of each flow; every table has a bound.

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/capture/link_layer.h"
#include "analysis/roce/roce_traffic.h"
#include "analysis/roce/traffic_filter.h"

namespace mrclab::analysis {

struct RoceSighting {
  RoceFrame frame;
  FabricTime t;
  uint32_t point = 0;
  uint16_t feed = 0;
  WireEnd end = WireEnd::kUnknown;
  bool dropped = false;
  DropCause cause = DropCause::kNone;
};

class RoceAnalyzer {
 public:
  explicit RoceAnalyzer(TrafficFilter filter) : filter_(std::move(filter)) {}
  /// In any order that is off by no more than kWindow records.
  void add(const RoceSighting& s);
  RoceTraffic finish();

 private:
  static constexpr size_t kWindow = 1u << 12, kMaxPlaces = 6, kMaxAttempts = 1u << 12;
  static constexpr size_t kMaxAttemptsOfAll = 1u << 21, kMaxFlowsBetween = 256;
  static constexpr uint32_t kNone = RoceFlow::kNone;

  enum class Fate : uint8_t {
    kUnknown,
    kLost,
    kRefused,
    kTaken
  };  ///< in this order: the later one of two counts
  /// One transmission of a request. What became of it is judged twice, by arrivals and by answers, because only the end of
  /// the capture shows whether a second place saw all of the flow.
  struct Attempt {
    int64_t number = 0, sent = 0;
    uint32_t bytes = 0;
    uint32_t later = kNone;  ///< the next attempt of the same packet
    Fate by_arrival = Fate::kUnknown, by_answer = Fate::kUnknown;
    Fate before_by_arrival = Fate::kUnknown, before_by_answer = Fate::kUnknown;
    RoceCause cause = RoceCause::kTimer;
    RoceLossSign sign = RoceLossSign::kTimer;  ///< of by_answer
    DropCause drop = DropCause::kNone;
    bool again = false, begins_round = false;
  };
  struct Verdict {
    uint64_t lost = 0, open = 0, needed = 0, gone_back = 0, needless = 0, need_unknown = 0;
    uint64_t delivered = 0, bytes = 0;
  };
  /// What one place shows of a flow.
  struct Place {
    uint32_t point = 0;
    uint8_t hop_limit = 0;
    int rank = 0;                         ///< lower is nearer to the sender
    int64_t highest = -1, previous = -1;  ///< PSNs of requests as numbers that do not wrap
    int64_t response = -1;                ///< of the last response
    std::array<std::pair<uint64_t, int64_t>, 8> recent{};  ///< to notice copies
    size_t recent_at = 0;
    uint64_t requests = 0, acks = 0, naks = 0, not_ready = 0, refusals = 0, cnps = 0, marked = 0;
    uint64_t responses = 0, response_bytes = 0, responses_lost = 0;
  };
  struct State {
    std::vector<Place> places;
    size_t up = kNone, down = kNone;  ///< where requests were seen first and last on their way
    std::deque<Attempt> attempts;
    uint32_t base = 0;            ///< attempts that were judged and are gone
    uint32_t open_from = 0;       ///< no earlier attempt waits for an answer
    int64_t newest_arrived = -1;  ///< counted as attempts are, from the first one
    int64_t longest_way = 0;      ///< from the first place to the last, ps
    int64_t expected = -1;        ///< what the receiver takes next, by arrivals
    int64_t acknowledged = -1,
            timed = -1;  ///< `timed`: no earlier packet's round trip counts any more
    std::optional<int64_t> nak, not_ready;
    std::deque<int64_t>
        skipped;  ///< numbers that were skipped at the first place and have not come since
    uint64_t skips = 0;
    int64_t last_sent = -1, read_number = -1, least_rtt = 0;
    uint32_t read_length = 0, mtu = 0;
    size_t round = kNone;  ///< index into rounds
    RoceCause cause = RoceCause::kTimer;
    Verdict arrivals, answers;
  };

  void emit(size_t count);
  void take(const RoceSighting& s);
  bool wanted(const RoceSighting& s) const;
  bool is_repeat(const RoceSighting& s);
  uint32_t flow_of(const RoceFrame& f);
  size_t place_of(State& state, const RoceSighting& s);
  static bool is_copy(Place& place, const RoceSighting& s);
  void on_cm(const RoceFrame& f);
  void on_drop(const RoceSighting& s, uint32_t flow);
  void on_datagram(const RoceSighting& s, uint32_t flow);
  void take_back(uint32_t flow, int64_t number, RoceLossSign sign);

  // roce_requests.cc
  void on_request(const RoceSighting& s, uint32_t flow, size_t place);
  void set_ends(State& state);
  void on_sent(const RoceSighting& s, uint32_t flow, int64_t number);
  bool came_late(const RoceSighting& s, uint32_t flow, int64_t number);
  void skip(const RoceSighting& s, uint32_t flow, int64_t number);
  void begin_round(const RoceSighting& s, uint32_t flow, int64_t number);
  void on_arrived(const RoceSighting& s, uint32_t flow, int64_t number);
  uint32_t attempt_arriving(const State& state, int64_t number, int64_t t) const;
  int64_t packets_of(State& state, const RoceFrame& f, int64_t number) const;
  void judge_front(uint32_t flow);
  void judge(uint32_t flow, const Attempt& attempt, Fate fate, Fate before, bool by_arrivals);

  // roce_answers.cc
  void on_answer(const RoceSighting& s, uint32_t flow, size_t place);
  void acknowledge(const RoceSighting& s, uint32_t data, int64_t number, bool near);
  void refuse_from(State& state, int64_t number, bool missing);
  uint32_t data_of(const RoceFrame& f, uint32_t flow);
  void pair(uint32_t one, uint32_t other);
  void take_rtt(uint32_t data, int64_t ps);

  RoceTraffic filtered();
  void sum_up(uint32_t flow);
  void add_loss(const RoceLoss& loss);
  static int64_t number_near(int64_t near, Psn psn);

  TrafficFilter filter_;
  RoceTraffic traffic_;
  std::vector<State> states_;
  std::vector<RoceSighting> waiting_, instant_;
  std::map<std::tuple<Ipv6Address, Ipv6Address, uint64_t>, uint32_t> index_;
  std::map<std::pair<Ipv6Address, Ipv6Address>, std::vector<uint32_t>> between_;
  struct CmEnd {
    Ipv6Address source{}, destination{};
    Qpn qp;
  };
  static constexpr size_t kMaxCm = 1u << 14;
  std::map<std::pair<Ipv6Address, uint32_t>, CmEnd>
      cm_requests_;  ///< by who asked, and its number of the connection
  /// A queue pair that sends datagrams.
  struct DatagramSender {
    int64_t highest = -1;
    std::deque<std::pair<int64_t, uint32_t>> missing;  ///< with the flow in front of which it is
  };
  std::map<std::pair<Ipv6Address, uint32_t>, DatagramSender> senders_;
  size_t attempts_ = 0;
};

}  // namespace mrclab::analysis
