#pragma once
// A run as a qlog file: JSON text sequences (RFC 7464) with the frame of draft-ietf-quic-qlog-main-
// schema. Names of events are those of QUIC's qlog where they mean the same (transport:packet_sent,
// transport:packet_received, recovery:packet_lost, recovery:metrics_updated), else of our own
// namespace (mrc:...). Packet numbers are PSNs; times are milliseconds of fabric time.

#include "analysis/trace/run_trace.h"

namespace mrclab::analysis {

void write_qlog(const RunTrace& trace, BoundedOutput& out);

}  // namespace mrclab::analysis
