// The item of an evaluation that the lead's newest order has for a session.
#pragma once

#include <optional>

#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// Evaluated once. Its result is kept, and sent again, until the orders show that it has arrived. Pure and copyable.
class OrderedEvaluation {
 public:
  // As a newer order has it.
  void take(const std::optional<Evaluation>& evaluation);
  // Another timeline has begun: its items are new ones.
  void forget_order() { ordered_.reset(); }
  void forget_result() { result_.reset(); }

  // What is still to be evaluated.
  [[nodiscard]] const Evaluation* next() const { return ordered_ && !is_done_ ? &*ordered_ : nullptr; }
  // If the order has changed meanwhile, what it asks for now is still to be done.
  void done(const EvaluationResult& result);
  // What was evaluated does not count.
  void again();
  // Weights of this version and older ones are to be had no more.
  void gone(Version version);

  [[nodiscard]] const std::optional<EvaluationResult>& result() const { return result_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(ordered_, is_done_, result_));
  }

 private:
  std::optional<Evaluation> ordered_;
  bool is_done_ = false;
  std::optional<EvaluationResult> result_;
};

}  // namespace ballast
