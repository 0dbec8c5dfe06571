#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ebb/core/error.h>

namespace ebb {

/// A map that remembers the order of insertion. Iteration gives items with key() and value().
template <typename Key, typename Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    [[nodiscard]] const Key& key() const noexcept { return pair_.first; }
    [[nodiscard]] Value& value() noexcept { return pair_.second; }
    [[nodiscard]] const Value& value() const noexcept { return pair_.second; }
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    [[nodiscard]] const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };

  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` says in messages what the keys are.
  explicit OrderedDict(std::string key_description = "Key")
      : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  [[nodiscard]] const std::string& key_description() const noexcept { return key_description_; }
  [[nodiscard]] size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] bool is_empty() const noexcept { return items_.empty(); }
  [[nodiscard]] Iterator begin() noexcept { return items_.begin(); }
  [[nodiscard]] Iterator end() noexcept { return items_.end(); }
  [[nodiscard]] ConstIterator begin() const noexcept { return items_.begin(); }
  [[nodiscard]] ConstIterator end() const noexcept { return items_.end(); }
  [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }
  [[nodiscard]] Item& front() { return items_[checked(0)]; }
  [[nodiscard]] const Item& front() const { return items_[checked(0)]; }
  [[nodiscard]] Item& back() { return (*this)[size() - 1]; }
  [[nodiscard]] const Item& back() const { return (*this)[size() - 1]; }

  /// Throws if the key is there already.
  template <typename K, typename V>
  Value& insert(K&& key, V&& value) {
    Key copy(std::forward<K>(key));
    EBB_CHECK(!contains(copy), key_description_, " '", copy, "' already defined");
    items_.reserve(items_.size() + 1 > items_.capacity() ? 2 * items_.size() + 1 : 0);
    index_.emplace(copy, items_.size());
    items_.emplace_back(std::move(copy), std::forward<V>(value));
    return items_.back().value();
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void reserve(size_t size) { items_.reserve(size); }
  void clear() {
    items_.clear();
    index_.clear();
  }
  /// Throws if there is no such key.
  void erase(const Key& key) {
    const size_t position = index_of(key);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
    index_.clear();
    for (size_t i = 0; i < items_.size(); ++i) index_.emplace(items_[i].key(), i);
  }

  /// The value, or null.
  [[nodiscard]] Value* find(const Key& key) noexcept {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  [[nodiscard]] const Value* find(const Key& key) const noexcept {
    return const_cast<OrderedDict*>(this)->find(key);
  }
  [[nodiscard]] bool contains(const Key& key) const noexcept { return find(key) != nullptr; }
  /// Throws if there is no such key.
  Value& operator[](const Key& key) { return items_[index_of(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[index_of(key)].value(); }
  /// The item at a position. Throws if there is none.
  Item& operator[](size_t index) { return items_[checked(index)]; }
  const Item& operator[](size_t index) const { return items_[checked(index)]; }

  [[nodiscard]] std::vector<Key> keys() const {
    std::vector<Key> result;
    for (const Item& item : items_) result.push_back(item.key());
    return result;
  }
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> result;
    for (const Item& item : items_) result.push_back(item.value());
    return result;
  }
  [[nodiscard]] std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> result;
    for (const Item& item : items_) result.push_back(item.pair());
    return result;
  }

 private:
  size_t checked(size_t index) const {
    EBB_CHECK_AS(IndexError, index < items_.size(), key_description_, " number ", index,
                 " is out of range for ", items_.size(), " items");
    return index;
  }
  size_t index_of(const Key& key) const {
    const auto it = index_.find(key);
    EBB_CHECK(it != index_.end(), key_description_, " '", key, "' is not defined");
    return it->second;
  }

  std::string key_description_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace ebb
