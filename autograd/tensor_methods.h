// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

// Included in the body of class Tensor.

/// -self. Not for bool.
Tensor neg() const;
Tensor& neg_() const;
/// The absolute value.
Tensor abs() const;
Tensor& abs_() const;
/// e to the power of self.
Tensor exp() const;
Tensor& exp_() const;
/// exp(self) - 1, exact near zero.
Tensor expm1() const;
Tensor& expm1_() const;
/// The natural logarithm.
Tensor log() const;
Tensor& log_() const;
/// The logarithm to base 2.
Tensor log2() const;
Tensor& log2_() const;
/// The logarithm to base 10.
Tensor log10() const;
Tensor& log10_() const;
/// log(1 + self), exact near zero.
Tensor log1p() const;
Tensor& log1p_() const;
/// The square root.
Tensor sqrt() const;
Tensor& sqrt_() const;
/// 1 / sqrt(self).
Tensor rsqrt() const;
Tensor& rsqrt_() const;
/// self * self.
Tensor square() const;
Tensor& square_() const;
/// 1 / self.
Tensor reciprocal() const;
Tensor& reciprocal_() const;
/// The sine.
Tensor sin() const;
Tensor& sin_() const;
/// The cosine.
Tensor cos() const;
Tensor& cos_() const;
/// The tangent.
Tensor tan() const;
Tensor& tan_() const;
/// The error function.
Tensor erf() const;
Tensor& erf_() const;
/// The largest integer not above self. Its gradient is zero.
Tensor floor() const;
Tensor& floor_() const;
/// The least integer not below self. Its gradient is zero.
Tensor ceil() const;
Tensor& ceil_() const;
/// The nearest integer, halves to even. Its gradient is zero.
Tensor round() const;
Tensor& round_() const;
/// The integer part. Its gradient is zero.
Tensor trunc() const;
Tensor& trunc_() const;
/// -1, 0 or 1. Its gradient is zero.
Tensor sign() const;
Tensor& sign_() const;
/// The inverse sine.
Tensor asin() const;
Tensor& asin_() const;
/// The inverse cosine.
Tensor acos() const;
Tensor& acos_() const;
/// The inverse tangent.
Tensor atan() const;
Tensor& atan_() const;
/// The hyperbolic sine.
Tensor sinh() const;
Tensor& sinh_() const;
/// The hyperbolic cosine.
Tensor cosh() const;
Tensor& cosh_() const;
/// The inverse hyperbolic sine.
Tensor asinh() const;
Tensor& asinh_() const;
/// The inverse hyperbolic cosine.
Tensor acosh() const;
Tensor& acosh_() const;
/// The inverse hyperbolic tangent.
Tensor atanh() const;
Tensor& atanh_() const;
/// 1 - erf(self), exact where that is small.
Tensor erfc() const;
Tensor& erfc_() const;
/// 2 to the power of self.
Tensor exp2() const;
Tensor& exp2_() const;
/// self - trunc(self). Floating point only.
Tensor frac() const;
Tensor& frac_() const;
/// Whether self is zero, as bool.
Tensor logical_not() const;
Tensor& logical_not_() const;
/// The bits of an integer turned round; `not` for bool.
Tensor bitwise_not() const;
Tensor& bitwise_not_() const;
/// Whether each element is NaN, as bool.
Tensor isnan() const;
/// Whether each element is infinite, as bool.
Tensor isinf() const;
/// Whether each element is neither NaN nor infinite, as bool.
Tensor isfinite() const;
/// max(self, 0).
Tensor relu() const;
Tensor& relu_() const;
/// The hyperbolic tangent.
Tensor tanh() const;
Tensor& tanh_() const;
/// 1 / (1 + exp(-self)).
Tensor sigmoid() const;
Tensor& sigmoid_() const;
Tensor& silu_() const;
Tensor& leaky_relu_(const Scalar& negative_slope = 0.01) const;
Tensor& elu_(const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1) const;
Tensor& celu_(const Scalar& alpha = 1.0) const;
Tensor& selu_() const;
Tensor& hardtanh_(const Scalar& min_val = -1, const Scalar& max_val = 1) const;
Tensor& relu6_() const;
Tensor& hardsigmoid_() const;
Tensor& hardswish_() const;
Tensor& mish_() const;
/// self, or zero where |self| <= lambd.
Tensor hardshrink(const Scalar& lambd = 0.5) const;
Tensor& threshold_(const Scalar& threshold, const Scalar& value) const;
/// log(self / (1 - self)), self cut off to [eps, 1 - eps] if eps is given.
Tensor logit(std::optional<double> eps = {}) const;
Tensor& logit_(std::optional<double> eps = {}) const;
/// self where self > 0, else weight * self, with one weight or one for each of dimension 1 (He et
/// al., 2015).
Tensor prelu(const Tensor& weight) const;
/// self + alpha * other.
Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
Tensor& add_(const Scalar& other, const Scalar& alpha = 1) const;
Tensor& add_relu_(const Tensor& other) const;
/// self - alpha * other. Not for bool.
Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
Tensor sub(const Scalar& other, const Scalar& alpha = 1) const;
Tensor& sub_(const Scalar& other, const Scalar& alpha = 1) const;
/// self * other.
Tensor mul(const Tensor& other) const;
Tensor& mul_(const Tensor& other) const;
Tensor mul(const Scalar& other) const;
Tensor& mul_(const Scalar& other) const;
/// self / other; integers give the default float type, unless rounding_mode is "floor" or
/// "trunc".
Tensor div(const Tensor& other) const;
Tensor& div_(const Tensor& other) const;
Tensor div(const Scalar& other) const;
Tensor& div_(const Scalar& other) const;
Tensor div(const Tensor& other, std::optional<std::string_view> rounding_mode) const;
Tensor& div_(const Tensor& other, std::optional<std::string_view> rounding_mode) const;
Tensor div(const Scalar& other, std::optional<std::string_view> rounding_mode) const;
Tensor& div_(const Scalar& other, std::optional<std::string_view> rounding_mode) const;
/// The quotient, rounded down.
Tensor floor_divide(const Tensor& other) const;
Tensor& floor_divide_(const Tensor& other) const;
Tensor floor_divide(const Scalar& other) const;
Tensor& floor_divide_(const Scalar& other) const;
Tensor& div_trunc_(const Tensor& other) const;
/// self - other * floor(self / other): it has the sign of other.
Tensor remainder(const Tensor& other) const;
Tensor& remainder_(const Tensor& other) const;
Tensor remainder(const Scalar& other) const;
Tensor& remainder_(const Scalar& other) const;
/// self to the power of exponent.
Tensor pow(const Tensor& exponent) const;
Tensor& pow_(const Tensor& exponent) const;
Tensor pow(const Scalar& exponent) const;
Tensor& pow_(const Scalar& exponent) const;
/// The rest of the quotient rounded towards zero: it has the sign of self.
Tensor fmod(const Tensor& other) const;
Tensor& fmod_(const Tensor& other) const;
Tensor fmod(const Scalar& other) const;
Tensor& fmod_(const Scalar& other) const;
/// The larger number; NaN only where both are.
Tensor fmax(const Tensor& other) const;
/// The smaller number; NaN only where both are.
Tensor fmin(const Tensor& other) const;
/// The angle of the point (other, self), in (-pi, pi].
Tensor atan2(const Tensor& other) const;
Tensor& atan2_(const Tensor& other) const;
/// sqrt(self^2 + other^2) without overflow. Floating point only.
Tensor hypot(const Tensor& other) const;
Tensor& hypot_(const Tensor& other) const;
/// self with NaN and the infinities replaced: by default 0, the largest and the least number of
/// the dtype.
Tensor nan_to_num(std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) const;
Tensor& nan_to_num_(std::optional<double> nan = {}, std::optional<double> posinf = {}, std::optional<double> neginf = {}) const;
/// The larger element; NaN wins. Where both are equal each gets half of the gradient.
Tensor maximum(const Tensor& other) const;
/// The smaller element; NaN wins. Where both are equal each gets half of the gradient.
Tensor minimum(const Tensor& other) const;
/// The nearest value in [min, max]. The bounds themselves pass the gradient.
Tensor clamp(const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) const;
Tensor& clamp_(const std::optional<Scalar>& min = {}, const std::optional<Scalar>& max = {}) const;
Tensor clamp(const std::optional<Tensor>& min = {}, const std::optional<Tensor>& max = {}) const;
Tensor& clamp_(const std::optional<Tensor>& min = {}, const std::optional<Tensor>& max = {}) const;
/// max(self, min).
Tensor clamp_min(const Scalar& min) const;
Tensor& clamp_min_(const Scalar& min) const;
/// min(self, max).
Tensor clamp_max(const Scalar& max) const;
Tensor& clamp_max_(const Scalar& max) const;
/// self where condition holds, else other.
Tensor where(const Tensor& condition, const Tensor& other) const;
Tensor where(const Tensor& condition, const Scalar& other) const;
/// value where mask holds, else self. A tensor value has no dimensions.
Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
/// self + value * tensor1 * tensor2.
Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
Tensor& addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
/// self + value * tensor1 / tensor2.
Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
Tensor& addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
/// self + weight * (end - self).
Tensor lerp(const Tensor& end, const Scalar& weight) const;
Tensor& lerp_(const Tensor& end, const Scalar& weight) const;
Tensor lerp(const Tensor& end, const Tensor& weight) const;
Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
/// self == other, as bool.
Tensor eq(const Tensor& other) const;
Tensor& eq_(const Tensor& other) const;
Tensor eq(const Scalar& other) const;
Tensor& eq_(const Scalar& other) const;
/// self != other, as bool.
Tensor ne(const Tensor& other) const;
Tensor& ne_(const Tensor& other) const;
Tensor ne(const Scalar& other) const;
Tensor& ne_(const Scalar& other) const;
/// self < other, as bool.
Tensor lt(const Tensor& other) const;
Tensor& lt_(const Tensor& other) const;
Tensor lt(const Scalar& other) const;
Tensor& lt_(const Scalar& other) const;
/// self <= other, as bool.
Tensor le(const Tensor& other) const;
Tensor& le_(const Tensor& other) const;
Tensor le(const Scalar& other) const;
Tensor& le_(const Scalar& other) const;
/// self > other, as bool.
Tensor gt(const Tensor& other) const;
Tensor& gt_(const Tensor& other) const;
Tensor gt(const Scalar& other) const;
Tensor& gt_(const Scalar& other) const;
/// self >= other, as bool.
Tensor ge(const Tensor& other) const;
Tensor& ge_(const Tensor& other) const;
Tensor ge(const Scalar& other) const;
Tensor& ge_(const Scalar& other) const;
/// Whether both are not zero, as bool.
Tensor logical_and(const Tensor& other) const;
Tensor& logical_and_(const Tensor& other) const;
/// Whether one of them is not zero, as bool.
Tensor logical_or(const Tensor& other) const;
Tensor& logical_or_(const Tensor& other) const;
/// Whether just one of them is not zero, as bool.
Tensor logical_xor(const Tensor& other) const;
Tensor& logical_xor_(const Tensor& other) const;
/// The bits set in both; `and` for bool.
Tensor bitwise_and(const Tensor& other) const;
Tensor& bitwise_and_(const Tensor& other) const;
Tensor bitwise_and(const Scalar& other) const;
Tensor& bitwise_and_(const Scalar& other) const;
/// The bits set in either; `or` for bool.
Tensor bitwise_or(const Tensor& other) const;
Tensor& bitwise_or_(const Tensor& other) const;
Tensor bitwise_or(const Scalar& other) const;
Tensor& bitwise_or_(const Scalar& other) const;
/// The bits set in just one; `xor` for bool.
Tensor bitwise_xor(const Tensor& other) const;
Tensor& bitwise_xor_(const Tensor& other) const;
Tensor bitwise_xor(const Scalar& other) const;
Tensor& bitwise_xor_(const Scalar& other) const;
/// Whether both have the same sizes and elements.
bool equal(const Tensor& other) const;
/// |self - other| <= atol + rtol * |other|, as bool.
Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
/// Whether isclose holds everywhere.
bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
/// The sum, over all or the given dimensions. Integers and bools add up as int64.
Tensor sum(std::optional<ScalarType> dtype = {}) const;
Tensor sum(OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) const;
/// The mean, over all or the given dimensions, of floating-point elements.
Tensor mean(std::optional<ScalarType> dtype = {}) const;
Tensor mean(OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) const;
/// The product, over all elements or one dimension.
Tensor prod(std::optional<ScalarType> dtype = {}) const;
Tensor prod(int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = {}) const;
/// The largest element; with a dimension, values and indices; with another tensor, maximum.
Tensor max() const;
Tensor max(const Tensor& other) const;
std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
/// The least element; with a dimension, values and indices; with another tensor, minimum.
Tensor min() const;
Tensor min(const Tensor& other) const;
std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
/// The largest element over the given dimensions; equal ones share the gradient.
Tensor amax(IntArrayRef dim = {}, bool keepdim = false) const;
/// The least element over the given dimensions; equal ones share the gradient.
Tensor amin(IntArrayRef dim = {}, bool keepdim = false) const;
/// The index of the largest element (the first one), of the flattened tensor without a dimension.
Tensor argmax(std::optional<int64_t> dim = {}, bool keepdim = false) const;
/// The index of the least element (the first one), of the flattened tensor without a dimension.
Tensor argmin(std::optional<int64_t> dim = {}, bool keepdim = false) const;
/// Whether no element is zero.
Tensor all() const;
Tensor all(int64_t dim, bool keepdim = false) const;
/// Whether some element is not zero.
Tensor any() const;
Tensor any(int64_t dim, bool keepdim = false) const;
/// The variance, over all or the given dimensions, divided by n - 1 if unbiased.
Tensor var(bool unbiased = true) const;
Tensor var(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
/// The square root of the variance.
Tensor std(bool unbiased = true) const;
Tensor std(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
/// (sum |self|^p)^(1/p); p may be 0 or infinity.
Tensor norm(const Scalar& p = 2) const;
Tensor norm(const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) const;
/// log(sum(exp(self))), without overflow.
Tensor logsumexp(IntArrayRef dim, bool keepdim = false) const;
/// The running sum along a dimension.
Tensor cumsum(int64_t dim, std::optional<ScalarType> dtype = {}) const;
/// The running product along a dimension.
Tensor cumprod(int64_t dim, std::optional<ScalarType> dtype = {}) const;
/// The k largest (or least) elements along a dimension, in order, and their indices.
std::tuple<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) const;
/// The elements in order along a dimension, and their indices. Equal elements keep their order.
std::tuple<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
/// The indices of sort.
Tensor argsort(int64_t dim = -1, bool descending = false) const;
/// The same memory with other sizes; one may be -1. Throws if that needs a copy.
Tensor view(IntArrayRef size) const;
/// view, or a copy where no view is possible.
Tensor reshape(IntArrayRef shape) const;
/// view with the sizes of other.
Tensor view_as(const Tensor& other) const;
/// reshape with the sizes of other.
Tensor reshape_as(const Tensor& other) const;
/// A view with any geometry within the storage.
Tensor as_strided(IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset = {}) const;
/// A view with the dimensions in another order.
Tensor permute(IntArrayRef dims) const;
/// A view with two dimensions exchanged.
Tensor transpose(int64_t dim0, int64_t dim1) const;
Tensor& transpose_(int64_t dim0, int64_t dim1) const;
/// The transpose of a matrix; a vector or scalar as it is.
Tensor t() const;
Tensor& t_() const;
/// A view that repeats dimensions of size one, with stride 0; -1 keeps a size.
Tensor expand(IntArrayRef size, bool implicit = false) const;
/// expand to the sizes of other.
Tensor expand_as(const Tensor& other) const;
/// expand, as a function.
Tensor broadcast_to(IntArrayRef size) const;
/// The elements start to start + length - 1 of a dimension, as a view.
Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
/// Every step-th element from start to end - 1 of a dimension, as a view. Bounds are clipped.
Tensor slice(int64_t dim = 0, std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1) const;
/// One element of a dimension, as a view without that dimension.
Tensor select(int64_t dim, int64_t index) const;
/// A view without the dimensions of size one, or without that one.
Tensor squeeze() const;
Tensor& squeeze_() const;
Tensor squeeze(int64_t dim) const;
Tensor& squeeze_(int64_t dim) const;
/// A view with a further dimension of size one.
Tensor unsqueeze(int64_t dim) const;
Tensor& unsqueeze_(int64_t dim) const;
/// The dimensions start_dim to end_dim made one, as a view where possible.
Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
/// The elements with equal indices in two dimensions, as a view.
Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
/// The slices along a dimension, as views.
std::vector<Tensor> unbind(int64_t dim = 0) const;
/// Pieces of the given size, or sizes, along a dimension, as views.
std::vector<Tensor> split(int64_t split_size, int64_t dim = 0) const;
std::vector<Tensor> split(IntArrayRef split_size, int64_t dim = 0) const;
/// At most that many pieces of equal size along a dimension, as views.
std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
/// self if it is contiguous, else a contiguous copy.
Tensor contiguous() const;
/// A copy that holds self several times along each dimension.
Tensor repeat(IntArrayRef repeats) const;
/// The elements moved on along the dimensions, those that fall off coming in again at the start.
Tensor roll(IntArrayRef shifts, IntArrayRef dims = {}) const;
/// A copy with the order along the dimensions turned round.
Tensor flip(IntArrayRef dims) const;
/// The lower triangle of the matrices, zero above.
Tensor tril(int64_t diagonal = 0) const;
Tensor& tril_(int64_t diagonal = 0) const;
/// The upper triangle of the matrices, zero below.
Tensor triu(int64_t diagonal = 0) const;
Tensor& triu_(int64_t diagonal = 0) const;
/// The diagonal of a matrix, or a matrix with a vector on its diagonal.
Tensor diag(int64_t diagonal = 0) const;
/// The slices along a dimension that index names.
Tensor index_select(int64_t dim, const Tensor& index) const;
/// self with alpha times the slices of source added at the slices that index names.
Tensor index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
Tensor& index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
/// The elements of self that index names along a dimension.
Tensor gather(int64_t dim, const Tensor& index) const;
/// self with the elements of src written where index says along a dimension.
Tensor scatter(int64_t dim, const Tensor& index, const Tensor& src) const;
Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& src) const;
Tensor scatter(int64_t dim, const Tensor& index, const Scalar& value) const;
Tensor& scatter_(int64_t dim, const Tensor& index, const Scalar& value) const;
/// self with the elements of src added where index says along a dimension.
Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& src) const;
Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const;
/// The elements where mask holds, as a vector.
Tensor masked_select(const Tensor& mask) const;
/// The indices of the elements that are not zero, one row each.
Tensor nonzero() const;
/// The product of two matrices.
Tensor mm(const Tensor& mat2) const;
/// The products of two batches of matrices.
Tensor bmm(const Tensor& mat2) const;
/// The product of a matrix and a vector.
Tensor mv(const Tensor& vec) const;
/// The inner product of two vectors.
Tensor dot(const Tensor& tensor) const;
/// The product of vectors, matrices or batches of matrices, which broadcast.
Tensor matmul(const Tensor& other) const;
/// beta * self + alpha * mat1 @ mat2.
Tensor addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) const;
Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) const;
/// exp(self) / sum(exp(self)) along a dimension.
Tensor softmax(int64_t dim, std::optional<ScalarType> dtype = {}) const;
/// log(softmax(self)) along a dimension.
Tensor log_softmax(int64_t dim, std::optional<ScalarType> dtype = {}) const;
/// 1 with the probability that each element of self states, else 0.
Tensor bernoulli(const std::optional<Generator>& generator = {}) const;
/// value everywhere.
Tensor fill(const Scalar& value) const;
Tensor& fill_(const Scalar& value) const;
Tensor fill(const Tensor& value) const;
Tensor& fill_(const Tensor& value) const;
Tensor& zero_() const;
/// A copy, dense, with the order of dimensions kept.
Tensor clone() const;
