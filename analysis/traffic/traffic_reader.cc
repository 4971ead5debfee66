#include "analysis/traffic/traffic_reader.h"

#include <algorithm>
#include <map>

#include "analysis/capture/open_capture.h"
#include "analysis/capture/stream_file.h"
#include "analysis/roce/roce_analyzer.h"
#include "analysis/traffic/capture_feed.h"
#include "analysis/traffic/first_look.h"
#include "analysis/traffic/record_counts.h"
#include "analysis/traffic/traffic_order.h"
#include "analysis/traffic/traffic_overlap.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxPoints = 1u << 16;
constexpr size_t kMaxFileNotes = 32;
/// Below this, times are no clock's that counts from 1970.
constexpr int64_t kWallClockFrom = 100'000'000;
/// How much earlier than its first record a capture may have others.
constexpr int64_t kSlackSeconds = 3600;
constexpr uint64_t kProgressEvery = 1u << 20;
/// Frames of a file that are decoded at a time. Where that runs beside the analysis, so many that
/// starting it does not count, and of all files together about kBatchOfAll (60 MiB, as each has two
/// batches); else so few that they are in the cache still when they are analyzed.
constexpr size_t kBatchAlone = 64, kBatchMost = 1u << 16, kBatchLeast = 1u << 11;
constexpr size_t kBatchOfAll = 1u << 17, kMostFilesAhead = kBatchOfAll / kBatchLeast;

size_t batch_size(size_t files, bool ahead) {
  if (!ahead) return kBatchAlone;
  return std::clamp(kBatchOfAll / std::max<size_t>(files, 1), kBatchLeast, kBatchMost);
}

/// Capture interfaces of all files, and the places that drop records name.
class Points {
 public:
  explicit Points(std::vector<CapturePoint>& points) : points_(points) {}
  uint32_t named(std::string_view name) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return known->second;
    if (points_.size() >= kMaxPoints) return kMaxPoints;
    const auto index = static_cast<uint32_t>(points_.size());
    points_.emplace_back().name = name;
    by_name_.emplace(name, index);
    return index;
  }

 private:
  std::vector<CapturePoint>& points_;
  std::map<std::string, uint32_t, std::less<>> by_name_;
};

/// One open file and its next frame.
struct Feed {
  std::string name;
  uint32_t number = 0;  ///< number of the file, in the order of the command line
  CaptureFeed frames;
  std::vector<CaptureInterface> interfaces = {};  ///< as far as frames have come
  std::vector<uint32_t> points = {};              ///< by interface: which capture point it is
  size_t at = 0;                                  ///< the next frame in frames.front()
  size_t pause = 0, roce = 0;  ///< the next pause frame there, and packet of RoCEv2
  FabricTime t = {};           ///< when the next frame was captured
  bool more = false;           ///< there is a next frame
  bool starved = false;        ///< the next batch may have one or be the end
  bool filling = false;        ///< another core decodes its next batch
  uint64_t not_read = 0;       ///< records of a link type that is not read
  uint16_t link_type = 0;      ///< the last of these

  const DecodedFrame& frame() const { return frames.front().frames[at]; }
};

/// One pass over all sources: the frames that wait to be passed on in order of time, and what was found out about
/// the sources on the way. They change together with each frame, so they stand together.
class Reading {
 public:
  explicit Reading(const TrafficInput& input)
      : filter_(input.filter),
        given_(input.format),
        dscps_(input.dscps),
        progress_(input.progress),
        side_by_side_(input.side_by_side),
        batch_(input.batch) {}

  Traffic read(const std::vector<std::pair<std::string, OpenCapture>>& files) {
    open(files);
    roce_.emplace(shifted(filter_));
    analyzer_.emplace(conversations_, shifted(filter_), &paths_, &format_, dscps_);
    analyzer_->traffic().origin = origin_;
    Points points(analyzer_->traffic().points);
    points_ = &points;
    joiner_.emplace(conversations_, paths_, format_);
    while (round()) {
    }
    order_.finish([this](const TrafficSighting& s) { analyze(s); });
    refuse_or_note_link_types();
    for (const Feed& feed : feeds_) {
      counts_.add_file(feed.frames.counters());
    }
    return result();
  }

 private:
  void open(const std::vector<std::pair<std::string, OpenCapture>>& files) {
    std::vector<FileKind> kinds;
    int64_t wall_base = INT64_MAX;
    bool wall = false, fabric = false;  // is there a file whose own times count, of either kind
    if (files.size() > kMostFilesAhead) side_by_side_ = nullptr;
    const bool ahead = side_by_side_ != nullptr;
    FirstLook look(sample_, files.size());
    for (const auto& [name, open_file] : files) {
      kinds.push_back(look.at(open_file));
      const FileKind& kind = kinds.back();
      const bool is_wall = kind.first_second >= kWallClockFrom;
      if (is_wall) wall_base = std::min(wall_base, kind.first_second);
      carried_ = carried_ || kind.carried;
      if (kind.any && !kind.carried) (is_wall ? wall : fabric) = true;
    }
    format_ = sample_.learned(given_);
    for (size_t i = 0; i < files.size(); ++i) {
      const bool is_wall = kinds[i].first_second >= kWallClockFrom;
      const int64_t from = is_wall ? wall_base - kSlackSeconds : 0;
      const auto number = static_cast<uint32_t>(i);
      feeds_.push_back({.name = files[i].first,
                        .number = number,
                        .frames = {files[i].second({.base_seconds = from, .wants_seal = false}),
                                   {sample_, format_},
                                   number,
                                   kinds[i].carried,
                                   batch_ > 0 ? batch_ : batch_size(files.size(), ahead)}});
    }
    run_all(side_by_side_, feeds_.size(), [this](size_t i) { feeds_[i].frames.fill(); });
    for (Feed& feed : feeds_) next_batch(feed);
    // If several files have the same sighting, the file that began first counts.
    std::stable_sort(feeds_.begin(), feeds_.end(),
                     [](const Feed& a, const Feed& b) { return a.t < b.t; });
    if (wall && (fabric || carried_)) {
      notes_.emplace_back(
          "some captures are in wall-clock time, others in fabric time: what one "
          "shows is not set against what the other shows");
    }
    if (!wall || fabric || carried_) return;
    origin_ = FabricTime::never();
    for (const Feed& feed : feeds_) {
      if (feed.more) origin_ = std::min(origin_, feed.t);
    }
    if (origin_ == FabricTime::never()) origin_ = FabricTime::zero();
  }

  /// The filter's times count from the origin; sightings do not.
  TrafficFilter shifted(TrafficFilter filter) const {
    const auto shift = [this](FabricTime t) {
      return t < FabricTime::never() - origin_ ? t + origin_ : FabricTime::never();
    };
    filter.from = filter.from == FabricTime::zero() ? filter.from : shift(filter.from);
    filter.until = shift(filter.until);
    return filter;
  }

  std::vector<CaptureFeed*> feeds_to_fill() {
    std::vector<CaptureFeed*> all;
    for (Feed& feed : feeds_) {
      feed.filling = feed.frames.may_fill();
      if (feed.filling) all.push_back(&feed.frames);
    }
    return all;
  }

  /// Analyzes as many frames as are decoded, and decodes those that come next meanwhile. False
  /// when there are no more.
  bool round() {
    const std::vector<CaptureFeed*> filling = feeds_to_fill();
    Feed* starved = nullptr;
    run_all(side_by_side_, 1 + filling.size(), [&](size_t i) {
      if (i > 0) return filling[i - 1]->fill();
      starved = take_decoded();
    });
    if (starved == nullptr) return false;
    if (!starved->frames.has_next()) {  // it has used up two batches while others used one
      const std::vector<CaptureFeed*> empty = feeds_to_fill();
      run_all(side_by_side_, empty.size(), [&](size_t i) { empty[i]->fill(); });
    }
    next_batch(*starved);
    if (!starved->more) end_points_of(*starved);
    return true;
  }

  /// Takes frames in the order of time, until a file must be decoded further before the next is known:
  /// that one is returned. Null: all are taken.
  Feed* take_decoded() {
    while (Feed* feed = earliest()) {
      take(*feed);
      ++feed->at;
      show_next(*feed);
      if (feed->starved && (feed->filling || !feed->frames.has_next())) return feed;
      if (feed->starved) next_batch(*feed);
      if (!feed->more) end_points_of(*feed);
    }
    return nullptr;
  }

  void next_batch(Feed& feed) {
    feed.frames.next_batch();
    const FrameBatch& batch = feed.frames.front();
    feed.interfaces.insert(feed.interfaces.end(), batch.interfaces.begin(), batch.interfaces.end());
    feed.at = feed.pause = feed.roce = 0;
    show_next(feed);
  }

  void show_next(Feed& feed) {
    const FrameBatch& batch = feed.frames.front();
    feed.more = feed.at < batch.size;
    feed.starved = !feed.more && !batch.last;
    if (feed.more) {
      feed.t = feed.frame().captured;
    } else if (batch.last && !batch.problem.empty() && notes_.size() < kMaxFileNotes) {
      notes_.push_back(batch.problem);
    }
  }

  Feed* earliest() {
    Feed* best = nullptr;
    for (Feed& feed : feeds_) {
      if (feed.more && (best == nullptr || feed.t < best->t)) best = &feed;
    }
    return best;
  }

  uint32_t point_of(Feed& feed) {
    const uint32_t interface = feed.frame().interface;
    while (feed.points.size() <= interface) {
      const std::string& name = feed.interfaces[feed.points.size()].name;
      // "p2" in two files are two places; a name of the whole lab is one.
      const bool whole = name.find(':') != std::string::npos || feeds_.size() == 1;
      const std::string shown = name.empty() ? "#" + std::to_string(feed.points.size()) : name;
      const uint32_t number = points_->named(whole ? shown : feed.name + ":" + shown);
      feed.points.push_back(number);
      std::vector<CapturePoint>& points = analyzer_->traffic().points;
      if (number < points.size()) points[number].ended = CapturePoint::kGoesOn;
    }
    return feed.points[interface];
  }

  /// This file is read: what its places showed, another file may go on to show.
  void end_points_of(const Feed& ended) {
    std::vector<CapturePoint>& points = analyzer_->traffic().points;
    for (const uint32_t point : ended.points) {
      if (point < points.size()) points[point].ended = ended_;
    }
    for (const Feed& feed : feeds_) {
      if (!feed.more) continue;
      for (const uint32_t point : feed.points) {
        if (point < points.size()) points[point].ended = CapturePoint::kGoesOn;
      }
    }
    ++ended_;
  }

  void analyze(const TrafficSighting& s) {
    if (feeds_.size() > 1 && overlap_.is_repeat(s)) return;
    analyzer_->add_sighting(s);
  }

  /// Throws CaptureError if that is all there is.
  void refuse_or_note_link_types() {
    for (const Feed& feed : feeds_) {
      if (feed.not_read == 0) continue;
      const std::string said =
          feed.name + ": " + link_type_name(feed.link_type) + ": expected " + kReadLinkTypes;
      if (counts_.counters().not_ethernet == read_) throw CaptureError(said);
      if (notes_.size() < kMaxFileNotes) {
        notes_.push_back(counted_noun(feed.not_read, {"record is", "records are"}) +
                         " not read: " + said);
      }
    }
  }

  void take(Feed& feed) {
    if (++read_ % kProgressEvery == 0 && progress_) progress_(read_);
    const FrameBatch& batch = feed.frames.front();
    const DecodedFrame& frame = feed.frame();
    counts_.add_frame(frame);
    last_captured_ = std::max(last_captured_, frame.captured);
    TrafficSighting& s =
        order_.next([this](const TrafficSighting& sighting) { analyze(sighting); });
    const uint32_t point = point_of(feed);
    pauses_.add_frame(point, frame.source_mac, frame.destination_mac);
    Decoded decoded = frame.decoded;
    if (decoded == Decoded::kSighting) {
      decoded = joiner_->join(frame, batch.foreign.empty() ? nullptr : &batch.foreign[feed.at], s);
    }
    if (decoded != Decoded::kSighting) {
      order_.discard();
      counts_.add_unread(decoded, frame);
      if (decoded == Decoded::kPause) take_pause(feed, batch.pauses[feed.pause++], point);
      if (decoded == Decoded::kRoce) take_roce(feed, batch.roce[feed.roce++], point);
      if (decoded == Decoded::kNotEthernet) {
        ++feed.not_read;
        feed.link_type = feed.interfaces[frame.interface].link_type;
      }
      return;
    }
    s.point = point;
    s.feed = static_cast<uint16_t>(&feed - feeds_.data());
    s.ended = ended_;
    if (const uint32_t port = batch.drop_port_of[feed.at]; port != FrameBatch::kNone) {
      s.point = points_->named(batch.drop_ports[port]);
    }
  }

  void take_pause(const Feed& feed, const PauseSeenAt& seen, uint32_t point) {
    const DecodedFrame& frame = feed.frame();
    counts_.add_pause(seen, frame.captured);
    const uint64_t speed = feed.interfaces[frame.interface].bits_per_second;
    const std::vector<CapturePoint>& points = analyzer_->traffic().points;
    const WireEnd end = frame.sighting.end;
    pauses_.add_pause(seen, frame.captured, point, point < points.size() ? points[point].name : "",
                      end == WireEnd::kLeaving, end == WireEnd::kArriving,
                      speed > 0 ? std::optional(BitRate{speed}) : std::nullopt);
  }

  void take_roce(const Feed& feed, const RoceFrame& packet, uint32_t point) {
    const DecodedFrame& frame = feed.frame();
    const TrafficSighting& s = frame.sighting;
    roce_->add({packet, frame.left, point, static_cast<uint16_t>(&feed - feeds_.data()), s.end,
                s.event == PacketEvent::kDropped, s.cause});
  }

  Traffic result() {
    Traffic traffic = analyzer_->finish();
    traffic.roce = roce_->finish();
    traffic.paused = pauses_.tree(last_captured_);
    TrafficCounters& c = traffic.counters;
    counts_.move_into(traffic);
    c.repeats = overlap_.repeats();
    c.out_of_order = order_.out_of_order();
    traffic.carried = carried_;
    name_taps(traffic);
    c.over_limit += paths_.over_limit();
    traffic.foreign_paths = paths_.all();
    traffic.format = std::move(format_);
    traffic.notes.insert(traffic.notes.end(), notes_.begin(), notes_.end());
    return traffic;
  }

  /// Gives each tap of the sample the name of its capture point.
  void name_taps(Traffic& traffic) const {
    for (const Feed& feed : feeds_) {
      for (size_t i = 0; i < feed.points.size(); ++i) {
        const uint32_t number = feed.points[i];
        if (number >= traffic.points.size()) continue;
        traffic.tap_names[FirstLook::tap_of(feed.number, static_cast<uint32_t>(i))] =
            traffic.points[number].name;
      }
    }
  }

  TrafficFilter filter_;
  GivenFormat given_;
  DscpMap dscps_;
  std::function<void(uint64_t)> progress_;
  SideBySide side_by_side_;
  size_t batch_;
  FormatSample sample_;
  LearnedFormat format_;
  ConversationTable conversations_;
  ForeignPaths paths_;
  std::optional<ConversationJoiner> joiner_;
  std::optional<TrafficAnalyzer> analyzer_;
  std::optional<RoceAnalyzer> roce_;
  PauseWatch pauses_;
  FabricTime last_captured_;
  TrafficOrder order_;
  TrafficOverlap overlap_;
  std::vector<Feed> feeds_;
  Points* points_ = nullptr;
  RecordCounts counts_;
  std::vector<std::string> notes_;
  FabricTime origin_;
  bool carried_ = false;
  uint16_t ended_ = 0;  ///< files that are read
  uint64_t read_ = 0;
};

}  // namespace

Traffic analyze_traffic(const TrafficInput& input) {
  std::vector<std::pair<std::string, OpenCapture>> files;
  for (const std::filesystem::path& path : input.files) {
    if (is_stream(path)) {
      // Shared by the two functions that open it: the first look, and the reading.
      const auto stream = std::make_shared<StreamFile>(path, input.interrupted, input.arrived);
      files.emplace_back(path == "-" ? "stdin" : path.filename().string(),
                         [stream](CaptureOptions options) {
                           return options.rebase ? stream->look(options) : stream->read(options);
                         });
      continue;
    }
    files.emplace_back(path.filename().string(),
                       [path](CaptureOptions options) { return open_capture(path, options); });
  }
  return Reading(input).read(files);
}

Traffic analyze_traffic(std::span<const uint8_t> capture, const TrafficFilter& filter,
                        const SideBySide& side_by_side) {
  TrafficInput input;
  input.filter = filter;
  input.side_by_side = side_by_side;
  return Reading(input).read({{"memory", [capture](CaptureOptions options) {
                                 return capture_in_memory(capture, options);
                               }}});
}

}  // namespace mrclab::analysis
