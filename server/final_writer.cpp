#include "server/final_writer.h"

namespace ballast {

StoreStatus FinalWriter::write_tensors(const FinishedRecord& end, const std::vector<ChunkContent>& chunks) {
  for (const auto& chunk : chunks) {
    auto status =
        store_.write_tensor({end.timeline, end.step, TensorKind::weights, chunk.chunk}, std::as_bytes(chunk.weights));
    if (status.ok() && !chunk.momentum.empty()) {
      status = store_.write_tensor({end.timeline, end.step, TensorKind::momentum, chunk.chunk},
                                   std::as_bytes(chunk.momentum));
    }
    if (!status.ok()) {
      return status;
    }
  }
  return {};
}

StoreStatus FinalWriter::write(const FinishedRecord& end, const std::vector<ChunkContent>& chunks) {
  auto status = write_tensors(end, chunks);
  std::unique_lock lock(mutex_);
  if (status.ok() && ++written_ == lanes_ && !ended_) {
    status = store_.write_finished(end);
    ended_ = true;
    outcome_ = status;
  } else if (!status.ok() && !ended_) {
    ended_ = true;
    outcome_ = status;
  }
  changed_.notify_all();
  changed_.wait(lock, [this] { return ended_; });
  return outcome_;
}

void FinalWriter::cancel() {
  const std::scoped_lock lock(mutex_);
  if (!ended_) {
    ended_ = true;
    outcome_ = StoreStatus(StoreCode::io, "the server is stopping");
  }
  changed_.notify_all();
}

}  // namespace ballast
