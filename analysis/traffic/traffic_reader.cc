#include "analysis/traffic/traffic_reader.h"

#include <algorithm>
#include <map>

#include "analysis/traffic/first_look.h"
#include "analysis/traffic/traffic_order.h"
#include "analysis/traffic/traffic_overlap.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxPoints = 1u << 16;
constexpr size_t kMaxFileNotes = 32;
/// Below this, times are no clock's that counts from 1970.
constexpr int64_t kWallClockFrom = 100'000'000;
/// How much earlier than its first record a capture may have others.
constexpr int64_t kSlackSeconds = 3600;
constexpr uint64_t kProgressEvery = 1u << 20;

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

/// One open file and its next record.
struct Feed {
  std::unique_ptr<CaptureReader> reader;
  std::string name;
  bool carried = false;
  uint32_t number = 0;  ///< number of the file, in the order of the command line
  struct Point {
    uint32_t number;
    bool host_port;
  };
  std::vector<Point> points;  ///< by interface
  CaptureRecord record;
  FabricTime t;
  bool more = false;
  uint64_t not_read = 0;   ///< records of a link type that is not read
  uint16_t link_type = 0;  ///< the last of these
};

/// One pass over all sources: the frames that wait to be told in order of time, and what was found out about
/// the sources on the way. They change together with each frame, so they stand together.
class Reading {
 public:
  explicit Reading(const TrafficInput& input)
      : filter_(input.filter),
        given_(input.format),
        dscps_(input.dscps),
        progress_(input.progress) {}

  Traffic read(const std::vector<std::pair<std::string, OpenCapture>>& files) {
    open(files);
    analyzer_.emplace(conversations_, shifted(filter_), &paths_, &format_, dscps_);
    analyzer_->traffic().origin = origin_;
    Points points(analyzer_->traffic().points);
    points_ = &points;
    while (Feed* feed = earliest()) {
      take(*feed);
      advance(*feed);
      if (!feed->more) end_points_of(*feed);
    }
    order_.finish([this](const TrafficSighting& s) { analyze(s); });
    refuse_or_note_link_types();
    for (const Feed& feed : feeds_) {
      counters_.records += feed.reader->counters().records + feed.reader->counters().skipped();
      counters_.skipped += feed.reader->counters().skipped();
    }
    return result();
  }

 private:
  void open(const std::vector<std::pair<std::string, OpenCapture>>& files) {
    std::vector<FileKind> kinds;
    int64_t wall_base = INT64_MAX;
    bool wall = false, fabric = false;  // is there a file whose own times count, of either kind
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
    decoder_.use(sample_, format_);
    for (size_t i = 0; i < files.size(); ++i) {
      const bool is_wall = kinds[i].first_second >= kWallClockFrom;
      const int64_t from = is_wall ? wall_base - kSlackSeconds : 0;
      feeds_.push_back({files[i].second({.base_seconds = from}),
                        files[i].first,
                        kinds[i].carried,
                        static_cast<uint32_t>(i),
                        {},
                        {},
                        {},
                        false,
                        0,
                        0});
      advance(feeds_.back());
    }
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

  void advance(Feed& feed) {
    try {
      feed.more = feed.reader->next(feed.record);
      feed.t = feed.record.t;
    } catch (const CaptureError& error) {
      feed.more = false;
      if (notes_.size() < kMaxFileNotes) notes_.emplace_back(error.what());
    }
  }

  Feed* earliest() {
    Feed* best = nullptr;
    for (Feed& feed : feeds_) {
      if (feed.more && (best == nullptr || feed.t < best->t)) best = &feed;
    }
    return best;
  }

  Feed::Point point_of(Feed& feed) {
    const uint32_t interface = feed.record.interface;
    while (feed.points.size() <= interface) {
      const std::string& name = feed.reader->interfaces()[feed.points.size()].name;
      // "p2" in two files are two places; a name of the whole lab is one.
      const bool whole = name.find(':') != std::string::npos || feeds_.size() == 1;
      const std::string shown = name.empty() ? "#" + std::to_string(feed.points.size()) : name;
      feed.points.push_back(
          {points_->named(whole ? shown : feed.name + ":" + shown), names_host_port(name)});
      const uint32_t number = feed.points.back().number;
      std::vector<CapturePoint>& points = analyzer_->traffic().points;
      if (number < points.size()) points[number].ended = CapturePoint::kGoesOn;
    }
    return feed.points[interface];
  }

  /// This file is read: what its places showed, another file may go on to show.
  void end_points_of(const Feed& ended) {
    std::vector<CapturePoint>& points = analyzer_->traffic().points;
    for (const Feed::Point& point : ended.points) {
      if (point.number < points.size()) points[point.number].ended = ended_;
    }
    for (const Feed& feed : feeds_) {
      if (!feed.more) continue;
      for (const Feed::Point& point : feed.points) {
        if (point.number < points.size()) points[point.number].ended = CapturePoint::kGoesOn;
      }
    }
    ++ended_;
  }

  void analyze(const TrafficSighting& s) {
    if (feeds_.size() > 1 && overlap_.is_repeat(s)) return;
    analyzer_->add(s);
  }

  /// Throws CaptureError if that is all there is.
  void refuse_or_note_link_types() {
    for (const Feed& feed : feeds_) {
      if (feed.not_read == 0) continue;
      const std::string said =
          feed.name + ": " + link_type_name(feed.link_type) + ": expected " + kReadLinkTypes;
      if (counters_.not_ethernet == read_) throw CaptureError(said);
      if (notes_.size() < kMaxFileNotes) {
        notes_.push_back(std::to_string(feed.not_read) + " records are not read: " + said);
      }
    }
  }

  void take(Feed& feed) {
    if (++read_ % kProgressEvery == 0 && progress_) progress_(read_);
    counters_.bytes += feed.record.original_length;
    TrafficSighting& s =
        order_.next([this](const TrafficSighting& sighting) { analyze(sighting); });
    const uint16_t link = feed.reader->interfaces()[feed.record.interface].link_type;
    const Feed::Point point = point_of(feed);
    const uint32_t tap = FirstLook::tap_of(feed.number, feed.record.interface);
    const Decoded decoded =
        decoder_.decode(feed.record, link, {feed.carried, point.host_port, tap}, s);
    if (decoded != Decoded::kSighting) {
      order_.discard();
      count(decoded);
      if (decoded == Decoded::kNotEthernet) {
        ++feed.not_read;
        feed.link_type = link;
      }
      return;
    }
    s.point = point.number;
    s.feed = static_cast<uint16_t>(&feed - feeds_.data());
    s.ended = ended_;
    if (s.kind == TrafficSighting::Kind::kDropped) {
      const std::string_view port = port_in_drop(feed.record.comment);
      if (!port.empty()) s.point = points_->named(port);
    }
  }

  void count(Decoded decoded) {
    switch (decoded) {
      case Decoded::kSighting: break;
      case Decoded::kNotMrc: ++counters_.not_mrc; break;
      case Decoded::kRoce: ++counters_.roce; break;
      case Decoded::kNotEthernet: ++counters_.not_ethernet; break;
      case Decoded::kMalformed: ++counters_.malformed; break;
      case Decoded::kCutShort: ++counters_.cut_short; break;
      case Decoded::kUntimed: ++counters_.untimed; break;
      case Decoded::kTooMany: ++counters_.over_limit; break;
    }
  }

  Traffic result() {
    Traffic traffic = analyzer_->finish();
    TrafficCounters& c = traffic.counters;
    c.records = counters_.records;
    c.bytes = counters_.bytes;
    c.skipped = counters_.skipped;
    c.not_mrc = counters_.not_mrc;
    c.roce = counters_.roce;
    c.not_ethernet = counters_.not_ethernet;
    c.malformed = counters_.malformed;
    c.cut_short = counters_.cut_short;
    c.repeats = overlap_.repeats();
    c.untimed = counters_.untimed;
    c.over_limit += counters_.over_limit;
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
        const uint32_t number = feed.points[i].number;
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
  FormatSample sample_;
  LearnedFormat format_;
  ConversationTable conversations_;
  ForeignPaths paths_;
  SightingDecoder decoder_{conversations_, paths_};
  std::optional<TrafficAnalyzer> analyzer_;
  TrafficOrder order_;
  TrafficOverlap overlap_;
  std::vector<Feed> feeds_;
  Points* points_ = nullptr;
  TrafficCounters counters_;
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
    files.emplace_back(path.filename().string(), [path](CaptureOptions options) {
      return CaptureReader::open(path, options);
    });
  }
  return Reading(input).read(files);
}

Traffic analyze_traffic(std::span<const uint8_t> capture, const TrafficFilter& filter) {
  TrafficInput input;
  input.filter = filter;
  return Reading(input).read({{"memory", [capture](CaptureOptions options) {
                                 return CaptureReader::from_memory(capture, options);
                               }}});
}

}  // namespace mrclab::analysis
