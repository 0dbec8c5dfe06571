#include "lesson.h"

// A tensor lives as long as something refers to it, and not a moment longer.

int main() {
  const int64_t start = lesson::allocated();
  ebb::Tensor a = ebb::zeros({256, 256});
  lesson::equal("one tensor", lesson::bytes({256, 256}), lesson::allocated() - start);

  ebb::Tensor b = a;
  lesson::equal("two names of one tensor", lesson::bytes({256, 256}), lesson::allocated() - start);

  a.reset();
  lesson::equal("one name dropped", lesson::bytes({256, 256}), lesson::allocated() - start);

  b = ebb::zeros({16});
  lesson::equal("the other names something else", lesson::bytes({16}), lesson::allocated() - start);

  b.reset();
  lesson::equal("both dropped", 0, lesson::allocated() - start);
  lesson::say("Memory follows references: find who still holds the tensor, and let go there.");
}
