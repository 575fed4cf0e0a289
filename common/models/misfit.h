// A model that cannot be had as a job asks for it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ballast {

// The key of the job file that it is about, and what is wrong there in a sentence; what() is both.
class ModelMisfit : public std::invalid_argument {
 public:
  ModelMisfit(std::string key, std::string text)
      : std::invalid_argument(key + ": " + text), key_(std::move(key)), text_(std::move(text)) {}

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string key_;
  std::string text_;
};

}  // namespace ballast
