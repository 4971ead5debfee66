#pragma once
// What a person sees while a run goes on: a few redrawn lines on a terminal, plain lines in a pipe.

#include <cstdio>
#include <string>
#include <vector>

#include "console/terminal.h"
#include "fabric/base/units.h"

namespace mrclab::lab {

/// The state of a run at one instant.
struct ProgressSample {
  FabricTime now;
  FabricTime end;
  double dilation = 0;
  std::vector<uint64_t> plane_bytes;  ///< payload delivered since start, per plane
  std::vector<std::string> links_down;
  uint64_t evs_lost = 0;
  uint64_t evs_regained = 0;
  uint64_t retransmitted = 0;
  uint64_t trimmed = 0;
  uint64_t late_frames = 0;
  uint64_t qps_in_error = 0;
  uint64_t bytes_verified = 0;
};

class ProgressView {
 public:
  /// `terminal`: redraw in place with colour; otherwise one plain line per tenth of the run.
  /// `plane_rate_gbps`: what a full bar means.
  ProgressView(std::FILE* out, bool terminal, std::string title, double plane_rate_gbps);
  void update(const ProgressSample& sample);
  /// A line of its own, which stays: for what the user should see before the end.
  void note(const std::string& line);
  /// Draws the last state and leaves it standing.
  void finish(const ProgressSample& sample);

  /// The lines of one drawing, without control characters; on 60 columns or more each fits, and none is
  /// wider than 80.
  std::vector<std::string> draw(const ProgressSample& sample,
                                size_t columns = kTerminalColumns) const;
  std::string plain_line(const ProgressSample& sample) const;

 private:
  void remember(const ProgressSample& sample);
  static std::string left_text(const ProgressSample& sample);
  double gbps(const ProgressSample& sample, size_t plane) const;
  void print(const std::vector<std::string>& lines);

  std::FILE* out_;
  bool terminal_;
  std::string title_;
  double plane_rate_gbps_;
  ProgressSample before_;  ///< start of the window that rates are computed over
  ProgressSample last_;
  size_t lines_drawn_ = 0;
  int64_t tenths_printed_ = -1;
};

}  // namespace mrclab::lab
