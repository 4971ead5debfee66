#include "netio/runtime/veth_tap.h"

#include <pcap/pcap.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "fabric/packet/bundle.h"
#include "fabric/packet/trailer.h"
#include "netio/record/pcapng.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
/// A member of VethTaps::Impl, so it has the linkage of that.
struct ClosePcap {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kWholeFrame = 65'535;
// libpcap's ring is made of blocks as long as its longest snap length. The kernel hands a block over
// when it is full or when its time is up, however little is in it: a short time would fill the ring
// with nearly empty blocks whenever this machine does not let the reader run for a while.
constexpr int64_t kBlock = 256 << 10;
constexpr int kBlockTimeoutMs = 500;
// Blocks that room() leaves out: the one that the kernel fills, the one that is being read, and
// three that were handed over nearly empty.
constexpr int64_t kSpareBlocks = 5;
// For all interfaces together; each has at least kMinTapBuffer.
constexpr int64_t kBufferBudget = 512 << 20;
constexpr int64_t kMinTapBuffer = 8 * kBlock, kMaxTapBuffer = 16 * kBlock;
constexpr int kPollMs = 5;
// The kernel hands over what it has counted within a block's timeout; far more than that is a fault.
constexpr std::chrono::seconds kPatience{10};

using PcapHandle = std::unique_ptr<pcap_t, ClosePcap>;

double seconds_of(const timespec& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int64_t wall_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t buffer_of_each(size_t ports) {
  const int64_t share = kBufferBudget / static_cast<int64_t>(std::max<size_t>(1, ports));
  return std::clamp(share / kBlock * kBlock, kMinTapBuffer, kMaxTapBuffer);
}

PcapHandle open_tap(const TapPort& port, size_t ports, bool at_once) {
  char problem[PCAP_ERRBUF_SIZE] = "";
  return port.where->run_in([&] {
    PcapHandle handle(pcap_create(port.device.c_str(), problem));
    if (!handle) throw SystemError("tap " + port.name, EINVAL, problem);
    pcap_set_snaplen(handle.get(), kWholeFrame);
    pcap_set_timeout(handle.get(), kBlockTimeoutMs);
    if (at_once) pcap_set_immediate_mode(handle.get(), 1);
    pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
    pcap_set_buffer_size(handle.get(), static_cast<int>(buffer_of_each(ports)));
    const int status = pcap_activate(handle.get());
    if (status < 0) {
      throw SystemError("tap " + port.name, status == PCAP_ERROR_PERM_DENIED ? EPERM : EIO,
                        pcap_geterr(handle.get()));
    }
    if (pcap_setnonblock(handle.get(), 1, problem) < 0) {
      throw SystemError("tap " + port.name, EIO, problem);
    }
    return handle;
  });
}

std::optional<Direction> direction_of(std::span<const uint8_t> frame, WireId out) {
  const std::optional<size_t> at = trailer_offset(frame);
  if (!at) return std::nullopt;
  const std::optional<TimeTrailer> trailer = parse_trailer(frame.subspan(*at));
  if (!trailer) return std::nullopt;
  return trailer->wire == out ? Direction::kEgress : Direction::kIngress;
}

PcapngOptions file_options(uint64_t max_file_bytes) {
  PcapngOptions options;
  options.snap_length = kWholeFrame;
  options.max_file_bytes = max_file_bytes;
  options.application = "mrclab with libpcap";
  options.comment = "libpcap on veths, time stamps from when the taps were opened";
  return options;
}

/// Without a bound: it goes to somebody who reads it.
PcapngOptions options_at_once() {
  PcapngOptions options = file_options(UINT64_MAX);
  options.comment = "libpcap on veths";
  options.epoch_seconds = std::max<int64_t>(1, wall_ns() / 1'000'000'000);
  return options;
}

}  // namespace

class VethTaps::Impl {
 public:
  Impl(const std::vector<TapPort>& ports, PcapngWriter file, uint64_t most)
      : file_(std::move(file)), most_(most), at_once_(file_.options().epoch_seconds != 0) {
    const auto start = SteadyClock::now();
    for (const TapPort& port : ports) {
      taps_.push_back(
          {open_tap(port, ports.size(), at_once_), file_.add_interface(port.name), port.out});
    }
    opened_ns_ = at_once_ ? file_.options().epoch_seconds * 1'000'000'000 : wall_ns();
    if (at_once_) file_.flush();  // who reads the pipe sees the interfaces before a packet comes
    report_.interfaces = taps_.size();
    report_.open_seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    thread_ = std::thread([this] { read_all(); });
  }
  ~Impl() {
    abandoned_ = true;
    if (thread_.joinable()) thread_.join();
  }

  uint64_t room() const {
    return static_cast<uint64_t>(buffer_of_each(taps_.size()) - kSpareBlocks * kBlock);
  }
  uint64_t rounds_begun() const { return rounds_begun_; }
  uint64_t rounds_done() const { return rounds_done_; }
  uint64_t packets() const { return packets_; }

  TapReport finish() {
    ending_ = true;
    thread_.join();
    if (problem_) std::rethrow_exception(problem_);
    file_.close({});
    report_.skipped = file_.skipped();
    return report_;
  }

 private:
  struct Tap {
    PcapHandle handle;
    uint32_t interface = 0;
    WireId out;
    uint64_t read = 0;
    Impl* owner = nullptr;
  };

  void read_all() {
    try {
      std::vector<pollfd> waiting;
      for (Tap& tap : taps_) {
        tap.owner = this;
        waiting.push_back({pcap_get_selectable_fd(tap.handle.get()), POLLIN, 0});
      }
      SteadyClock::time_point last_chance = SteadyClock::time_point::max();
      while (!abandoned_) {
        if (ending_ && last_chance == SteadyClock::time_point::max()) {
          last_chance = SteadyClock::now() + kPatience;
        }
        if (ending_ && (all_read() || SteadyClock::now() > last_chance)) break;
        ::poll(waiting.data(), waiting.size(), kPollMs);
        const uint64_t round = ++rounds_begun_;
        for (Tap& tap : taps_) {
          pcap_dispatch(tap.handle.get(), -1, &Impl::on_packet, reinterpret_cast<u_char*>(&tap));
        }
        if (at_once_) file_.flush();
        rounds_done_ = round;
      }
      count_dropped();
    } catch (...) {
      problem_ = std::current_exception();
      // A run must not wait for ever for a reader that has ended; finish() reports why it has.
      rounds_done_ = UINT64_MAX;
    }
    timespec cpu{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    report_.cpu_seconds = seconds_of(cpu);
  }

  /// Has everything been read that the kernel has counted? All senders have stopped.
  bool all_read() {
    return std::all_of(taps_.begin(), taps_.end(), [](const Tap& tap) {
      pcap_stat counted{};
      if (pcap_stats(tap.handle.get(), &counted) < 0) return true;  // the interface is gone
      return tap.read + counted.ps_drop >= counted.ps_recv;
    });
  }

  void count_dropped() {
    for (const Tap& tap : taps_) {
      pcap_stat counted{};
      if (pcap_stats(tap.handle.get(), &counted) < 0) continue;
      // A frame that was counted and never came was lost as well.
      report_.dropped += std::max<uint64_t>(
          counted.ps_drop, counted.ps_recv - std::min<uint64_t>(tap.read, counted.ps_recv));
    }
  }

  static void on_packet(u_char* user, const pcap_pkthdr* header, const u_char* bytes) {
    Tap& tap = *reinterpret_cast<Tap*>(user);
    Impl& self = *tap.owner;
    const std::span<const uint8_t> frame(bytes, header->caplen);
    ++tap.read;
    // tv_usec holds nanoseconds, as asked for.
    const int64_t ns = int64_t{header->ts.tv_sec} * 1'000'000'000 + header->ts.tv_usec;
    if (header->caplen < header->len || !is_bundle(frame)) {
      return self.write_frame(tap, ns, frame, header->len);
    }
    // It was under way when the tap was opened: from then on frames cross one by one.
    BundledFrames frames(frame);
    while (const auto one = frames.next()) {
      self.write_frame(tap, ns, *one, static_cast<uint32_t>(one->size()));
    }
  }

  void write_frame(const Tap& tap, int64_t ns, std::span<const uint8_t> frame, uint32_t length) {
    if (packets_ >= most_) return;
    ++packets_;
    ++report_.packets;
    report_.bytes += length;
    PcapngRecord record;
    record.interface = tap.interface;
    record.t = FabricTime::from_ns(std::max<int64_t>(0, ns - opened_ns_));
    record.direction = direction_of(frame, tap.out);
    record.bytes = frame;
    record.original_length = length;
    file_.write(record);
  }

  PcapngWriter file_;
  uint64_t most_;
  bool at_once_;
  std::vector<Tap> taps_;
  int64_t opened_ns_ = 0;
  TapReport report_;
  std::exception_ptr problem_;
  std::atomic<uint64_t> rounds_begun_ = 0, rounds_done_ = 0;
  std::atomic<uint64_t> packets_ = 0;
  std::atomic<bool> ending_ = false, abandoned_ = false;
  std::thread thread_;
};

VethTaps::VethTaps(const std::vector<TapPort>& ports, const std::filesystem::path& file,
                   uint64_t max_file_bytes)
    : impl_(std::make_unique<Impl>(ports, PcapngWriter(file, file_options(max_file_bytes)),
                                   UINT64_MAX)) {}
VethTaps::VethTaps(const std::vector<TapPort>& ports, FileDescriptor pipe, std::string name,
                   uint64_t most)
    : impl_(std::make_unique<Impl>(
          ports, PcapngWriter(std::move(pipe), std::move(name), options_at_once()), most)) {}
VethTaps::~VethTaps() = default;
uint64_t VethTaps::room() const { return impl_->room(); }
uint64_t VethTaps::rounds_begun() const { return impl_->rounds_begun(); }
uint64_t VethTaps::rounds_done() const { return impl_->rounds_done(); }
uint64_t VethTaps::packets() const { return impl_->packets(); }
TapReport VethTaps::finish() { return impl_->finish(); }

}  // namespace mrclab::netio
