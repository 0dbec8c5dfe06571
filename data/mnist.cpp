#include <ebb/data/mnist.h>

#include <filesystem>

#include <ebb/autograd/factories.h>
#include <ebb/core/memory/input_guard.h>
#include <ebb/io/idx.h>

namespace ebb::data::datasets {

namespace {

/// The file, or its compressed form if only that is there.
std::string find_file(const std::string& root, const std::string& name) {
  const auto path = std::filesystem::path(root) / name;
  const std::string plain = path.string();
  const std::string compressed = plain + ".gz";
  std::error_code status;
  if (std::filesystem::exists(plain, status)) return plain;
  EBB_CHECK(std::filesystem::exists(compressed, status), "MNIST: neither ", plain, " nor ",
            compressed, " exists");
  return compressed;
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  const std::string prefix = is_train() ? "train" : "t10k";
  const std::string image_file = find_file(root, prefix + "-images-idx3-ubyte");
  const std::string label_file = find_file(root, prefix + "-labels-idx1-ubyte");
  const io::IdxArray images = io::read_idx(image_file, 3);
  const io::IdxArray labels = io::read_idx(label_file, 1);
  EBB_CHECK(images.sizes[0] == labels.sizes[0], "MNIST: ", image_file, " has ", images.sizes[0],
            " images, but ", label_file, " has ", labels.sizes[0], " labels");
  for (const uint8_t label : labels.values) {
    EBB_CHECK(label < 10, "MNIST: ", label_file, " holds the label ", static_cast<int>(label),
              "; labels are 0 to 9");
  }
  const memory::InputGuard as_input;
  // On the CPU whatever the default device is: the loader collates there.
  const TensorOptions on_cpu = TensorOptions(kCPU);
  images_ =
      ebb::empty({images.sizes[0], 1, images.sizes[1], images.sizes[2]}, on_cpu.dtype(kFloat));
  targets_ = ebb::empty({labels.sizes[0]}, on_cpu.dtype(kLong));
  float* pixels = images_.data_ptr<float>();
  for (size_t i = 0; i < images.values.size(); ++i) {
    pixels[i] = static_cast<float>(images.values[i]) / 255.0F;
  }
  std::copy(labels.values.begin(), labels.values.end(), targets_.data_ptr<int64_t>());
}

Example<> MNIST::get(size_t index) {
  return {images_[static_cast<int64_t>(index)], targets_[static_cast<int64_t>(index)]};
}

std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace ebb::data::datasets
