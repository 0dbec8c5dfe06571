#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saved {

/// What a case of tests/op_cases keeps for backward while certain gradients are wanted.
struct Row {
  std::string name;    ///< the case
  std::string wanted;  ///< arguments that require grad, with blanks between
  std::string kept;    ///< arguments and results that the node keeps, in this order
  int64_t more = 0;    ///< further bytes that it keeps
};

/// Every case and choice of gradients that keeps something. What is not here keeps nothing.
const std::vector<Row>& rows();

}  // namespace saved
