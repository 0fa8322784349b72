//! The catalogue itself.

use super::name::{Entry, Form};
use super::{aes, arith, auction, hamming, keccak, matmul, random, sha1, sha2, sort};

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "aes128",
        parameters: " or aes128:V with V sbox (S-boxes are look-ups), expanded (the key is expanded \
                     already: 1408 bits) or sbox-expanded (both)",
        description: "AES-128 of one block (key, message), key schedule included",
        example: "aes128",
        form: Form::Variants {
            default: aes::aes128,
            others: &[
                ("sbox", aes::aes128_sbox),
                ("expanded", aes::aes128_expanded),
                ("sbox-expanded", aes::aes128_sbox_expanded),
            ],
        },
    },
    Entry {
        name: "aes192",
        parameters: "",
        description: "AES-192 of one block (key, message), key schedule included",
        example: "aes192",
        form: Form::Plain(aes::aes192),
    },
    Entry {
        name: "aes256",
        parameters: "",
        description: "AES-256 of one block (key, message), key schedule included",
        example: "aes256",
        form: Form::Plain(aes::aes256),
    },
    Entry {
        name: "cbcmac",
        parameters: ":N with N blocks, 1 to 65536",
        description: "CBC-MAC with AES-128; key schedule and cipher are components",
        example: "cbcmac:16",
        form: Form::Size { range: 1..=65_536, default: None, build: aes::cbcmac },
    },
    Entry {
        name: "sha1",
        parameters: "",
        description: "SHA-1's compression function (block, state)",
        example: "sha1",
        form: Form::Plain(sha1::sha1),
    },
    Entry {
        name: "sha256",
        parameters: "",
        description: "SHA-256's compression function (block, state)",
        example: "sha256",
        form: Form::Plain(sha2::sha256),
    },
    Entry {
        name: "sha512",
        parameters: "",
        description: "SHA-512's compression function (block, state)",
        example: "sha512",
        form: Form::Plain(sha2::sha512),
    },
    Entry {
        name: "keccak_f",
        parameters: "",
        description: "Keccak-f[1600] of the XOR of two 200-byte strings (state, block)",
        example: "keccak_f",
        form: Form::Plain(keccak::keccak_f),
    },
    Entry {
        name: "add",
        parameters: ":W with W bits, 1 to 1048576",
        description: "x + y modulo 2^W",
        example: "add:64",
        form: Form::Size { range: 1..=1 << 20, default: None, build: arith::add },
    },
    Entry {
        name: "sub",
        parameters: ":W with W bits, 1 to 1048576",
        description: "x - y modulo 2^W",
        example: "sub:64",
        form: Form::Size { range: 1..=1 << 20, default: None, build: arith::sub },
    },
    Entry {
        name: "mul",
        parameters: ":W with W bits, 1 to 16384",
        description: "x * y modulo 2^W, by Karatsuba's method where it is cheaper",
        example: "mul:64",
        form: Form::Size { range: 1..=16_384, default: None, build: arith::mul },
    },
    Entry {
        name: "div",
        parameters: ":W with W bits, 1 to 1024",
        description: "Quotient and remainder of x by y; by 0: all ones, and x",
        example: "div:64",
        form: Form::Size { range: 1..=1024, default: None, build: arith::div },
    },
    Entry {
        name: "compare",
        parameters: ":W with W bits, 1 to 1048576",
        description: "Whether x < y, and whether x = y",
        example: "compare:64",
        form: Form::Size { range: 1..=1 << 20, default: None, build: arith::compare },
    },
    Entry {
        name: "millionaires",
        parameters: " or millionaires:W with W bits, 1 to 1048576 (64 if not given)",
        description: "Whether party 0 has strictly more than party 1",
        example: "millionaires",
        form: Form::Size { range: 1..=1 << 20, default: Some(64), build: arith::millionaires },
    },
    Entry {
        name: "hamming",
        parameters: ":N with N bits, 1 to 16777216",
        description: "In how many places two words of N bits differ",
        example: "hamming:4096",
        form: Form::Size { range: 1..=1 << 24, default: None, build: hamming::hamming },
    },
    Entry {
        name: "mult",
        parameters: ":N with N bits, 1 to 16384",
        description: "The same as mul:N",
        example: "mult:256",
        form: Form::Size { range: 1..=16_384, default: None, build: arith::mult },
    },
    Entry {
        name: "mult-schoolbook",
        parameters: ":N with N bits, 1 to 16384",
        description: "x * y modulo 2^N as papers count it, by limbs that are calls of a component",
        example: "mult-schoolbook:256",
        form: Form::Size { range: 1..=16_384, default: None, build: arith::mult_schoolbook },
    },
    Entry {
        name: "sort",
        parameters: ":NxW with N words, 2 to 65536, of W bits, 1 to 4096, N*W up to 2097152",
        description: "N words, given as XOR shares of both parties, in ascending order",
        example: "sort:64x32",
        form: Form::Grid { number: 2..=65_536, width: 1..=4096, most: 1 << 21, build: sort::sort },
    },
    Entry {
        name: "merge",
        parameters: ":NxW with N words, 1 to 32768, of W bits, 1 to 4096, N*W up to 1048576",
        description: "N words of each party, in any order, as one list in ascending order",
        example: "merge:32x32",
        form: Form::Grid { number: 1..=32_768, width: 1..=4096, most: 1 << 20, build: sort::merge },
    },
    Entry {
        name: "matmul",
        parameters: ":NxW with N rows, 1 to 128, of words of W bits, 1 to 256, N*W up to 8192, \
                     or matmul:NxW/M by blocks of M rows, M dividing N",
        description: "The product modulo 2^W of two N by N matrices",
        example: "matmul:4x32",
        form: Form::Blocks {
            number: 1..=128,
            width: 1..=256,
            most: 8192,
            whole: matmul::matmul,
            in_blocks: matmul::matmul_in_blocks,
        },
    },
    Entry {
        name: "auction",
        parameters: ":NxW with N bidders, 2 to 256, and bids of W bits, 1 to 256",
        description: "N bids, one a party: all learn who wins, the winner the second-highest bid",
        example: "auction:3x32",
        form: Form::Grid {
            number: 2..=256,
            width: 1..=256,
            most: 1 << 16,
            build: auction::auction,
        },
    },
    Entry {
        name: "random",
        parameters: ":N with N ANDs, 1 to 16777216, or random:N/T in components of T ANDs, \
                     1 to 1048576, T dividing N, N/T up to 1048576",
        description: "A pseudo-random circuit of N ANDs, always the same, for measurements",
        example: "random:1000",
        form: Form::Parts {
            range: 1..=1 << 24,
            whole: random::random,
            parts: 1..=1 << 20,
            most: 1 << 20,
            in_parts: random::random_in_parts,
        },
    },
];
