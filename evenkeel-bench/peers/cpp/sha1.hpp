// The compression function of SHA-1 (FIPS 180-4), by the processor's own instructions if `SHA` is
// defined. Only these functions use them, and SSE4.1; all others run on every processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifdef SHA
#include <immintrin.h>
#endif

using Hash = std::array<std::uint32_t, 5>;
using Block = std::array<std::uint32_t, 16>;

inline constexpr Hash initial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

#ifdef SHA

namespace sha1 {

// The instructions take the first of four words in the highest lane.
[[gnu::target("sha,sse4.1")]] inline __m128i load(const std::uint32_t* words) {
    return _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words)), 0x1b);
}

// Four rounds and, from the fifth group on, the four words for them; then the remaining groups. `e`
// is the state of four rounds ago: its first word, rotated, is the fifth word of the present state.
template <int group>
[[gnu::target("sha,sse4.1"), gnu::always_inline]]
inline void rounds(__m128i& abcd, __m128i& e, __m128i (&words)[4]) {
    if constexpr (group < 20) {
        __m128i& next = words[group % 4];
        if constexpr (group >= 4) {
            const __m128i mixed = _mm_sha1msg1_epu32(next, words[(group + 1) % 4]);
            next = _mm_sha1msg2_epu32(_mm_xor_si128(mixed, words[(group + 2) % 4]), words[(group + 3) % 4]);
        }
        const __m128i input = group == 0 ? _mm_add_epi32(e, next) : _mm_sha1nexte_epu32(e, next);
        e = abcd;
        abcd = _mm_sha1rnds4_epu32(abcd, input, group / 5);
        rounds<group + 1>(abcd, e, words);
    }
}

}  // namespace sha1

// The hash of a message that is one block long, its padding included.
[[gnu::target("sha,sse4.1")]] inline Hash sha1_of(const Block& block) {
    const __m128i start = sha1::load(initial.data());
    const __m128i start_e = _mm_set_epi32(static_cast<int>(initial[4]), 0, 0, 0);
    __m128i words[4] = {sha1::load(&block[0]), sha1::load(&block[4]), sha1::load(&block[8]),
                        sha1::load(&block[12])};
    __m128i abcd = start, e = start_e;
    sha1::rounds<0>(abcd, e, words);
    e = _mm_sha1nexte_epu32(e, start_e);
    abcd = _mm_shuffle_epi32(_mm_add_epi32(abcd, start), 0x1b);
    Hash hash;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hash.data()), abcd);
    hash[4] = static_cast<std::uint32_t>(_mm_extract_epi32(e, 3));
    return hash;
}

#else

namespace sha1 {

inline std::uint32_t turned(std::uint32_t word, int bits) { return (word << bits) | (word >> (32 - bits)); }

}  // namespace sha1

// The hash of a message that is one block long, its padding included.
inline Hash sha1_of(const Block& block) {
    std::uint32_t words[80];
    for (std::size_t i = 0; i < 80; ++i) {
        words[i] = i < 16 ? block[i]
                          : sha1::turned(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    }
    auto [a, b, c, d, e] = initial;
    for (std::size_t i = 0; i < 80; ++i) {
        std::uint32_t mixed, constant;
        if (i < 20) {
            mixed = (b & c) | (~b & d), constant = 0x5a827999;
        } else if (i < 40) {
            mixed = b ^ c ^ d, constant = 0x6ed9eba1;
        } else if (i < 60) {
            mixed = (b & c) | (b & d) | (c & d), constant = 0x8f1bbcdc;
        } else {
            mixed = b ^ c ^ d, constant = 0xca62c1d6;
        }
        const std::uint32_t first = sha1::turned(a, 5) + mixed + e + constant + words[i];
        e = d, d = c, c = sha1::turned(b, 30), b = a, a = first;
    }
    return {initial[0] + a, initial[1] + b, initial[2] + c, initial[3] + d, initial[4] + e};
}

#endif
