//! The checks that protocols on AND gates share. Each protocol's own are in its module.

symbolon_transport::checks! {
    pub BEAVER = "beaver-mac", "Beaver MAC":
        "a wrong bit, or a wrong MAC, when λ_a·λ_b is opened with Beaver triples";
    pub OUTPUT_MASK = "output-mask-mac", "output mask MAC":
        "a wrong share of the mask of an output";
}
