#include "common/job/image_checks.h"

#include <algorithm>

#include "common/job/key_tables.h"
#include "common/job/model_parameters.h"

namespace ballast {
namespace {

constexpr std::uint32_t kMostByteClasses = 256;  // of labels that are bytes

class ImageChecks {
 public:
  using Refuse = std::function<void(const std::string&, const std::string&)>;

  ImageChecks(const JobSpec& spec, const Refuse& refuse) : data_(spec.data), spec_(spec), refuse_(refuse) {}

  void run() {
    const auto& sets = image_sets();
    if (std::ranges::find(sets, data_.name) == sets.end()) {
      return;
    }
    if (data_.name == "idx" || data_.name == "cifar10" || data_.name == "images") {
      files();
      numbers();
      classes();
    }
    normalisation();
    augmentation();
  }

 private:
  void missing(const std::string& key, const std::string& example) {
    refuse_("data." + key, "is missing; data.name: " + data_.name + " needs it, e.g. " + example +
                               "; 'ballast data describe FOLDER' looks at the files and writes it");
  }

  void files() {
    const bool idx = data_.name == "idx";
    const auto need = [&](const std::string& key, const std::string& given, const std::string& example) {
      if (given.empty()) {
        missing(key, example);
      }
    };
    const bool images = data_.name == "images";
    need("train", data_.train, idx ? "train-images-idx3-ubyte.gz" : images ? "train" : "data_batch_*.bin");
    need("test", data_.test, idx ? "t10k-images-idx3-ubyte.gz" : images ? "test" : "test_batch.bin");
    if (idx) {
      need("train_labels", data_.train_labels, "train-labels-idx1-ubyte.gz");
      need("test_labels", data_.test_labels, "t10k-labels-idx1-ubyte.gz");
    }
  }

  void numbers() {
    if (data_.train_examples == 0) {
      missing("train_examples", "10000");
    }
    if (data_.test_examples == 0) {
      missing("test_examples", "2000");
    }
    if (data_.name == "cifar10") {
      return;
    }
    if (data_.height == 0) {
      missing("height", "32");
    }
    if (data_.width == 0) {
      missing("width", "32");
    }
    if (data_.channels == 2) {
      refuse_("data.channels", "2 channels are neither grey (1) nor colour (3)");
    }
  }

  void classes() {
    if (data_.classes.empty() && data_.name != "cifar10") {
      missing("classes", "[cat, dog]");
    }
    if (data_.name != "images" && data_.classes.size() > kMostByteClasses) {
      refuse_("data.classes", std::to_string(data_.classes.size()) + " classes are more than the " +
                                  std::to_string(kMostByteClasses) + " that the labels of " + data_.name +
                                  " can tell apart");
    }
  }

  void normalisation() {
    const auto channels = example_shape(data_).channels;
    const auto check = [&](const std::string& key, const std::vector<double>& given) {
      if (!given.empty() && given.size() != channels) {
        refuse_(key, "has " + std::to_string(given.size()) + " number(s), but the images have " +
                         std::to_string(channels) + " channel(s); give one for each");
      }
    };
    check("data.mean", data_.mean);
    check("data.deviation", data_.deviation);
  }

  void augmentation() {
    const auto& augment = spec_.training.augment;
    const auto shape = example_shape(data_);
    if (augment.saturation.value_or(0) > 0 && shape.channels == 1) {
      refuse_("training.augment.saturation", "changes colours, and these images are grey; remove it");
    }
    const auto crop = augment.crop.value_or(0);
    const auto side = std::min(shape.height, shape.width);
    if (side > 0 && crop >= side) {
      refuse_("training.augment.crop", std::to_string(crop) + " is not less than the images' " + std::to_string(side) +
                                           " pixels, so nothing of them might be left; lower it");
    }
  }

  const DataSpec& data_;
  const JobSpec& spec_;
  const Refuse& refuse_;
};

}  // namespace

void check_images(const JobSpec& spec, const std::function<void(const std::string&, const std::string&)>& refuse) {
  ImageChecks(spec, refuse).run();
}

}  // namespace ballast
