// Linked with the object files of core alone: nothing in them may ask for a folder above.
#include <ebb/core/version.h>

#include <cstdio>

int main() { std::printf("core links alone, version %s\n", ebb::version()); }
