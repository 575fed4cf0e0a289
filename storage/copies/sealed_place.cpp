#include "storage/copies/sealed_place.h"

#include <optional>
#include <string>
#include <utility>

#include "storage/copies/format.h"
#include "storage/copies/seal.h"

namespace ballast {

namespace {

// Holds back a piece: whether it is the last one is known when more comes, or none.
class SealedWriter final : public ObjectWriter {
 public:
  SealedWriter(std::unique_ptr<ObjectWriter> writer, const CopyKey& key, const SealHead& head)
      : writer_(std::move(writer)), cipher_(PieceCipher::Way::seal, key, head) {}

  StoreStatus append(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (held_.size() == kSealedPiece) {
        if (auto put = put_piece(false); !put.ok()) {
          return put;
        }
      }
      const auto taken = bytes.substr(0, kSealedPiece - held_.size());
      held_.append(taken);
      bytes.remove_prefix(taken.size());
    }
    return {};
  }

  StoreStatus finish() override {
    auto status = put_piece(true);
    return status.ok() ? writer_->finish() : status;
  }

 private:
  StoreStatus put_piece(bool is_last) {
    auto status = writer_->append(cipher_.seal(held_, is_last));
    held_.clear();
    return status;
  }

  std::unique_ptr<ObjectWriter> writer_;
  PieceCipher cipher_;
  std::string held_;
};

// Whether names are of one object: who reads below or above the place that was written to sees another part of it.
bool is_same_object(const std::string& one, const std::string& other) {
  const auto& shorter = one.size() < other.size() ? one : other;
  const auto& longer = one.size() < other.size() ? other : one;
  return longer.ends_with(shorter) && (longer.size() == shorter.size() || longer.ends_with("/" + shorter));
}

// Takes an object's bytes in pieces of any size, and gives out the plain ones.
class ObjectOpener {
 public:
  ObjectOpener(const CopyKeys& keys, bool accept_plain, const std::string& name)
      : keys_(keys), accept_plain_(accept_plain), name_(name) {}

  // The last call after a failure, or once the sink has said so.
  StoreStatus take(std::string_view bytes, const CopyPlace::Sink& sink) {
    if (is_plain_) {
      is_over_ = !sink(bytes);
      return {};
    }
    held_.append(bytes);
    if (auto begun = begin(); !begun.ok()) {
      return begun;
    }
    return is_plain_ ? give(held_, sink) : open_pieces(sink);
  }

  // The object ended here.
  StoreStatus finish(const CopyPlace::Sink& sink) {
    if (is_plain_ || is_over_) {
      return {};
    }
    if (!cipher_) {
      return accept_plain_ && begin_of(held_).kind != SealBegin::Kind::sealed ? give(held_, sink) : no_copy();
    }
    return open_piece(held_, true, sink);
  }

  // Whether what was taken says how the object is to be read.
  [[nodiscard]] bool has_begun() const { return is_plain_ || cipher_; }
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  static StoreStatus no_copy() { return {StoreCode::corrupt, "this is no copy, or its head is damaged"}; }

  StoreStatus begin() {
    if (cipher_) {
      return {};
    }
    const auto begin = begin_of(held_);
    if (begin.kind == SealBegin::Kind::other) {
      return begin_plain();
    }
    if (begin.kind == SealBegin::Kind::unknown || held_.size() < begin.head_bytes) {
      return {};
    }
    auto head = decode_seal_head(std::string_view(held_).substr(0, begin.head_bytes));
    return head.ok() ? begin_sealed(head.value()) : head.status();
  }

  StoreStatus begin_plain() {
    if (accept_plain_) {
      is_plain_ = true;
      return {};
    }
    if (!may_be_plain(held_)) {
      return no_copy();
    }
    return {StoreCode::no_key,
            "it is not encrypted, and " + keys_.file() +
                " is given for those that are; without a key it is read (`ballast restore` without --copy-key-file, a "
                "job without durability.copy_key_file), and with one by --accept-plain of `ballast restore`"};
  }

  StoreStatus begin_sealed(const SealHead& head) {
    if (keys_.empty()) {
      return {StoreCode::no_key, "the copy is encrypted by the key " + head.key_id +
                                     ", and none is given; name the file that has it: --copy-key-file of `ballast "
                                     "restore`, durability.copy_key_file of a job"};
    }
    const auto* const key = keys_.find(head.key_id);
    if (key == nullptr) {
      return {StoreCode::no_key, "the copy is encrypted by the key " + head.key_id + ", and " + keys_.file() + " has " +
                                     keys_.ids() + "; add its line to that file, behind the others"};
    }
    if (!is_same_object(head.name, name_)) {
      return {StoreCode::corrupt, "another object, " + head.name + ", lies here under this one's name"};
    }
    cipher_.emplace(PieceCipher::Way::open, *key, head);
    held_.erase(0, head.bytes.size());
    return {};
  }

  // All but the last of what is here.
  StoreStatus open_pieces(const CopyPlace::Sink& sink) {
    constexpr auto kWhole = kSealedPiece + kSealTag;
    StoreStatus status;
    std::size_t used = 0;
    while (cipher_ && !is_over_ && status.ok() && held_.size() - used > kWhole) {
      status = open_piece(std::string_view(held_).substr(used, kWhole), false, sink);
      used += kWhole;
    }
    held_.erase(0, used);
    return status;
  }

  StoreStatus open_piece(std::string_view sealed, bool is_last, const CopyPlace::Sink& sink) {
    const auto plain = cipher_->open(sealed, is_last);
    return plain.ok() ? give(plain.value(), sink) : plain.status();
  }

  StoreStatus give(std::string_view plain, const CopyPlace::Sink& sink) {
    is_over_ = !plain.empty() && !sink(plain);
    return {};
  }

  const CopyKeys& keys_;
  bool accept_plain_;
  const std::string& name_;
  std::string held_;  // of the head, or of a piece
  std::optional<PieceCipher> cipher_;
  bool is_plain_ = false;
  bool is_over_ = false;  // the sink has said so
};

class SealedPlace final : public CopyPlace {
 public:
  SealedPlace(std::unique_ptr<CopyPlace> place, CopyKeys keys, bool accept_plain)
      : place_(std::move(place)), keys_(std::move(keys)), accept_plain_(accept_plain || keys_.empty()) {}

  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    keys_.refresh();
    auto writer = place_->write(name);
    if (!writer.ok() || keys_.empty()) {
      return writer;
    }
    const auto head = make_seal_head(keys_.first(), name);
    if (auto begun = writer.value()->append(head.bytes); !begun.ok()) {
      return begun;
    }
    return std::unique_ptr<ObjectWriter>(
        std::make_unique<SealedWriter>(std::move(writer.value()), keys_.first(), head));
  }

  StoreStatus read(const std::string& name, const Sink& sink) override {
    keys_.refresh();
    ObjectOpener opener(keys_, accept_plain_, name);
    StoreStatus wrong;
    const auto read = place_->read(name, [&](std::string_view bytes) {
      wrong = opener.take(bytes, sink);
      return wrong.ok() && !opener.is_over();
    });
    if (wrong.ok() && read.ok()) {
      wrong = opener.finish(sink);
    }
    return wrong.ok() ? read : in_object(*this, name, wrong);
  }

  StoreStatus look(const std::string& name) override {
    keys_.refresh();
    ObjectOpener opener(keys_, accept_plain_, name);
    StoreStatus wrong = place_->look(name);
    if (!wrong.ok()) {
      return wrong;
    }
    const auto none = [](std::string_view) { return false; };
    const auto read = place_->read(name, [&](std::string_view bytes) {
      wrong = opener.take(bytes, none);
      return wrong.ok() && !opener.has_begun();
    });
    if (wrong.ok() && read.ok() && !opener.has_begun()) {
      wrong = opener.finish(none);
    }
    return wrong.ok() ? read : in_object(*this, name, wrong);
  }

  StoreResult<std::vector<std::string>> list(const std::string& prefix) override { return place_->list(prefix); }
  StoreStatus remove_unfinished(const std::string& prefix, const Ours& is_ours) override {
    return place_->remove_unfinished(prefix, is_ours);
  }
  StoreStatus remove(const std::string& name) override { return place_->remove(name); }
  [[nodiscard]] std::string describe(const std::string& name) const override { return place_->describe(name); }

 private:
  std::unique_ptr<CopyPlace> place_;
  CopyKeys keys_;
  bool accept_plain_;
};

}  // namespace

std::unique_ptr<CopyPlace> make_sealed_place(std::unique_ptr<CopyPlace> place, CopyKeys keys, bool accept_plain) {
  return std::make_unique<SealedPlace>(std::move(place), std::move(keys), accept_plain);
}

}  // namespace ballast
