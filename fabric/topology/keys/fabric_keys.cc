#include "fabric/topology/keys/fabric_keys.h"

#include <algorithm>

#include "fabric/mapper/denylist_keys.h"
#include "fabric/mapper/mapper_keys.h"
#include "fabric/mapper/orchestrator_keys.h"
#include "fabric/topology/keys/forwarding_file.h"
#include "fabric/topology/keys/graph_file.h"

namespace mrclab {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using S = FabricShape;
using R = KeyRow<FabricShape>;

/// Our choice: 2,000 km of fibre, far more than any AI fabric has. A run with
/// longer ones never ends.
constexpr FabricTime kLongestWay = FabricTime::from_ms(10);
constexpr size_t kMaxLinkRates = 64;
/// cx8's times divided by more would be below a picosecond.
constexpr int64_t kMostCompressed = 1'000'000;

// --- kinds of values -----------------------------------------------------------------------------

auto way_time_kind() {
  const auto read = [](const YamlValue& value) {
    const FabricTime time = value.as_time();
    if (time > kLongestWay) value.fail_expecting("at most " + exact(kLongestWay));
    return time;
  };
  const auto kind = kind_of<FabricTime>();
  return ValueKind{kind.form, read, kind.write};
}

/// A multiple of Plane_BDP such as 0.8, in thousandths.
uint32_t read_multiple(const YamlValue& value) {
  const std::string expected = "a multiple of the plane BDP such as 0.8, from 0.001 to 100";
  const std::string text = value.is_scalar() ? value.as_string() : "";
  const size_t point = std::min(text.find('.'), text.size());
  const std::string whole = text.substr(0, point);
  std::string decimals = point < text.size() ? text.substr(point + 1) : "0";
  const auto digits = [](const std::string& s) {
    return !s.empty() && s.size() <= 3 && s.find_first_not_of("0123456789") == std::string::npos;
  };
  if (!digits(whole) || !digits(decimals)) value.fail_expecting(expected);
  decimals.resize(3, '0');
  const unsigned long result = std::stoul(whole) * 1000 + std::stoul(decimals);
  if (result == 0 || result > 100'000) value.fail_expecting(expected);
  return static_cast<uint32_t>(result);
}

std::string multiple_text(uint32_t thousandths) {
  return std::to_string(thousandths / 1000) + "." +
         std::to_string(1000 + thousandths % 1000).substr(1);
}

auto multiple_kind() { return ValueKind{Form::of(Kind::kMultiple), read_multiple, multiple_text}; }

/// A duration, or a list of the shortest and the longest.
NicProfile::Range read_range(const YamlValue& value) {
  if (value.is_scalar()) return {value.as_time(), value.as_time()};
  const std::vector<YamlValue> ends = value.items();
  if (ends.size() != 2) value.fail_expecting("a duration, or the shortest and the longest");
  const NicProfile::Range range{ends[0].as_time(), ends[1].as_time()};
  if (range.min > range.max) ends[1].fail_expecting("at least the shortest");
  return range;
}

auto range_kind() {
  const Form time = Form::of(Kind::kTime);
  return ValueKind{
      Form::either({time, Form::list(time, 2, 2)}), read_range,
      [](const NicProfile::Range& in) { return "[" + exact(in.min) + ", " + exact(in.max) + "]"; }};
}

/// Its reader says what may stand behind the word.
Form off_or(Form map) { return Form::either({Form::word({"off"}).elsewhere(), std::move(map)}); }

/// A map with keys of its own, of what `member` leads to. `check` refuses what no single key says.
template <class Member, class Inner>
R map_row(std::string name, Member member, const KeyTable<Inner>& keys, std::string about,
          void (*check)(const YamlValue&, const S&) = nullptr) {
  return {std::move(name), keys.form(), std::move(about),
          [=](const YamlValue& value, S& shape) {
            keys.read(value, std::invoke(member, shape));
            if (check != nullptr) check(value, shape);
          },
          [=](const S& shape) { return keys.written(std::invoke(member, shape)); }};
}

void require_below(const YamlValue& value, uint32_t min, uint32_t max) {
  if (min >= max) value.fail("min at or above max", "min below max");
}

// --- queues and RoCE -----------------------------------------------------------------------------

/// A switch where it stands alone, or a map that says more; `off` is written where it is off.
R or_switch(bool QueueShape::*is_on, const R& map) {
  R row = map;
  row.form = Form::either({Form::of(Kind::kSwitch), map.form});
  row.read = [=](const YamlValue& value, S& shape) {
    if (value.is_map()) return map.read(value, shape);
    shape.queues.*is_on = value.as_bool();
  };
  row.write = [=](const S& shape) { return shape.queues.*is_on ? map.write(shape) : "off"; };
  return row;
}

KeyRow<QueueShape> queue_row(const char* name, uint32_t QueueShape::*limit, const char* about) {
  return KeyRow<QueueShape>::of(name, limit, multiple_kind(), about);
}

const KeyTable<LosslessProfile>& watchdog_keys() {
  using L = LosslessProfile;
  const auto above_zero = [](const YamlValue& value) {
    if (value.as_time() == FabricTime::zero()) value.fail_expecting("a duration above 0");
    return value.as_time();
  };
  const auto kind = kind_of<FabricTime>();
  const ValueKind duration{kind.form, above_zero, kind.write};
  const ValueKind action{
      Form::word({"drop", "forward"}),
      [](const YamlValue& value) {
        return value.as_word({"drop", "forward"}) == 0 ? WatchdogAction::kDrop
                                                       : WatchdogAction::kForward;
      },
      [](WatchdogAction in) { return in == WatchdogAction::kDrop ? "drop" : "forward"; }};
  using LR = KeyRow<L>;
  static const KeyTable<L> kKeys(
      {LR::of("detect", &L::detect, duration, "a pause this long is one", kRequiredKey),
       LR::of("restore", &L::restore, duration, "without a pause, until it ends", kRequiredKey),
       LR::of("action", &L::watchdog, action, "what then happens to packets of a paused queue")});
  return kKeys;
}

void read_watchdog_key(const YamlValue& value, LosslessProfile& lossless) {
  if (value.is_scalar()) {
    if (value.as_bool()) value.fail_expecting("off or {detect: 200us, restore: 200us}");
    lossless.watchdog = WatchdogAction::kOff;
    return;
  }
  check_form(value, watchdog_keys().form());
  lossless.watchdog = WatchdogAction::kDrop;
  watchdog_keys().read(value, lossless);
}

KeyTable<S> roce_keys() {
  const auto queue = [](auto member) {
    return [=](auto& shape) -> auto& { return shape.queues.*member; };
  };
  const auto lossless = [](auto member) {
    return [=](auto& shape) -> auto& { return shape.lossless.*member; };
  };
  using L = LosslessProfile;
  using Q = QueueShape;
  const KeyTable<S> red(
      {R::of("min", queue(&Q::red_min), multiple_kind(), "no mark below"),
       R::of("max", queue(&Q::red_max), multiple_kind(), "every packet marked from here on"),
       R::of("most", lossless(&L::red_most), "share that is marked just below")});
  const std::vector<std::string> profiles = red_profile_names();
  R red_row = map_row("red", std::identity(), red, "ECN marks by the length of the queue",
                      [](const YamlValue& value, const S& shape) {
                        require_below(value, shape.queues.red_min, shape.queues.red_max);
                      });
  const R as_map = red_row;
  red_row.about +=
      ": multiples of the BDP, or those of a source in bytes (`fabric/asic/red_profile.h`)";
  red_row.form = Form::either({Form::word(profiles), as_map.form});
  red_row.read = [=](const YamlValue& value, S& shape) {
    if (value.is_map()) return as_map.read(value, shape);
    shape.lossless.red = static_cast<RedProfile>(value.as_word(profiles));
  };
  red_row.write = [=](const S& shape) {
    const RedProfile profile = shape.lossless.red;
    return profile == RedProfile::kFabric ? as_map.write(shape)
                                          : profiles[static_cast<size_t>(profile)];
  };
  const KeyRow<L>& watchdog = watchdog_key();
  return KeyTable<S>(
      {R::of("pfc", lossless(&L::pfc), "pause frames (IEEE 802.1Q PFC) for RoCE's data"),
       R::of("adaptive_routing", lossless(&L::adaptive),
             "switches take the emptiest of equal ports for each packet"),
       red_row,
       R::of("tail_drop", queue(&Q::lossless_limit), multiple_kind(),
             "the longest queue without PFC, where the buffer is scaled"),
       R::of(
           "asic", lossless(&L::asic), word_kind<SwitchAsic>(asic_names()),
           "whose buffer a switch has, in bytes (`fabric/asic/switch_buffer.h`); scaled: `buffer`"),
       R::of("buffer", queue(&Q::buffer_share), multiple_kind(),
             "scaled: the buffer that ports share, for each of them"),
       R::of("alpha", lossless(&L::alpha_permille), multiple_kind(),
             "share of the free buffer that one port may take"),
       {"mrc_buffer", Form::word({"own", "shared"}),
        "own: MRC's queues have their thresholds alone; shared: they are in that buffer too, and one "
        "may take alpha of what is free",
        [](const YamlValue& value, S& shape) {
          shape.lossless.pools_mrc = value.as_word({"own", "shared"}) == 1;
        },
        [](const S& shape) { return shape.lossless.pools_mrc ? "shared" : "own"; }},
       {watchdog.name, watchdog.form, watchdog.about,
        [=](const YamlValue& value, S& shape) { watchdog.read(value, shape.lossless); },
        [=](const S& shape) { return watchdog.write(shape.lossless); }}});
}

KeyTable<DscpMap> dscp_keys() {
  std::vector<KeyRow<DscpMap>> rows;
  rows.reserve(std::size(kDscpClasses));
  for (const DscpClass& each : kDscpClasses) {
    rows.push_back(KeyRow<DscpMap>::of(std::string(each.name), each.member,
                                       integer_kind(0, kMaxDscp), "DSCP of this class"));
  }
  return KeyTable<DscpMap>(std::move(rows));
}

// --- links and NICs ------------------------------------------------------------------------------

R link_rates_row() {
  using L = LinkRate;
  const KeyTable<L> keys(
      {KeyRow<L>::of("links", &L::links,
                     ValueKind{Form::of(Kind::kText), &YamlValue::as_string, yaml_word},
                     "names or a pattern", kRequiredKey),
       KeyRow<L>::of("rate", &L::rate, "theirs", kRequiredKey)});
  const auto read = [=](const YamlValue& list, S& shape) {
    for (const YamlValue& entry : list.items()) {
      if (shape.link_rates.size() == kMaxLinkRates) {
        entry.fail("more entries", "at most " + std::to_string(kMaxLinkRates));
      }
      keys.read(entry, shape.link_rates.emplace_back());
    }
  };
  const auto write = [=](const S& shape) {
    std::string text;
    for (const L& rate : shape.link_rates) text += (text.empty() ? "[" : ", ") + keys.written(rate);
    return text.empty() ? "" : text + "]";
  };
  return {"link_rates", Form::list(keys.form(), 0, kMaxLinkRates),
          "links with other rates; the last entry that names a link counts", read, write};
}

enum class NicModel : uint8_t { kIdeal, kCx8, kPollara };

/// A profile alone, a profile with its times divided, or a NIC of one's own.
R nic_row() {
  using N = NicProfile;
  using NR = KeyRow<N>;
  using L = NicLosses;
  const auto profile = word_kind<NicModel>({"ideal", "cx8", "pollara"});
  const auto of_losses = [](auto member) {
    return [member](auto& nic) -> auto& { return nic.losses.*member; };
  };
  const auto compress = integer_kind(1, kMostCompressed);
  const KeyTable<N> keys(
      {NR{"profile", profile.form, "times of a NIC's model", {}},
       NR{"compress", compress.form, "its times divided by this", {}},
       NR::of("name", &N::name, name_kind(), "a NIC of one's own, with the times below"),
       NR::of("port_down_delay", &N::port_down_delay, "until a dead port is noticed"),
       NR::of("port_up_delay", &N::port_up_delay, "until a port that is back is noticed"),
       NR::of("remap_down", &N::remap_down, range_kind(),
              "until paths avoid a dead port: [shortest, longest]"),
       NR::of("remap_up", &N::remap_up, range_kind(), "until paths use a port again"),
       NR::of("reorder_window", of_losses(&L::reorder_window),
              "at least this instead of the transport's", kIfUnusual),
       NR::of("tail_probe", of_losses(&L::tail_probe), "likewise", kIfUnusual),
       NR::of("ack_timeout", of_losses(&L::ack_timeout), "likewise", kIfUnusual),
       NR::of("exponential_retries", of_losses(&L::exponential_retries), integer_kind(0, 25),
              "likewise", kIfUnusual)});
  const auto read = [=](const YamlValue& value, S& shape) {
    const auto known = value.is_scalar() ? value : value.get("profile");
    if (known) {
      if (value.is_map()) value.only_keys({"profile", "compress"});
      const auto by = value.is_map() ? value.get("compress") : std::nullopt;
      const int64_t divisor = by ? compress.read(*by) : 1;
      const auto by_this = static_cast<uint32_t>(divisor);
      switch (profile.read(*known)) {
        case NicModel::kIdeal: shape.nic = N{}; break;
        case NicModel::kCx8: shape.nic = cx8_profile(by_this); break;
        case NicModel::kPollara: shape.nic = pollara_profile(by_this); break;
      }
      return;
    }
    std::vector<std::string_view> own;
    for (const NR& row : keys.rows()) {
      if (row.read) own.push_back(row.name);
    }
    value.only_keys(own);
    value.require("name");
    keys.read(value, shape.nic);
  };
  return {
      "nic", Form::either({profile.form, keys.form()}),
      "how long a NIC takes to notice a port and to avoid it, and to find out that a packet was lost",
      read, [=](const S& shape) {
        return shape.nic.name == "ideal" ? shape.nic.name : keys.written(shape.nic);
      }};
}

std::vector<R> all_rows() {
  using Q = QueueShape;
  constexpr KeyUse kHead{.write_pass = 0};
  std::vector<R> rows{R::of("name", &S::name, name_kind(), "what the fabric is called",
                            {.need = Form::Key::kRequired, .read_pass = 0, .write_pass = 0}),
                      {"about", Form::of(Kind::kText), "for people", {}}};
  for (const R& row : regular_keys().rows()) {
    const auto write = [=](const S& s) { return s.graph.empty() ? row.write(s) : ""; };
    rows.push_back({row.name,
                    row.form,
                    row.about,
                    {},
                    write,
                    {.if_unusual = row.use.if_unusual, .write_pass = kHead.write_pass}});
  }
  for (const KeyRow<GraphShape>& row : graph_keys().rows()) {
    const auto write = [=](const S& s) { return s.graph.empty() ? "" : row.write(s.graph); };
    rows.push_back({row.name, row.form, row.about, {}, write, kHead});
  }
  const auto read_host_rate = [](const YamlValue& value, S& shape) {
    shape.fabric_rate = shape.host_rate = value.as_rate();
  };
  const std::vector<R> others{
      {"host_rate", Form::of(Kind::kRate), "of the links of hosts", read_host_rate,
       [](const S& shape) { return exact(shape.host_rate); }},
      R::of("fabric_rate", &S::fabric_rate, "of the links between switches; absent: host_rate"),
      link_rates_row(),
      R::of("propagation", &S::propagation, way_time_kind(), "of each wire, at most 10ms"),
      R::of("switch_latency", &S::switch_latency, way_time_kind(),
            "from a packet's arrival to its queue, at most 10ms"),
      R::of("switching", &S::switching, word_kind<Switching>({"store_and_forward", "cut_through"}),
            "when a switch looks at a packet: once all of it is in, or once its headers are",
            kIfUnusual),
      R::of("host_latency", &S::host_latency, way_time_kind(),
            "from a packet's arrival to the NIC's decision, at most 10ms"),
      R::of("nics_per_node", &S::nics_per_node, integer_kind(1, 16),
            "hosts are NICs, so many to a node: n0 names those of a node, rail-0 those of a rail",
            kIfUnusual),
      R::of("pmtu", &S::pmtu, integer_kind(256, 4096), "bytes of payload in a packet"),
      optics_row(),
      line_cards_row(),
      power_zones_row(),
      {"forwarding", forwarding_form(),
       "who forwards: our switch, the kernel's SRv6, Open vSwitch, a program in the kernel; or by "
       "plane and switch",
       [](const YamlValue& value, S& shape) { shape.forwarding = read_forwarding(value, shape); },
       [](const S& shape) { return forwarding_text(shape.forwarding); }},
      {"routing", routing_form(), "how packets find their way",
       [](const YamlValue& value, S& shape) { shape.routing = read_routing(value); },
       [](const S& shape) { return routing_text(shape.routing); }},
      {"speaker", speaker_form(),
       "fare: the BGP of kernel switches: ours over sockets, FRR, BIRD, ExaBGP", read_speaker,
       [](const S& shape) {
         return shape.speaker == SpeakerChoice{} ? "" : speaker_text(shape.speaker);
       }},
      R::of(
          "wires", &S::wires, word_kind<WireMode>({"veth", "fast"}),
          "fast: wires between switches of a daemon stay inside it; others cross in memory where nobody looks"),
      R::of("decap", &S::decap, word_kind<Decap>({"nic", "leaf"}),
            "which node strips the outer header", kHead),
      R::of("segments", &S::segments, word_kind<Segments>({"node", "adjacency"}),
            "what a carrier names: switches, or links", kHead),
      or_switch(&Q::ecn,
                map_row("ecn", &S::queues,
                        KeyTable<QueueShape>(
                            {queue_row("min", &Q::ecn_min, "no mark below"),
                             queue_row("max", &Q::ecn_max, "every packet marked from here on"),
                             KeyRow<QueueShape>::of(
                                 "last_hop", &Q::ecn_last_hop,
                                 "switches mark towards hosts, too (htsim; UEC and MRC: off)")}),
                        "marks by the length of the queue",
                        [](const YamlValue& value, const S& shape) {
                          require_below(value, shape.queues.ecn_min, shape.queues.ecn_max);
                        })),
      or_switch(&Q::trim,
                map_row("trim", &S::queues,
                        KeyTable<QueueShape>({queue_row("threshold", &Q::trim_threshold,
                                                        "the queue from which packets are cut"),
                                              queue_row("last_hop", &Q::trim_threshold_last_hop,
                                                        "the same, towards hosts")}),
                        "packets that find a full queue lose their payload and travel on")),
      map_row("queues", &S::queues,
              KeyTable<QueueShape>(
                  {queue_row("control", &Q::control_limit, "limit of the queue of control packets"),
                   queue_row("trimmed", &Q::trimmed_limit, "limit of the queue of trimmed packets"),
                   queue_row("tail_drop", &Q::tail_drop, "limit of the queue of data")}),
              "lengths of a port's queues"),
      map_row("dscp", &S::dscps, dscp_keys(), "the classes' code points",
              [](const YamlValue& value, const S& shape) {
                const auto misfit = misfit_of(shape.dscps);
                if (misfit) value.fail(*misfit, "classes with distinct values");
              }),
      map_row("roce", std::identity(), roce_keys(), "how switches treat RoCE's data"),
      nic_row(),
      {"mapper", mapper_key().form, mapper_key().about,
       [](const YamlValue& value, S& shape) { mapper_key().read(value, shape.mapper); },
       [](const S& shape) { return mapper_key().write(shape.mapper); }},
      {"denylist", denylist_key().form, denylist_key().about,
       [](const YamlValue& value, S& shape) { denylist_key().read(value, shape.denylist); },
       [](const S& shape) { return denylist_key().write(shape.denylist); }},
      {"orchestrator", orchestrator_key().form, orchestrator_key().about,
       [](const YamlValue& value, S& shape) { orchestrator_key().read(value, shape.orchestrator); },
       [](const S& shape) { return orchestrator_key().write(shape.orchestrator); }},
      miscabled_row(),
      authorise_row(),
      tenants_row()};
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

}  // namespace

const KeyTable<FabricShape>& fabric_keys() {
  static const KeyTable<S> kKeys(all_rows());
  return kKeys;
}

const ValueForm& fabric_form() { return fabric_keys().form(); }

const KeyRow<LosslessProfile>& watchdog_key() {
  static const KeyRow<LosslessProfile> kKey{
      "watchdog", off_or(watchdog_keys().form()), "what ends a pause that lasts", read_watchdog_key,
      [](const LosslessProfile& lossless) {
        return lossless.watchdog == WatchdogAction::kOff ? "off"
                                                         : watchdog_keys().written(lossless);
      }};
  return kKey;
}

}  // namespace mrclab
