#pragma once
// A series of counters as IPFIX (RFC 7011; a file of it: RFC 5655), with the templates of SONiC's high-frequency telemetry
// (SONiC, doc/high-frequency-telemetry): a record is the time and 8 bytes for each statistic of each object.
//
//   field 1            IE 325, observationTimeNanoseconds, 8 bytes
//   field 2, 3, ...    enterprise bit and the object's index; length 8; enterprise number: SAI's object type << 16 | statistic
//
// So the "enterprise number" of a field is none that IANA gave to anybody: SONiC uses the place for numbers of SAI, and so
// does this. IE 325 is an NTP time to IANA; SONiC's collector reads ns, which are those of fabric time here.

#include <string>

#include "telemetry/counter_series.h"

namespace mrclab::telemetry {

struct IpfixExport {
  std::string bytes;
  /// CSV, "domain,node,template,element,enterprise,object,statistic": what the numbers of each field stand for, as
  /// SONiC has it in STATE_DB.
  std::string objects;
  size_t messages = 0, records = 0, fields = 0;
};

/// Each switch is an observation domain, numbered as in the fabric, from 1 on; its ports are Ethernet0, Ethernet4, ... and
/// its queues Ethernet0|0 (data) and |3 (RoCE's). Counters that have no number of SAI, or never changed, are not in it;
/// drops by several causes that SAI counts as one are added up.
IpfixExport ipfix_of(const CounterSeries& series, const Topology& topology);

}  // namespace mrclab::telemetry
