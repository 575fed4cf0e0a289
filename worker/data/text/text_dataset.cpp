// Messages, each a sequence of the first data.steps tokens of its text.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/job/words.h"
#include "worker/data/example_files.h"
#include "worker/data/text/message_tokens.h"
#include "worker/data/text/text_files.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {
namespace {

class TextSplit {
 public:
  [[nodiscard]] std::uint32_t count() const { return sequences_.count(); }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    const auto tokens = sequences_.at(index);
    std::ranges::copy(tokens, room.tokens.begin());
    room.length[0] = static_cast<std::uint32_t>(tokens.size());
    room.labels[0] = labels_[index];
  }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const { return labels_[index]; }
  [[nodiscard]] std::string source(std::uint32_t index) const { return sources_.empty() ? "" : sources_[index]; }
  void keep_first(std::uint32_t count) {
    sequences_.keep_first(count);
    labels_.resize(sequences_.count());
  }
  void add_to(Sha256& digest) const {
    sequences_.add_to(digest);
    digest.update(std::as_bytes(std::span(labels_)));
  }

  void add(const std::vector<std::int32_t>& tokens, std::int32_t label) {
    sequences_.add(tokens);
    labels_.push_back(label);
  }
  // Of the example that was added last: of all of a split, or of none.
  void add_source(std::string source) { sources_.push_back(std::move(source)); }

 private:
  Sequences sequences_;
  std::vector<std::int32_t> labels_;
  std::vector<std::string> sources_;
};

struct Message {
  std::string name;
  std::vector<std::int32_t> tokens;
};
using Messages = std::vector<std::vector<Message>>;  // by class
using SourceOf = std::function<std::string(std::size_t label, const std::string& name)>;

// Classes are spread evenly, so that the first ones of a split are of all classes: the k-th of a class's n messages by
// name stands at (k + 1/2) / n, those at equal places in the order of classes. `source` says where a message lies; it
// may be empty.
TextSplit spread(Messages messages, const SourceOf& source) {
  struct Place {
    std::uint64_t rank;
    std::uint64_t held;
    std::size_t label;
  };
  std::vector<Place> places;
  for (std::size_t label = 0; label < messages.size(); ++label) {
    std::ranges::sort(messages[label], {}, &Message::name);
    for (std::size_t rank = 0; rank < messages[label].size(); ++rank) {
      places.push_back({rank, messages[label].size(), label});
    }
  }
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    const auto left = (2 * a.rank + 1) * b.held;
    const auto right = (2 * b.rank + 1) * a.held;
    return left != right ? left < right : a.label < b.label;
  });
  TextSplit split;
  for (const auto& place : places) {
    const auto& message = messages[place.label][place.rank];
    split.add(message.tokens, static_cast<std::int32_t>(place.label));
    if (source) {
      split.add_source(source(place.label, message.name));
    }
  }
  return split;
}

class TextReader {
 public:
  TextReader(const DataSpec& spec, const std::string& worker_path, DatasetUse use)
      : spec_(spec),
        use_(use),
        root_(example_root(spec, worker_path)),
        vocabulary_(vocabulary_path(root_, spec), spec.vocabulary) {
    for (const auto& name : spec.classes) {
      labels_.emplace(name, labels_.size());
    }
  }

  // Each split by itself, so that what is left out is counted for each.
  TextSplit read(const std::string& name, std::uint32_t wanted, const char* key) {
    if (name.empty()) {
      return {};
    }
    Messages messages(spec_.classes.size());
    CorruptExamples corrupt(spec_);
    std::uint64_t good = 0;
    read_text_files(root_, {name}, [&](const TextFile& file, std::string bytes, const std::string& fault) {
      const auto where = root_.string() + ": " + file.split + "/" + file.folder + "/" + file.name;
      const auto label = labels_.find(file.folder);
      if (label == labels_.end()) {
        throw std::runtime_error(where +
                                 " lies in a folder that is none of data.classes; name its class there, or take "
                                 "the folder away");
      }
      if (!fault.empty()) {
        corrupt.found(where + ": " + fault);
        return;
      }
      messages[label->second].push_back({file.name, message_tokens(std::move(bytes), spec_, vocabulary_)});
      ++good;
    });
    left_out_ += corrupt.check(root_ / name, good, wanted, key);
    const auto source = [&](std::size_t label, const std::string& file) {
      return (root_ / name / spec_.classes[label] / file).string();
    };
    return spread(std::move(messages), use_ == DatasetUse::asking ? SourceOf(source) : SourceOf());
  }

  // Corrupt examples of all that was read.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  const DataSpec& spec_;
  DatasetUse use_;
  std::filesystem::path root_;
  Vocabulary vocabulary_;
  std::map<std::string, std::size_t, std::less<>> labels_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> open_text(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  TextReader reader(spec, worker_path, use);
  auto train = reader.read(spec.train, spec.train_examples, "train_examples");
  auto test = reader.read(spec.test, spec.test_examples, "test_examples");
  return std::make_unique<SplitDataset<TextSplit>>(spec, std::move(train), std::move(test), reader.left_out());
}

}  // namespace ballast
