#include "networks.h"

#include <ebb/testing/measure.h>

using namespace networks;
using Catch::Matchers::ContainsSubstring;
using ebb::memory::rounded;

namespace {

struct ScaledImpl : nn::Module {
  Tensor forward(const Tensor& x, double factor = 3, int64_t shift = 0) {
    return x * factor + shift;
  }
};
EBB_MODULE(Scaled);
struct Length : nn::Module {
  int64_t forward(Tensor x) { return x.numel(); }
};
struct Repeat : nn::Module {
  std::string forward(int64_t n) const { return std::string(static_cast<size_t>(n), 'x'); }
};
struct Pair : nn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x) { return {x, x * 2}; }
};
struct Unpair : nn::Module {
  Tensor forward(const std::tuple<Tensor, Tensor>& pair) {
    return std::get<0>(pair) + std::get<1>(pair);
  }
};

}  // namespace

TEST_CASE("Sequential calls its modules one after another") {
  nn::Sequential model(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  const Tensor x = ebb::randn({5, 3});
  const auto first = model->ptr<nn::LinearImpl>(0);
  auto& last = model->at<nn::LinearImpl>(2);
  CHECK(ebb::equal(model->forward(x), last.forward(ebb::relu(first->forward(x)))));
  CHECK(ebb::equal(model(x), model->forward(x)));
  CHECK(model->size() == 3);
  CHECK(model[1]->as<nn::ReLU>() != nullptr);
  CHECK_THROWS_AS(model[3], ebb::IndexError);
  CHECK_THROWS_WITH(model->at<nn::ReLUImpl>(0), ContainsSubstring("ebb::nn::LinearImpl"));
}

TEST_CASE("Sequential takes names, pointers, values, holders, other containers and functions") {
  nn::Sequential named({{"first", nn::Linear(3, 4)}, {"second", nn::ReLU()}});
  CHECK(named->named_children().keys() == std::vector<std::string>{"first", "second"});
  named->push_back("third", nn::Linear(4, 3));
  named->push_back(std::make_shared<ScaledImpl>());
  named->push_back(ScaledImpl());
  named->push_back(nn::AnyModule(nn::Tanh()));
  CHECK(named->named_children().keys() ==
        std::vector<std::string>{"first", "second", "third", "3", "4", "5"});
  CHECK_THROWS_WITH(named->push_back("first", nn::ReLU()), ContainsSubstring("already defined"));
  CHECK(named->size() == 6);

  nn::Sequential nested(nn::Sequential(nn::Linear(3, 3)), nn::Functional(ebb::relu),
                        nn::Functional(ebb::softmax, 1, std::nullopt));
  const Tensor y = nested->forward(ebb::randn({2, 3}));
  CHECK(y.sum().item<float>() == Approx(2));
  nested->extend(*named);
  CHECK(nested->size() == 9);
}

TEST_CASE("Sequential passes values of any type, and checks them") {
  nn::Sequential model(Length{}, Repeat{});
  CHECK(model->forward<std::string>(ebb::ones({2, 3})) == "xxxxxx");
  CHECK_THROWS_WITH(model->forward(ebb::ones({2})), ContainsSubstring("but you asked for type"));
  CHECK_THROWS_WITH(model->forward<std::string>(3),
                    ContainsSubstring("Expected argument #0 to be of type ebb::Tensor, but "
                                      "received value of type int"));
  nn::Sequential pairs(Pair{}, Unpair{});
  CHECK(pairs->forward(ebb::ones({1})).item<float>() == 3);
  CHECK_THROWS_WITH(nn::Sequential()->forward(ebb::ones({1})), ContainsSubstring("empty"));
}

TEST_CASE("a forward with default arguments takes fewer") {
  nn::AnyModule any{Scaled()};
  const Tensor x = ebb::ones({1});
  CHECK(any.forward(x).item<float>() == 3);
  CHECK(any.forward(x, 2.0).item<float>() == 2);
  CHECK(any.forward(x, 2.0, int64_t{5}).item<float>() == 7);
  CHECK_THROWS_WITH(any.forward(), ContainsSubstring("expects 1 to 3 argument(s), but received 0"));
  CHECK_THROWS_WITH(any.forward(x, 2), ContainsSubstring("argument #1 to be of type double"));
}

TEST_CASE("AnyModule gives its module back as what it is") {
  nn::AnyModule any;
  CHECK(any.is_empty());
  CHECK_THROWS_WITH(any.forward(ebb::ones({1})), ContainsSubstring("empty AnyModule"));
  nn::Linear layer(2, 3);
  any = layer;
  CHECK(any.get<nn::Linear>().ptr() == layer.ptr());
  CHECK(&any.get<nn::LinearImpl>() == layer.get());
  CHECK(any.ptr() == layer.ptr());
  CHECK_THROWS_WITH(any.get<nn::ReLU>(), ContainsSubstring("Attempted to cast module"));
  CHECK(any.type_info() == typeid(nn::LinearImpl));
  const auto copy = any.clone();
  CHECK(copy.ptr() != any.ptr());
  CHECK(ebb::equal(copy.get<nn::LinearImpl>().weight, layer->weight));
}

TEST_CASE("containers are cloned with their modules, names and mode") {
  nn::Sequential model({{"a", nn::Linear(2, 2)}, {"b", nn::Sequential(nn::Linear(2, 2))}});
  model->eval();
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(model->clone());
  REQUIRE(copy != nullptr);
  CHECK(copy->named_parameters().keys() == model->named_parameters().keys());
  CHECK_FALSE(copy->is_training());
  const Tensor x = ebb::randn({1, 2});
  CHECK(ebb::equal(copy->forward(x), model->forward(x)));
  CHECK_FALSE(copy->parameters()[0].is_alias_of(model->parameters()[0]));

  nn::ModuleList list(nn::Linear(2, 2), nn::ReLU());
  const auto list_copy = std::dynamic_pointer_cast<nn::ModuleListImpl>(list->clone());
  REQUIRE(list_copy != nullptr);
  CHECK(list_copy->size() == 2);
  CHECK_FALSE(list_copy->parameters()[0].is_alias_of(list->parameters()[0]));
}

TEST_CASE("ModuleList numbers its modules, also after an insertion") {
  nn::ModuleList list(nn::Linear(1, 2), std::make_shared<nn::ReLUImpl>());
  list->push_back(nn::Tanh());
  list->insert(0, nn::Sigmoid());
  CHECK(list->size() == 4);
  CHECK(list->named_children().keys() == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(list[0]->as<nn::Sigmoid>() != nullptr);
  CHECK(list->named_children()["1"]->as<nn::Linear>() != nullptr);
  CHECK(list->at<nn::LinearImpl>(1).options.out_features() == 2);
  CHECK_THROWS_AS(list[4], ebb::IndexError);
  CHECK_THROWS_WITH(list->ptr<nn::LinearImpl>(0), ContainsSubstring("Unable to cast"));
  nn::ModuleList more;
  more->extend(*list);
  CHECK(more->size() == 4);
  size_t visited = 0;
  for (const auto& module : *more) visited += module != nullptr;
  CHECK(visited == 4);
}

TEST_CASE("ModuleDict finds its modules by name") {
  nn::ModuleDict dict;
  dict->update({{"linear", nn::Linear(1, 2).ptr()}, {"relu", nn::ReLU().ptr()}});
  CHECK(dict->keys() == std::vector<std::string>{"linear", "relu"});
  CHECK(dict->contains("relu"));
  CHECK(dict["relu"]->as<nn::ReLU>() != nullptr);
  CHECK(dict->at<nn::LinearImpl>("linear").options.out_features() == 2);
  dict->update({{"relu", nn::Tanh().ptr()}});
  CHECK(dict["relu"]->as<nn::Tanh>() != nullptr);
  CHECK(dict->pop("linear")->as<nn::Linear>() != nullptr);
  CHECK(dict->size() == 1);
  CHECK_THROWS_WITH(dict["linear"], ContainsSubstring("'linear' is not defined"));
}

TEST_CASE("without grad a Sequential holds no more than two activations at once") {
  nn::Sequential model;
  for (int i = 0; i < 6; ++i) {
    model->push_back(nn::Linear(300, 300));
    model->push_back(nn::ReLU());
  }
  const Tensor x = ebb::randn({100, 300});
  const ebb::NoGradGuard no_grad;
  const auto used = ebb::testing::measure([&] { return model->forward(x); });
  const auto activation = static_cast<int64_t>(rounded(100 * 300 * 4));
  CHECK(used.net_bytes == activation);
  CHECK(used.peak_bytes == 2 * activation);
}
