#include "server/disk_room.h"

#include <algorithm>
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
  if (!refusals_.empty()) {
    return refusals_.front();
  }
  for (const auto* watch : watches_) {
    if (auto told = told_of(watch->what_, Clock::now() - watch->since_, watch->patience_); !told.empty()) {
      return told;
    }
  }
  return {};
}

DiskRoom::Watch::Watch(DiskRoom& room, const char* what, std::chrono::seconds patience)
    : room_(room), what_(what), patience_(patience), since_(Clock::now()) {
  const std::scoped_lock lock(room_.mutex_);
  place_ = room_.watches_.insert(room_.watches_.end(), this);
}

DiskRoom::Watch::~Watch() {
  const std::scoped_lock lock(room_.mutex_);
  room_.watches_.erase(place_);
}

std::chrono::duration<double> DiskRoom::oldest() const {
  const std::scoped_lock lock(mutex_);
  return watches_.empty() ? Clock::duration{} : Clock::now() - watches_.front()->since_;
}

// Without the time itself: a text that changed would be told again and again.
std::string DiskRoom::told_of(std::string_view what, std::chrono::duration<double> taken,
                              std::chrono::seconds patience) {
  return taken < patience
             ? std::string()
             : std::string(what) + " has not come back from the disk for more than " +
                   std::to_string(patience.count()) + " s: the disk hangs or is overloaded; what rests on it waits";
}

void DiskRoom::update_metrics(std::chrono::duration<double> others) const {
  series_.busy_seconds->set(std::max(oldest(), others).count());
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
