# awk -f compare.awk EXPECTED ACTUAL: compares two outputs of lines "label value...", label by
# label. Numbers with decimals may differ by one in the last decimal, and those with five, which
# are floats, by 5e-7 of their value (four units in the last place of a float): sums and products
# are taken in other orders. All else must be equal.

function decimals(text) {
  return text ~ /^-?[0-9]+\.[0-9]+$/ ? length(text) - index(text, ".") : -1
}

function magnitude(x) { return x < 0 ? -x : x }

function same(a, b,    d) {
  if ((a "") == (b "")) return 1
  d = decimals(a)
  if (d < 0 || d != decimals(b)) return 0
  return magnitude(a - b) < 1.5 * 10 ^ -d + (d == 5 ? 5e-7 * magnitude(a) : 0)
}

function same_line(a, b,    n, m, i, left, right) {
  n = split(a, left, " ")
  m = split(b, right, " ")
  if (n != m) return 0
  for (i = 1; i <= n; ++i) if (!same(left[i], right[i])) return 0
  return 1
}

FNR == NR { expected[$1] = $0; next }
$1 in seen { print "twice: " $1; failed = 1 }
{ seen[$1] = 1 }
!($1 in expected) { print "not expected: " $0; failed = 1; next }
!same_line(expected[$1], $0) {
  print "expected: " expected[$1] "\n     got: " $0
  failed = 1
}
END {
  for (label in expected) if (!(label in seen)) { print "missing: " expected[label]; failed = 1 }
  for (label in seen) ++count
  print count + 0 " lines compared"
  exit failed
}
