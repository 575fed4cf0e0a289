#include "server/disk_room.h"

#include <chrono>

#include "common/log/log.h"

namespace ballast {

namespace {

constexpr std::chrono::milliseconds kRetry{500};

}  // namespace

StoreStatus DiskRoom::await(const Attempt& attempt, const std::function<bool()>& wanted) {
  auto status = attempt();
  if (!may_work_later(status.code())) {
    return status;
  }
  const auto refusal = begin_waiting(status);
  std::unique_lock lock(mutex_);
  while (may_work_later(status.code()) && wanted() && !closing_.wait_for(lock, kRetry, [this] { return closed_; })) {
    lock.unlock();
    status = attempt();
    lock.lock();
  }
  lock.unlock();
  end_waiting(refusal, status);
  return status;
}

std::string DiskRoom::trouble() const {
  const std::scoped_lock lock(mutex_);
  return refusals_.empty() ? std::string() : refusals_.front();
}

void DiskRoom::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  closing_.notify_all();
}

DiskRoom::Refusals::iterator DiskRoom::begin_waiting(const StoreStatus& refused) {
  const bool is_full = refused.code() == StoreCode::no_space;
  log_warn("waits {}: {}", is_full ? "for room on the disk" : "until the database has been read", refused.text());
  const std::scoped_lock lock(mutex_);
  series_.waits->set(1);
  return refusals_.insert(refusals_.end(), refused.text());
}

void DiskRoom::end_waiting(Refusals::iterator refusal, const StoreStatus& status) {
  if (status.ok()) {
    log_info("there is room on the disk again: goes on");
  } else {
    log_warn("waits no longer: {}", status.text());
  }
  const std::scoped_lock lock(mutex_);
  refusals_.erase(refusal);
  series_.waits->set(refusals_.empty() ? 0 : 1);
}

}  // namespace ballast
