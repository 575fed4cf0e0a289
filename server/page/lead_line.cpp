#include "server/page/lead_line.h"

#include <utility>

namespace ballast {
namespace {

// A question or its answer may get lost on its way between the lead and others.
constexpr std::chrono::milliseconds kAskAgain{500};

}  // namespace

// What nobody waits for any more is dropped.
void LeadLine::answer(TracePart part) {
  const std::scoped_lock lock(mutex_);
  if (part.number == number_) {
    part_ = std::move(part);
    news_.notify_all();
  }
}

void LeadLine::show(JobView view) {
  is_wanted_.store(false, std::memory_order_relaxed);
  {
    const std::scoped_lock lock(mutex_);
    view_ = std::make_shared<const JobView>(std::move(view));
    news_.notify_all();
  }
  if (told_) {
    told_();
  }
}

std::shared_ptr<const JobView> LeadLine::newest() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

std::shared_ptr<const JobView> LeadLine::await_view(Micros newer_than, std::chrono::milliseconds patience) {
  want_view();
  std::unique_lock lock(mutex_);
  const auto is_there = [&] { return has_ended_ || (view_ && view_->at > newer_than); };
  return news_.wait_for(lock, patience, is_there) && !has_ended_ ? view_ : nullptr;
}

std::optional<TracePart> LeadLine::ask(TraceAsked asked, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex_);
  asked.number = ++number_;
  part_.reset();
  while (!has_ended_ && !part_ && std::chrono::steady_clock::now() < until) {
    questions_.put(asked);
    news_.wait_for(lock, kAskAgain, [&] { return has_ended_ || part_.has_value(); });
  }
  return has_ended_ ? std::nullopt : std::exchange(part_, std::nullopt);
}

void LeadLine::end() {
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  news_.notify_all();
}

}  // namespace ballast
