#include "switchd/ingress_buffer.h"

#include <algorithm>
#include <utility>

#include "fabric/packet/pause_frame.h"

namespace mrclab::switchd {
namespace {

constexpr Bytes kXonOffset{3 * 1024};

}  // namespace

IngressBuffer::Settings buffer_settings(const Topology& topology, NodeId self) {
  const LosslessProfile& lossless = topology.lossless;
  IngressBuffer::Settings settings;
  settings.reserve = lossless.reserve;
  settings.alpha_permille = lossless.alpha_permille;
  for (const Port& port : topology.node(self).ports) {
    const Wire& out = topology.wire(port.out);
    settings.size += topology.queues_of(out).buffer_share;
    settings.headroom.push_back(lossless.pfc ? pause_headroom(topology, port.in) : Bytes{0});
    settings.alphas.push_back(
        asic_alpha(lossless.asic, lossless.alpha_permille, out.rate, topology.host_rate));
  }
  if (lossless.asic != SwitchAsic::kScaled) {
    settings.size = asic_buffer(lossless.asic, topology.host_rate);
  }
  return settings;
}

IngressBuffer::IngressBuffer(Settings settings)
    : as_built_(std::move(settings)), ports_(as_built_.headroom.size()) {
  set_limits(as_built_);
}

void IngressBuffer::set_limits(Settings settings) {
  settings_ = std::move(settings);
  Bytes kept{settings_.reserve.value * ports_.size()};
  for (const Bytes headroom : settings_.headroom) kept += headroom;
  size_ = std::max(settings_.size, kept);
  pool_ = size_ - kept;
  in_use_ = others_;
  for (const Port& port : ports_) in_use_ += part_of_pool(port.held);
}

void IngressBuffer::lose(Probability share) {
  Settings left = as_built_;
  const auto shrink = [&](Bytes& limit) {
    limit.value = static_cast<uint64_t>(static_cast<unsigned __int128>(limit.value) *
                                        (Probability::kOne - share.ppb) / Probability::kOne);
  };
  shrink(left.size);
  shrink(left.reserve);
  for (Bytes& headroom : left.headroom) shrink(headroom);
  set_limits(std::move(left));
}

Bytes IngressBuffer::threshold_by(uint32_t alpha_permille) const {
  const Bytes free = pool_ > in_use_ ? pool_ - in_use_ : Bytes{0};
  return {free.value * alpha_permille / 1000};
}

bool IngressBuffer::admit(PortId at, Bytes length) {
  Port& port = ports_[at.value];
  const Bytes after = part_of_pool(port.held + length);
  if (after > threshold(at) && after > Bytes{0}) {
    if (port.extra + length > settings_.headroom[at.value]) return false;
    port.extra += length;
    port.most_extra = std::max(port.most_extra, port.extra);
  } else {
    in_use_ += after - part_of_pool(port.held);
    port.held += length;
  }
  port.most = std::max(port.most, port.held + port.extra);
  return true;
}

void IngressBuffer::release(PortId at, Bytes length) {
  Port& port = ports_[at.value];
  const Bytes from_extra = std::min(port.extra, length);
  port.extra -= from_extra;
  const Bytes rest = std::min(port.held, length - from_extra);
  in_use_ -= part_of_pool(port.held) - part_of_pool(port.held - rest);
  port.held -= rest;
}

bool IngressBuffer::wants_stop(PortId at) const {
  const Port& port = ports_[at.value];
  const Bytes part = part_of_pool(port.held);
  return port.extra > Bytes{0} || (part > Bytes{0} && part >= threshold(at));
}

bool IngressBuffer::wants_go(PortId at) const {
  const Port& port = ports_[at.value];
  const Bytes part = part_of_pool(port.held);
  return port.extra == Bytes{0} && (part == Bytes{0} || part + kXonOffset <= threshold(at));
}

}  // namespace mrclab::switchd
