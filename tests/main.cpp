// The main function of all tests: Catch2's own, with the seed of the order printed, so that a
// failure that depends on the order can be had again.
#define CATCH_CONFIG_RUNNER

#include "catch.h"

#include <iostream>

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;
  std::cout << "seed of the order: " << session.config().rngSeed() << std::endl;
  return session.run();
}
