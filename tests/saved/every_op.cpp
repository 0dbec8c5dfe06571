// What each op keeps for backward, in bytes: the rows of docs/saved-tensors.md.

#include <ebb/ebb.h>

#include <map>
#include <set>

#include "catch.h"
#include "op_cases/op_cases.h"
#include "rows.h"

namespace {

using ebb::Tensor;
using ebb::memory::memory_allocated;
using op_cases::Case;
using op_cases::Tensors;
using saved::Row;

int64_t counted(const Tensor& tensor) {
  return static_cast<int64_t>(ebb::memory::rounded(tensor.nbytes()));
}

/// The choices of gradients that can be wanted: each set of differentiable arguments but the empty.
std::vector<std::vector<bool>> choices(const Case& op_case) {
  std::vector<std::vector<bool>> result;
  const size_t count = op_case.arguments.size();
  for (size_t bits = 1; bits < (size_t{1} << count); ++bits) {
    std::vector<bool> wanted(count);
    bool possible = true;
    for (size_t i = 0; i < count; ++i) {
      wanted[i] = ((bits >> i) & 1) != 0;
      if (wanted[i] && !op_case.arguments[i].differentiable) possible = false;
    }
    if (possible) result.push_back(wanted);
  }
  return result;
}

std::string names_of(const Case& op_case, const std::vector<bool>& chosen) {
  std::string names;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) names += (names.empty() ? "" : " ") + op_case.arguments[i].name;
  }
  return names;
}

/// The memory of what a call saves.
std::set<const void*> saved_by(const Case& op_case, const Tensors& arguments, Tensors& results) {
  std::set<const void*> memory;
  const ebb::autograd::SavedTensorHooks hooks(
      [&](const Tensor& tensor) {
        memory.insert(tensor.storage().data());
        return ebb::autograd::PackedTensor{{tensor}, {}};
      },
      [](const ebb::autograd::PackedTensor& packed) { return packed.tensors[0]; });
  results = call(op_case, arguments);
  return memory;
}

/// Calls the op and tells what its node keeps: by name, from what the hooks of saved tensors see,
/// and in bytes, from what is still allocated when nothing but the node is left.
Row observe(const Case& op_case, const std::vector<bool>& wanted) {
  Row row{op_case.name, names_of(op_case, wanted), "", 0};
  const Tensors leaves = make_arguments(op_case);
  for (size_t i = 0; i < leaves.size(); ++i) leaves[i].requires_grad_(wanted[i]);
  const auto start = memory_allocated();
  Tensors arguments;
  for (const auto& leaf : leaves) arguments.push_back(leaf.clone());

  int64_t named = 0;
  {
    Tensors results;
    auto memory = saved_by(op_case, arguments, results);
    const auto look_for = [&](const std::string& name, const Tensor& tensor) {
      if (memory.erase(tensor.storage().data()) == 0) return;
      row.kept += (row.kept.empty() ? "" : " ") + name;
      named += counted(tensor);
    };
    for (size_t i = 0; i < arguments.size(); ++i) {
      look_for(op_case.arguments[i].name, arguments[i]);
    }
    for (size_t i = 0; i < results.size(); ++i) look_for(i == 0 ? "result" : "indices", results[i]);
  }
  ebb::intrusive_ptr<ebb::autograd::Node> node;
  for (const auto& result : call(op_case, arguments)) {
    if (!node && result.requires_grad()) node = result.grad_fn();
  }
  arguments.clear();
  row.more = memory_allocated() - start - named;
  return row;
}

}  // namespace

TEST_CASE("What each op keeps for backward, in bytes") {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const auto& row : saved::rows()) {
    INFO(row.name << ", wanted: " << row.wanted);
    CHECK(rows.emplace(std::pair(row.name, row.wanted), row).second);
  }
  size_t used = 0;
  for (const auto& op_case : op_cases::all()) {
    for (const auto& wanted : choices(op_case)) {
      const Row row = observe(op_case, wanted);
      INFO(row.name << ", wanted: " << row.wanted);
      const auto found = rows.find({row.name, row.wanted});
      const Row expected = found == rows.end() ? Row{row.name, row.wanted, "", 0} : found->second;
      if (found != rows.end()) ++used;
      CHECK(row.kept == expected.kept);
      CHECK(row.more == expected.more);
    }
  }
  // A row that no case and choice asks for would be a claim that nothing checks.
  CHECK(used == rows.size());
}

TEST_CASE("An op has rows exactly if the table of ops says that it saves something") {
  std::set<std::string> ops_with_rows;
  for (const auto& row : saved::rows()) {
    ops_with_rows.insert(row.name.substr(0, row.name.find('.')));
  }
  int saving = 0;
  for (const auto& op : op_cases::described()) {
    INFO(op.name << " saves " << op.saves);
    REQUIRE_FALSE(op.saves.empty());
    const bool saves = op.saves.rfind("nothing", 0) != 0;
    CHECK((ops_with_rows.count(op.name) == 1) == saves);
    if (saves) ++saving;
  }
  CHECK(saving > 60);
}

TEST_CASE("Nothing is kept while no gradient is wanted, nor under NoGradGuard") {
  for (const auto& op_case : op_cases::all()) {
    for (const bool guarded : {false, true}) {
      INFO(op_case.name << (guarded ? " under NoGradGuard" : ""));
      const auto arguments = make_arguments(op_case);
      for (const auto& argument : arguments) {
        if (argument.is_floating_point()) argument.requires_grad_(guarded);
      }
      const ebb::AutoGradMode mode(!guarded);
      const auto results = call(op_case, arguments);
      for (const auto& result : results) CHECK(result.grad_fn() == nullptr);
      CHECK(ebb::memory::category_bytes(ebb::memory::Category::saved) == 0);
    }
  }
}

TEST_CASE("A gradient does not depend on which others are wanted") {
  const auto gradients = [](const Case& op_case, const std::vector<bool>& wanted) {
    const auto arguments = make_arguments(op_case);
    for (size_t i = 0; i < wanted.size(); ++i) arguments[i].requires_grad_(wanted[i]);
    for (const auto& result : call(op_case, arguments)) {
      if (!result.requires_grad()) continue;
      ebb::manual_seed(8);
      result.backward(ebb::rand_like(result), /*retain_graph=*/true);
    }
    Tensors grads;
    for (const auto& argument : arguments) grads.push_back(argument.grad());
    return grads;
  };
  int compared = 0;
  for (const auto& op_case : op_cases::all()) {
    const auto sets = choices(op_case);
    if (sets.empty()) continue;
    const auto all = gradients(op_case, sets.back());
    for (const auto& wanted : sets) {
      INFO(op_case.name << ", wanted: " << names_of(op_case, wanted));
      const auto some = gradients(op_case, wanted);
      for (size_t i = 0; i < wanted.size(); ++i) {
        CHECK(some[i].defined() == (wanted[i] && all[i].defined()));
        if (!some[i].defined()) continue;
        // Another kernel may add in another order.
        CHECK(ebb::allclose(some[i], all[i], 1e-4, 1e-5));
        ++compared;
      }
    }
  }
  CHECK(compared > 300);
}
