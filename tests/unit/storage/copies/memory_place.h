// A place in memory, whose objects a test looks at and spoils.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/copies/place.h"

namespace ballast::testing {

class MemoryPlace final : public CopyPlace {
 public:
  using Objects = std::map<std::string, std::string>;

  // They outlive the place. `piece`: how many bytes readers get at a time.
  explicit MemoryPlace(Objects& objects, std::size_t piece = 1U << 20U) : objects_(objects), piece_(piece) {}

  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(objects_, name));
  }
  StoreStatus read(const std::string& name, const Sink& sink) override {
    const auto found = objects_.find(name);
    if (found == objects_.end()) {
      return {StoreCode::missing, describe(name) + ": there is none"};
    }
    auto rest = std::string_view(found->second);
    while (!rest.empty() && sink(rest.substr(0, piece_))) {
      rest.remove_prefix(std::min(piece_, rest.size()));
    }
    return {};
  }
  StoreResult<std::vector<std::string>> list(const std::string& prefix) override {
    std::vector<std::string> names;
    for (const auto& [name, content] : objects_) {
      if (name.starts_with(prefix)) {
        names.push_back(name);
      }
    }
    return names;
  }
  StoreStatus remove_unfinished(const std::string&, const Ours&) override { return {}; }
  StoreStatus remove(const std::string& name) override {
    objects_.erase(name);
    return {};
  }
  [[nodiscard]] std::string describe(const std::string& name) const override { return "memory/" + name; }

 private:
  class Writer final : public ObjectWriter {
   public:
    Writer(Objects& objects, std::string name) : objects_(objects), name_(std::move(name)) {}
    StoreStatus append(std::string_view bytes) override {
      content_ += bytes;
      return {};
    }
    StoreStatus finish() override {
      objects_[name_] = content_;
      return {};
    }

   private:
    Objects& objects_;
    std::string name_;
    std::string content_;
  };

  Objects& objects_;
  std::size_t piece_;
};

}  // namespace ballast::testing
