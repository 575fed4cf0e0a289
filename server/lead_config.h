// What the lead must know of a job, and of the job's past.
#pragma once

#include "common/job/job.h"
#include "protocol/lead/lead.h"
#include "server/disk_room.h"
#include "storage/store/shard_store.h"

namespace ballast {

// `job` must outlive the configuration. Reads the ledger from shard 0's database, and waits for room if that takes it;
// throws std::runtime_error if it can't be read.
LeadConfig make_lead_config(const Job& job, const ShardStore& store, DiskRoom& room, const DatabaseLife& life);

}  // namespace ballast
