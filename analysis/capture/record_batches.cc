#include "analysis/capture/record_batches.h"

#include <exception>
#include <utility>

namespace mrclab::analysis {
namespace {

struct RecordBatch {
  std::vector<CaptureRecord> records;
  std::vector<uint8_t> bytes;  ///< the frames and comments of the records, which point into it
  std::vector<CaptureInterface>
      interfaces;  ///< those that the file described since the batch before
  bool last = false;
  std::exception_ptr problem;  ///< why nothing behind it can be read
};

class BatchReader {
 public:
  explicit BatchReader(CaptureReader& reader) : reader_(reader) {}

  void fill(RecordBatch& batch) {
    batch.records.clear();
    batch.bytes.clear();
    batch.interfaces.clear();
    batch.bytes.reserve(kBatchBytes + kMaxBlockBytes);  // so that what points into it stays
    CaptureRecord record;
    try {
      while (batch.bytes.size() < kBatchBytes && batch.records.size() < kBatchRecords) {
        if (!reader_.next(record)) {
          batch.last = true;
          break;
        }
        if (record.bytes.size() + record.comment.size() > kMaxBlockBytes) {
          throw CaptureError("a record is longer than a block may be");
        }
        keep(record, batch);
      }
    } catch (const CaptureError&) {
      batch.last = true;
      batch.problem = std::current_exception();
    }
    const std::vector<CaptureInterface>& described = reader_.interfaces();
    batch.interfaces.assign(described.begin() + static_cast<std::ptrdiff_t>(told_),
                            described.end());
    told_ = described.size();
  }

 private:
  static void keep(CaptureRecord record, RecordBatch& batch) {
    const auto kept = [&batch](const auto* data, size_t size) {
      const size_t at = batch.bytes.size();
      batch.bytes.insert(batch.bytes.end(), data, data + size);
      return batch.bytes.data() + at;
    };
    record.bytes = {kept(record.bytes.data(), record.bytes.size()), record.bytes.size()};
    record.comment = {
        reinterpret_cast<const char*>(kept(record.comment.data(), record.comment.size())),
        record.comment.size()};
    batch.records.push_back(record);
  }

  CaptureReader& reader_;
  size_t told_ = 0;  // interfaces that a batch has named
};

}  // namespace

void for_each_record(CaptureReader& reader, const SideBySide& side_by_side,
                     const TakeRecord& take) {
  if (!side_by_side) {
    CaptureRecord record;
    while (reader.next(record)) take(record, reader.interfaces());
    return;
  }
  BatchReader ahead(reader);
  RecordBatch front, back;
  std::vector<CaptureInterface> interfaces;
  for (ahead.fill(front);; std::swap(front, back)) {
    interfaces.insert(interfaces.end(), front.interfaces.begin(), front.interfaces.end());
    side_by_side(front.last ? 1 : 2, [&](size_t i) {
      if (i == 1) return ahead.fill(back);
      for (const CaptureRecord& record : front.records) take(record, interfaces);
    });
    if (!front.last) continue;
    if (front.problem) std::rethrow_exception(front.problem);
    return;
  }
}

}  // namespace mrclab::analysis
