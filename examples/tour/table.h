#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "techniques.h"

namespace tour {

/// The tables, and after each what saves bytes, the cheapest first.
void print(const std::vector<Table>& tables);
/// The same facts.
nlohmann::ordered_json to_json(const std::vector<Table>& tables);
/// One page of HTML that shows the last step of each row; see memory::write_page.
void write_page(const std::string& path, const std::vector<Table>& tables);

}  // namespace tour
