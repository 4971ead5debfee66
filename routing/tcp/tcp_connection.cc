#include "routing/tcp/tcp_connection.h"

#include <algorithm>
#include <cassert>

#include "routing/base/drop_front.h"

namespace mrclab::routing {

namespace {

constexpr uint32_t kFirstWindowSegments = 10;  // RFC 6928
constexpr uint32_t kDuplicatesForLoss = 3;     // RFC 5681 section 3.2
constexpr uint16_t kLeastMss = 64;  // a smaller one would make a packet of every few octets

}  // namespace

TcpConnection::TcpConnection(const Identity& identity, const TcpParameters& parameters,
                             TcpSequence first, FabricTime now)
    : identity_(identity),
      parameters_(parameters),
      unacknowledged_(first),
      next_(first),
      highest_(first),
      congestion_window_(kFirstWindowSegments * parameters.mss),
      slow_start_threshold_(parameters.send_limit),
      rto_(parameters.rto_first),
      timed_at_(now) {}

TcpConnection TcpConnection::connect(const Identity& identity, const TcpParameters& parameters,
                                     TcpSequence first, FabricTime now) {
  return {identity, parameters, first, now};
}

TcpConnection TcpConnection::accept(const Identity& identity, const TcpParameters& parameters,
                                    TcpSequence first, const TcpSegment& syn, FabricTime now) {
  assert(syn.syn && !syn.ack);
  TcpConnection connection(identity, parameters, first, now);
  connection.on_handshake(syn, now);
  return connection;
}

void TcpConnection::end_as(End end) {
  state_ = State::kClosed;
  end_ = end;
  timer_ = FabricTime::never();
  buffer_.clear();
}

size_t TcpConnection::room() const {
  if (fin_wanted_ || state_ == State::kClosed || state_ == State::kTimeWait) return 0;
  return parameters_.send_limit - std::min<size_t>(buffer_.size(), parameters_.send_limit);
}

void TcpConnection::send(OctetView octets) {
  assert(octets.size() <= room());
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
}

void TcpConnection::close() {
  if (state_ == State::kSynSent) return end_as(End::kByBoth);
  fin_wanted_ = true;
}

void TcpConnection::abort() {
  reset_wanted_ = state_ != State::kClosed && state_ != State::kSynSent;
  end_as(End::kReset);
}

void TcpConnection::consume(size_t octets) {
  assert(octets <= received_.size());
  // A window that was as good as closed is open again: the peer would find out late by itself.
  const bool closed = advertised_window() < parameters_.mss;
  drop_front(received_, octets);
  acknowledge_ |= closed && advertised_window() >= parameters_.mss;
}

uint16_t TcpConnection::advertised_window() const {
  const size_t free = parameters_.window - std::min<size_t>(received_.size(), parameters_.window);
  return static_cast<uint16_t>(std::min<size_t>(free, 0xFFFF));
}

/// RFC 9293 section 3.10.7.4, first step.
bool TcpConnection::acceptable(const TcpSegment& segment) const {
  const int32_t window = advertised_window();
  const int32_t begin = segment.sequence - expected_;
  const auto length = static_cast<int32_t>(segment.length());
  if (length == 0) return begin == 0 || (begin > 0 && begin < window);
  return window > 0 && begin < window && begin + length > 0;
}

/// SYN-SENT, and the SYN that makes a connection.
void TcpConnection::on_handshake(const TcpSegment& segment, FabricTime now) {
  if (segment.ack && segment.acknowledged != highest_) {
    return;  // of an older connection with these ports: its reset is not for us to send
  }
  if (segment.rst) {
    if (segment.ack && highest_ != unacknowledged_) end_as(End::kRefused);
    return;
  }
  if (!segment.syn) return;
  expected_ = segment.sequence + 1;
  if (segment.mss) peer_mss_ = std::max(*segment.mss, kLeastMss);
  peer_window_ = segment.window;
  acknowledge_ = true;
  if (segment.ack && highest_ != unacknowledged_) {
    unacknowledged_ = highest_;
    state_ = State::kEstablished;
    measure(now);
    timer_ = FabricTime::never();
    retries_ = 0;
  } else {
    // The SYN goes (again) with its acknowledgement.
    state_ = State::kSynReceived;
    next_ = unacknowledged_;
  }
}

void TcpConnection::on_segment(const TcpSegment& segment, FabricTime now) {
  if (state_ == State::kClosed) return;
  if (state_ == State::kSynSent) return on_handshake(segment, now);
  if (state_ == State::kSynReceived && segment.syn && !segment.rst &&
      segment.sequence + 1 == expected_) {
    // The peer's SYN again, or its SYN with ACK when both open at once.
    if (segment.ack) on_acknowledgement(segment, now);
    acknowledge_ = true;
    if (state_ == State::kSynReceived) next_ = unacknowledged_;
    return;
  }
  if (!acceptable(segment)) {
    acknowledge_ |= !segment.rst;
    return;
  }
  if (segment.rst) {
    // RFC 5961 section 3: exactly what is expected, or a challenge.
    if (segment.sequence != expected_) {
      acknowledge_ = true;
      return;
    }
    return end_as(state_ == State::kSynReceived ? End::kRefused : End::kReset);
  }
  if (segment.syn) {
    acknowledge_ = true;  // RFC 5961 section 4
    return;
  }
  if (!segment.ack) return;
  on_acknowledgement(segment, now);
  if (state_ == State::kSynReceived || state_ == State::kClosed) return;
  take_payload(segment);
  finish_if_done(now);
}

void TcpConnection::on_acknowledgement(const TcpSegment& segment, FabricTime now) {
  const TcpSequence ack = segment.acknowledged;
  if (highest_.before(ack)) {
    acknowledge_ = true;
    return;
  }
  const int32_t advance = ack - unacknowledged_;
  if (advance < 0) return;
  const bool opened = segment.window > peer_window_;
  peer_window_ = segment.window;
  if (advance == 0) {
    retries_ = peer_window_ == 0 ? 0 : retries_;  // a closed window that is confirmed is no silence
    if (segment.payload.empty() && !opened && flight() > 0) on_duplicate();
    if (opened && flight() == 0) timer_ = FabricTime::never();
    return;
  }
  size_t octets = static_cast<size_t>(advance);
  if (state_ == State::kSynReceived) {
    state_ = State::kEstablished;
    --octets;
  }
  if (fin_sent_ && octets > buffer_.size()) {
    fin_acknowledged_ = true;
    octets = buffer_.size();
  }
  assert(octets <= buffer_.size());
  drop_front(buffer_, octets);
  unacknowledged_ = ack;
  if (next_.before(ack)) next_ = ack;
  const uint32_t mss = peer_mss_;
  congestion_window_ += congestion_window_ < slow_start_threshold_
                            ? std::min<uint32_t>(static_cast<uint32_t>(advance), mss)
                            : std::max<uint32_t>(1, mss * mss / congestion_window_);
  congestion_window_ = std::min(congestion_window_, parameters_.send_limit);
  duplicates_ = 0;
  retries_ = 0;
  probe_ = false;
  measure(now);
  timer_ = FabricTime::never();
  if (unacknowledged_.before(highest_)) arm(now);
}

void TcpConnection::on_duplicate() {
  if (++duplicates_ == kDuplicatesForLoss) {
    slow_start_threshold_ = std::max<uint32_t>(flight() / 2, 2u * peer_mss_);
    congestion_window_ = slow_start_threshold_;
    go_back();
  }
}

void TcpConnection::take_payload(const TcpSegment& segment) {
  if (segment.length() == 0) return;
  acknowledge_ = true;
  const int32_t known = expected_ - segment.sequence;
  if (known < 0 || fin_received_) return;  // a gap; the acknowledgement shows what is missing
  const OctetView fresh =
      segment.payload.subspan(std::min<size_t>(static_cast<size_t>(known), segment.payload.size()));
  const size_t fits = std::min<size_t>(fresh.size(), advertised_window());
  received_.insert(received_.end(), fresh.begin(),
                   fresh.begin() + static_cast<std::ptrdiff_t>(fits));
  expected_ = expected_ + fits;
  if (segment.fin && fits == fresh.size() &&
      expected_ == segment.sequence + segment.payload.size()) {
    expected_ = expected_ + 1;
    fin_received_ = true;
    closed_first_ = fin_sent_;
  }
}

void TcpConnection::finish_if_done(FabricTime now) {
  if (!fin_received_ || !fin_acknowledged_ || state_ == State::kClosed) return;
  if (!closed_first_) return end_as(End::kByBoth);
  state_ = State::kTimeWait;
  timer_ = now + parameters_.time_wait;
}

/// RFC 6298 section 2, with integers: gains of 1/8 and 1/4.
void TcpConnection::measure(FabricTime now) {
  if (!timed_ || unacknowledged_.before(*timed_)) return;
  timed_.reset();
  const FabricTime sample = now - timed_at_;
  if (smoothed_ == FabricTime::zero()) {
    smoothed_ = sample;
    variation_ = sample / 2;
  } else {
    const FabricTime error = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
    variation_ = (variation_ * 3 + error) / 4;
    smoothed_ = (smoothed_ * 7 + sample) / 8;
  }
  rto_ = std::clamp(smoothed_ + variation_ * 4, parameters_.rto_least, parameters_.rto_most);
}

void TcpConnection::arm(FabricTime now) {
  FabricTime wait = rto_;
  for (uint32_t i = 0; i < retries_ && wait < parameters_.rto_most; ++i) wait = wait * 2;
  timer_ = now + std::min(wait, parameters_.rto_most);
}

void TcpConnection::go_back() {
  next_ = unacknowledged_;
  timed_.reset();  // Karn: what is retransmitted is no sample
  timer_ = FabricTime::never();
}

void TcpConnection::on_timer(FabricTime now) {
  if (now < timer_) return;
  timer_ = FabricTime::never();
  if (state_ == State::kTimeWait) return end_as(End::kByBoth);
  if (state_ == State::kClosed) return;
  const bool handshake = state_ != State::kEstablished;
  if (retries_ >= (handshake ? parameters_.syn_retries : parameters_.retries)) {
    reset_wanted_ = state_ == State::kEstablished;
    return end_as(End::kTimedOut);
  }
  ++retries_;
  if (flight() == 0 && peer_window_ == 0) {
    probe_ = true;
    return;
  }
  slow_start_threshold_ = std::max<uint32_t>(flight() / 2, 2u * peer_mss_);
  congestion_window_ = peer_mss_;
  duplicates_ = 0;
  probe_ = peer_window_ == 0;
  go_back();
}

TcpSegment TcpConnection::plain_segment() const {
  TcpSegment segment;
  segment.source_port = identity_.local_port;
  segment.destination_port = identity_.remote_port;
  segment.sequence = next_;
  segment.ack = state_ != State::kSynSent;
  if (segment.ack) segment.acknowledged = expected_;
  segment.window = advertised_window();
  return segment;
}

void TcpConnection::emit(const TcpSegment& segment, std::vector<Octets>& packets) const {
  packets.push_back(
      make_tcp_packet({identity_.local, identity_.remote}, segment, parameters_.traffic_class));
}

void TcpConnection::output_data(FabricTime now, std::vector<Octets>& packets) {
  const uint32_t limit = std::max<uint32_t>(std::min(peer_window_, congestion_window_), probe_);
  const size_t mss = std::min(peer_mss_, parameters_.mss);
  while (!fin_sent_ || next_ != highest_) {
    const uint32_t sent = flight();
    if (sent > buffer_.size()) break;  // FIN is in flight
    const size_t waiting = buffer_.size() - sent;
    const size_t size = std::min({waiting, mss, size_t{limit - std::min(limit, sent)}});
    const bool fin = fin_wanted_ && size == waiting;
    if (size == 0 && !fin) break;
    TcpSegment segment = plain_segment();
    segment.payload = OctetView(buffer_).subspan(sent, size);
    segment.psh = size == waiting;
    segment.fin = fin;
    emit(segment, packets);
    const bool fresh = next_ == highest_;
    next_ = next_ + segment.length();
    if (highest_.before(next_)) highest_ = next_;
    fin_sent_ |= fin;
    acknowledge_ = false;
    if (fresh && !timed_) {
      timed_ = next_;
      timed_at_ = now;
    }
    if (timer_ == FabricTime::never()) arm(now);
    if (fin) break;
  }
  // With the window closed and nothing in flight only a probe finds out that it is open again.
  if (flight() == 0 && !buffer_.empty() && timer_ == FabricTime::never()) arm(now);
}

void TcpConnection::output(FabricTime now, std::vector<Octets>& packets) {
  if (reset_wanted_) {
    reset_wanted_ = false;
    TcpSegment segment = plain_segment();
    segment.rst = segment.ack = true;
    segment.acknowledged = expected_;
    emit(segment, packets);
  }
  if (state_ == State::kClosed) return;
  if (state_ == State::kSynSent || state_ == State::kSynReceived) {
    if (next_ != unacknowledged_) return;
    TcpSegment segment = plain_segment();
    segment.syn = true;
    segment.mss = parameters_.mss;
    emit(segment, packets);
    const bool fresh = highest_ == unacknowledged_;
    next_ = highest_ = unacknowledged_ + 1;
    acknowledge_ = false;
    timed_ = fresh ? std::optional(next_) : std::nullopt;
    timed_at_ = now;
    if (timer_ == FabricTime::never()) arm(now);
    return;
  }
  if (state_ == State::kEstablished) output_data(now, packets);
  if (!acknowledge_) return;
  acknowledge_ = false;
  // From the highest place: during a retransmission the peer must not take this for old.
  TcpSegment segment = plain_segment();
  segment.sequence = highest_;
  emit(segment, packets);
}

}  // namespace mrclab::routing
