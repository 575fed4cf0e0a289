#include "storage/copies/losses_copy.h"

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "storage/store/record_keys.h"
#include "storage/store/records.h"

namespace ballast {
namespace {

class TextWriter final : public ObjectWriter {
 public:
  explicit TextWriter(std::string& text) : text_(text) {}
  StoreStatus append(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  StoreStatus finish() override { return {}; }

 private:
  std::string& text_;
};

// As the object has it.
StoreResult<std::string> encoded_losses(const ShardStore& store, const LossesName& losses) {
  const auto statistics = store.read_statistics(losses.first, losses.first + kLossesInBlock);
  if (!statistics.ok()) {
    return statistics.status();
  }
  std::string text;
  TextWriter writer(text);
  CopyEncoder encoder(writer, head_of(losses));
  for (const auto& step : statistics.value()) {
    if (auto status = encoder.entry(statistics_key(step.step), encode(step)); !status.ok()) {
      return status;
    }
  }
  const auto status = encoder.finish();
  return status.ok() ? StoreResult<std::string>(std::move(text)) : status;
}

// Whether an object has just this content. One that cannot be read for its own sake has not: it was damaged, or written
// by another key.
StoreResult<bool> has_content(CopyPlace& place, const std::string& object, std::string_view content) {
  bool is_same = true;
  const auto read = place.read(object, [&](std::string_view bytes) {
    is_same = content.starts_with(bytes);
    content.remove_prefix(is_same ? bytes.size() : 0);
    return is_same;
  });
  return read.code() == StoreCode::io ? StoreResult<bool>(read) : is_same && read.ok() && content.empty();
}

StoreResult<bool> is_as_here(CopyPlace& place, const ShardStore& store, const LossesName& losses) {
  const auto content = encoded_losses(store, losses);
  return content.ok() ? has_content(place, to_string(losses), content.value()) : content.status();
}

StoreStatus write_block(CopyPlace& place, const ShardStore& store, const LossesName& losses) {
  const auto content = encoded_losses(store, losses);
  if (!content.ok()) {
    return content.status();
  }
  auto writer = place.write(to_string(losses));
  if (!writer.ok()) {
    return writer.status();
  }
  const auto status = writer.value()->append(content.value());
  return status.ok() ? writer.value()->finish() : status;
}

}  // namespace

StoreStatus LossesCopy::write(CopyPlace& place, const ShardStore& store, const CopyName& name) {
  const auto names = place.list(run_prefix(name.job, name.run) + "losses/");
  if (!names.ok()) {
    return names.status();
  }
  const std::set<std::string> there(names.value().begin(), names.value().end());
  const auto losses_of = [&](Step block) { return LossesName{name.job, name.run, block * kLossesInBlock}; };
  if (std::tie(run_, timeline_) != std::tie(name.run, name.snapshot.timeline)) {
    std::tie(run_, timeline_) = std::tie(name.run, name.snapshot.timeline);
    blocks_ = 0;
  }
  const auto blocks = losses_blocks(name.snapshot.step);
  Step outdated = blocks;  // from here on
  for (Step block = blocks; block > blocks_; --block) {
    const auto losses = losses_of(block - 1);
    if (!there.contains(to_string(losses))) {
      continue;
    }
    const auto is_same = is_as_here(place, store, losses);
    if (!is_same.ok()) {
      return is_same.status();
    }
    if (is_same.value()) {
      break;
    }
    outdated = block - 1;
  }
  for (Step block = 0; block < blocks; ++block) {
    const auto name_of_block = to_string(losses_of(block));
    const bool is_written = block < outdated && there.contains(name_of_block);
    // One that was equal before is not read again; but the key may have gone that it was encrypted by.
    const auto seen = is_written && block >= blocks_ ? place.look(name_of_block) : StoreStatus{};
    if (seen.code() == StoreCode::io) {
      return seen;
    }
    const bool is_good = is_written && seen.ok();
    if (auto status = is_good ? StoreStatus{} : write_block(place, store, losses_of(block)); !status.ok()) {
      return status;
    }
  }
  blocks_ = blocks;
  return {};
}

}  // namespace ballast
