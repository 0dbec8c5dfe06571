#pragma once

#include <string>

#include <ebb/cuda/emulator/launch.h>

namespace ebb::cuda::emulator {

/// Prints and keeps a report, with the line that reproduces it at its end, and makes all later
/// calls of the runtime fail with `error`.
void report(const std::string& text, cudaError_t error);
/// The report of the fault that makes all calls fail now; "" if there is none.
std::string fault_report();
/// The line that ends a report.
std::string reproduction();

/// "file:line".
std::string str(const Place& place);
/// "(1, 2, 3)".
std::string str(const uint3& index);
/// The kernel's name, as the program's symbol table has it, with parameter types; "kernel at
/// 0x..." where the program is stripped.
std::string kernel_name(const void* address);
/// "kernel NAME<<<grid, block>>> launched at file:line".
std::string describe(const Launch& launch);

}  // namespace ebb::cuda::emulator
