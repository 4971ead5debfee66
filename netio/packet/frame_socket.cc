#include "netio/packet/frame_socket.h"

#include <pcap/pcap.h>

#include <array>
#include <cerrno>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

constexpr int kKeptBytes = 2'048;
constexpr int kRingBytes = 1 << 19;

}  // namespace

void FrameSocket::Close::operator()(pcap* handle) const { ::pcap_close(handle); }

FrameSocket::FrameSocket(const NetworkNamespace& where, const std::string& device)
    : name_("frames of " + device + " in " + where.name()) {
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  handle_.reset(::pcap_create(device.c_str(), reason.data()));
  if (!handle_) throw SystemError(name_, ENOMEM, reason.data());
  ::pcap_set_snaplen(handle_.get(), kKeptBytes);
  ::pcap_set_buffer_size(handle_.get(), kRingBytes);
  ::pcap_set_immediate_mode(handle_.get(), 1);
  const int result = where.run_in([this] { return ::pcap_activate(handle_.get()); });
  if (result < 0) throw SystemError(name_, EIO, ::pcap_geterr(handle_.get()));
  if (::pcap_setdirection(handle_.get(), PCAP_D_IN) != 0 ||
      ::pcap_setnonblock(handle_.get(), 1, reason.data()) != 0) {
    throw SystemError(name_, EIO, ::pcap_geterr(handle_.get()));
  }
}

void FrameSocket::send(std::span<const uint8_t> frame) const {
  const int sent = ::pcap_inject(handle_.get(), frame.data(), frame.size());
  if (sent != static_cast<int>(frame.size())) {
    throw SystemError(name_, EIO, ::pcap_geterr(handle_.get()));
  }
}

std::optional<std::span<const uint8_t>> FrameSocket::receive() const {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int result = ::pcap_next_ex(handle_.get(), &header, &bytes);
  // libpcap reports an interface that is set down once, and goes on when it is up again.
  if (result == 0 || result == PCAP_ERROR_IFACE_NOT_UP) return std::nullopt;
  if (result < 0) throw SystemError(name_, EIO, ::pcap_geterr(handle_.get()));
  return std::span<const uint8_t>(bytes, header->caplen);
}

}  // namespace mrclab::netio
