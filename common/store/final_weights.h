// The end of a job, read back: the final tensors of all shards, and the digests by which two runs are compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/store/shard_store.h"

namespace ballast {

// The final tensors of a finished job. One thread.
class FinalWeights {
 public:
  // `piece` is the next bytes of the parameter, in order; a parameter may come in several pieces.
  using Visitor = std::function<void(std::size_t parameter, std::span<const std::byte> piece)>;

  // `shards` in any order. Refused unless they are all the shards of one job, of this layout, and each has finished at
  // the same (timeline, step). `layout` is layout_digest(arena).
  static StoreResult<FinalWeights> open(std::vector<std::unique_ptr<ShardStore>> shards, Arena arena,
                                        std::string layout);
  // The same from databases on disk, opened for reading only.
  static StoreResult<FinalWeights> open(const std::vector<std::filesystem::path>& shards, Arena arena,
                                        std::string layout);

  [[nodiscard]] Timeline timeline() const { return end_.timeline; }
  [[nodiscard]] Step step() const { return end_.step; }
  [[nodiscard]] const Identity& identity() const { return identity_; }  // of the first shard

  // Whether any momentum was written: jobs without momentum have none.
  [[nodiscard]] StoreResult<bool> has_momentum() const;
  // Visits the content of the parameters in arena order: no padding, no statistics. Momentum leaves out parameters of
  // the group `state`, which are not descended. A chunk that is missing or has another size is an error.
  [[nodiscard]] StoreStatus visit(TensorKind kind, const Visitor& visitor) const;

 private:
  FinalWeights() = default;
  [[nodiscard]] StoreResult<std::string> read_chunk(const Chunk& chunk, TensorKind kind) const;

  std::vector<std::unique_ptr<ShardStore>> shards_;
  Arena arena_;
  Identity identity_;
  FinishedRecord end_;
};

struct WeightsDigest {
  Timeline timeline = 0;
  Step step = 0;
  std::string weights;   // SHA-256 over the content of all parameters in arena order, lower-case hexadecimal
  std::string momentum;  // the same over the optimizer's momentum; empty if the job has none
};

StoreResult<WeightsDigest> digest_final(const FinalWeights& final_weights);
StoreResult<WeightsDigest> digest_final(const std::vector<std::filesystem::path>& shards, const Arena& arena,
                                        const std::string& layout);

}  // namespace ballast
