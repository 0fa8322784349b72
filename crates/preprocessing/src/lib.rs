//! Authenticated bits, shares and triples.
