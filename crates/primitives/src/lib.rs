//! Blocks, GF(2^128), AES hashes, PRG, transcript, commitments, transposition.
