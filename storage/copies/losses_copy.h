// Copies of the losses of earlier steps, in blocks that all later snapshots of the run share.
#pragma once

#include "protocol/ids.h"
#include "storage/copies/format.h"
#include "storage/copies/place.h"
#include "storage/store/shard_store.h"

namespace ballast {

// Of shard 0. One thread. Memory: two blocks.
class LossesCopy {
 public:
  // Before the snapshot's own object is written: the blocks before it are in the place as the database has them.
  //
  // Where the job has gone back to an older copy, blocks that are there may be of steps that were done anew since
  // (other losses, with async or ssp). Blocks are written in order, so those are the newest ones always: the first that
  // is as here, from the newest on, ends the comparison. Of the others it is looked whether they can be read, in each
  // life of the server and on each timeline once.
  StoreStatus write(CopyPlace& place, const ShardStore& store, const CopyName& name);

 private:
  RunId run_ = 0;
  Timeline timeline_ = 0;
  Step blocks_ = 0;  // so many are known to be as in the database, as of a snapshot of that timeline
};

}  // namespace ballast
