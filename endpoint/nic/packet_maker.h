#pragma once
// Makes the frames that a host sends: fills in addresses, MACs, carrier and classes.

#include "endpoint/nic/header_template.h"
#include "endpoint/nic/path_mapper.h"
#include "endpoint/queue_pair/requester.h"
#include "endpoint/roce/rc_requester.h"
#include "fabric/node/node.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class PacketMaker {
 public:
  struct Options {
    bool icrc = true;    ///< data ends in one, or in zeros
    bool lends = false;  ///< the payload of a request stays where it lies (Frame::lent)
    DscpMap dscps = {};
  };
  /// The references outlive the maker.
  PacketMaker(FramePool& frames, const PathMapper& paths, uint32_t self, const Options& options);

  bool lends() const { return options_.lends; }

  /// The destination of a packet.
  struct Address {
    uint32_t host = 0;
    Qpn qpn;
  };
  /// A frame; empty if the pool is exhausted. The payload is copied here, the one copy of the sender, or
  /// lent, unless it is `fleeting`. With elided payload only the headers are made, in a frame of the modelled length.
  [[gnu::flatten]] Frame data(const DataPacket& packet, Address to, FabricTime now,
                              bool fleeting = false);
  /// A SACK on `ev`, in the class of control.
  [[gnu::flatten]] Frame sack(const Seth& seth, EntropyValue ev, Address to);
  /// Another control packet on `ev`. Reliability probes travel in the data class, all else in control.
  Frame control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev, Address to);
  /// The same for a data packet of RC. The payload of an answer is copied.
  Frame rc_data(const RcPacket& packet, EntropyValue ev, Address to, bool fleeting = false);
  /// An acknowledgement of RC, or with CnpHeader a CNP. They travel in the control class (our choice): in
  /// the class of data they would be paused with it.
  Frame rc_control(Opcode opcode, Psn psn, const Extension& extension, EntropyValue ev, Address to);
  /// A UDP datagram with `payload` bytes that belongs to no queue pair. It travels in the data
  /// class like MRC's, but may not be trimmed, as no host would answer a trimmed one, nor marked.
  Frame datagram(EntropyValue ev, uint32_t host, size_t payload, bool elided) const {
    return datagram(ev, host, payload, elided, {});
  }
  /// What is forged in a datagram: its carrier, and the host that it claims to be of.
  struct Forged {
    std::optional<Ipv6Address> carrier;
    std::optional<uint32_t> source;
  };
  Frame datagram(EntropyValue ev, uint32_t host, size_t payload, bool elided,
                 const Forged& forged) const;

 private:
  /// How a packet goes.
  struct Way {
    EntropyValue ev;
    Address to;
    uint8_t dscp = 0, ecn = kEcnEct0;
  };
  struct Content {
    ConstMemory payload = {};
    bool lent = false;  ///< it stays where it lies
  };
  /// A packet whose BTH lacks only the destination and the pad. `put_extension` writes the `extension` bytes that
  /// follow BTH.
  template <class PutExtension>
  Frame make_packet(const Way& way, Bth bth, size_t extension, const Content& content,
                    PutExtension put_extension);
  /// The same with one of the extensions of fabric/packet.
  Frame make_extended(const Way& way, const Bth& bth, const Extension& extension,
                      const Content& content);
  /// Its headers stand in the frame: what is behind them.
  void finish(Frame& frame, size_t header_size, size_t size, ConstMemory payload) const;

  FramePool& frames_;
  const PathMapper& paths_;
  uint32_t self_;
  Options options_;
  HeaderTemplates templates_;
};

}  // namespace mrclab::endpoint
