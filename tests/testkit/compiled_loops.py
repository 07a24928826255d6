"""Loops in C, C++ and Rust that tests compile."""

from __future__ import annotations

C = """\
#include <immintrin.h>

float dot(const float *a, const float *b, long n) {
    __m256 sum = _mm256_setzero_ps();
    for (long i = 0; i < n; i += 8) {
        __m256 x = _mm256_loadu_ps(a + i);
        sum = _mm256_fmadd_ps(x, _mm256_loadu_ps(b + i), sum);
    }
    float lanes[8];
    _mm256_storeu_ps(lanes, sum);
    return lanes[0];
}
"""
CPP = """\
#include <vector>

template <class T> T product(const std::vector<T> &values) {
    T all = 1;
    for (T value : values)
        all *= value;
    return all;
}
template unsigned long product(const std::vector<unsigned long> &);
"""
CARGO = """\
[package]
name = "chain"
version = "0.1.0"
edition = "2021"
"""
RUST = """\
#[no_mangle]
pub fn chain(values: &[u64]) -> u64 {
    let mut total = 1;
    for value in values {
        total = (total * value) ^ 5;
    }
    total
}
"""
