#include "table.h"

#include <cstdio>

#include "text.h"

namespace tour {

namespace {

std::string ratio(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

void print_line(const char* name, const std::string& peak, const std::string& change,
                const std::string& time, const std::string& loss, const char* why) {
  std::printf("  %-38s %12s %8s %5s %7s  %s\n", name, peak.c_str(), change.c_str(), time.c_str(),
              loss.c_str(), why);
}

void print_savings(const Table& table, bool same_loss) {
  std::printf("\n  to save bytes, cheapest first%s\n",
              same_loss ? ", with the same losses to rounding" : ", whatever becomes of the loss");
  for (const Saving& saving : cheapest_first(table, same_loss)) {
    std::printf("    up to %12s: %s (%s of the time)\n", grouped(saving.bytes).c_str(),
                saving.row->recipe.name.c_str(), ratio(saving.time_ratio).c_str());
  }
}

void print(const Table& table) {
  std::printf("\n%s: %s\n", table.name.c_str(), table.about.c_str());
  print_line("technique", "peak bytes", "change", "time", "loss", "why");
  for (const Row& row : table.rows) {
    print_line(row.recipe.name.c_str(), grouped(row.peak_bytes), percent(table.change(row)),
               ratio(table.time_ratio(row)), brief(table.loss_difference(row)),
               row.recipe.why.c_str());
  }
  print_savings(table, true);
  print_savings(table, false);
}

nlohmann::ordered_json savings_json(const Table& table, bool same_loss) {
  auto list = nlohmann::ordered_json::array();
  for (const Saving& saving : cheapest_first(table, same_loss)) {
    list.push_back({{"up_to_bytes", saving.bytes},
                    {"name", saving.row->recipe.name},
                    {"time_ratio", saving.time_ratio}});
  }
  return list;
}

nlohmann::ordered_json row_json(const Table& table, const Row& row) {
  nlohmann::ordered_json json = {{"name", row.recipe.name},
                                 {"why", row.recipe.why},
                                 {"peak_bytes", row.peak_bytes},
                                 {"saved_bytes", table.saved(row)},
                                 {"reserved_bytes", row.reserved_bytes},
                                 {"time_ratio", table.time_ratio(row)},
                                 {"step_seconds", row.seconds},
                                 {"largest_loss_difference", table.loss_difference(row)},
                                 {"losses", row.losses}};
  for (int i = 0; i < ebb::memory::kCategories; ++i) {
    const auto category = static_cast<ebb::memory::Category>(i);
    json["categories"][ebb::memory::name(category)] = row.categories[static_cast<size_t>(i)];
  }
  return json;
}

std::string note(const Table& table, const Row& row) {
  const int64_t saved = table.saved(row);
  std::string text = row.recipe.why + ". ";
  if (&row == &table.baseline()) return text + "What the others are compared with.";
  return text + grouped(saved < 0 ? -saved : saved) + " bytes " + (saved < 0 ? "more" : "less") +
         " than the baseline (" + percent(table.change(row)) + "); a step takes " +
         ratio(table.time_ratio(row)) + " of its time; the loss differs by at most " +
         brief(table.loss_difference(row)) + ".";
}

}  // namespace

void print(const std::vector<Table>& tables) {
  std::printf(
      "\nTechniques, each with a network of its own, from the same seed, on %s.\n"
      "Peak: the most bytes from before the network was made. Time: of the quickest step, in "
      "steps\n"
      "of the baseline. Loss: its largest difference from the baseline's, over all steps.\n",
      machine().c_str());
  for (const Table& table : tables) print(table);
}

nlohmann::ordered_json to_json(const std::vector<Table>& tables) {
  auto list = nlohmann::ordered_json::array();
  for (const Table& table : tables) {
    nlohmann::ordered_json json = {{"model", table.name}, {"about", table.about}};
    for (const Row& row : table.rows) json["techniques"].push_back(row_json(table, row));
    json["cheapest_first"] = {{"same_loss", savings_json(table, true)},
                              {"any_loss", savings_json(table, false)}};
    list.push_back(std::move(json));
  }
  return list;
}

void write_page(const std::string& path, const std::vector<Table>& tables) {
  std::vector<ebb::memory::NamedRecording> runs;
  for (const Table& table : tables) {
    for (const Row& row : table.rows) {
      runs.push_back({row.recipe.name, note(table, row), row.last_step, table.name});
    }
  }
  ebb::memory::write_page(path, runs, "One training step, with each memory technique");
}

}  // namespace tour
