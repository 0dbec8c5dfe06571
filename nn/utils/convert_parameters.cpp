#include <ebb/nn/utils/convert_parameters.h>

namespace ebb::nn::utils {

namespace {

/// How many elements they have. Throws unless they lie on one device.
int64_t checked_numel(const std::vector<Tensor>& parameters) {
  int64_t numel = 0;
  for (const Tensor& parameter : parameters) {
    EBB_CHECK(parameter.device() == parameters.front().device(),
              "Found two parameters on different devices, ", parameters.front().device(), " and ",
              parameter.device(), "; this is currently not supported");
    numel += parameter.numel();
  }
  return numel;
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  static_cast<void>(checked_numel(parameters));
  std::vector<Tensor> parts;
  parts.reserve(parameters.size());
  for (const Tensor& parameter : parameters) parts.push_back(parameter.reshape(-1));
  return cat(parts);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  const int64_t wanted = checked_numel(parameters);
  EBB_CHECK(vec.dim() == 1 && vec.numel() >= wanted, "vector_to_parameters: expected a vector of ",
            wanted, " elements, one for each of the parameters, got sizes ", vec.sizes());
  int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const int64_t numel = parameter.numel();
    parameter.set_data(vec.narrow(0, begin, numel).view_as(parameter).data());
    begin += numel;
  }
}

}  // namespace ebb::nn::utils
