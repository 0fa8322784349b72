//! The catalogue itself.

use super::aes;
use super::name::{Entry, Form};

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "aes128",
        parameters: "",
        description: "AES-128 of one block, key schedule included",
        example: "aes128",
        form: Form::Plain(aes::aes128),
    },
    Entry {
        name: "aes192",
        parameters: "",
        description: "AES-192 of one block, key schedule included",
        example: "aes192",
        form: Form::Plain(aes::aes192),
    },
    Entry {
        name: "aes256",
        parameters: "",
        description: "AES-256 of one block, key schedule included",
        example: "aes256",
        form: Form::Plain(aes::aes256),
    },
    Entry {
        name: "cbcmac",
        parameters: ":N, N blocks, 1 to 65536",
        description: "CBC-MAC with AES-128; key schedule and cipher are components",
        example: "cbcmac:16",
        form: Form::Size { range: 1..=65536, default: None, build: aes::cbcmac },
    },
];
