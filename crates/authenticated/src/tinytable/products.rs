//! Products of shares by Beaver's trick, many at a time.

use symbolon_preprocessing::{
    AuthShares, Triples,
    open_bits::{AwaitedOpening, ShareOpening},
};
use symbolon_transport::{Channel, Result};

use super::flat::{self, Side};
use crate::gates::masked_gates::BEAVER;

/// Products whose openings are in transit.
pub(crate) struct Products {
    triples: Triples,
    awaited: AwaitedOpening,
}

impl Products {
    /// Opens d = x ⊕ a and e = y ⊕ b for the triples (a, b, c), one for each pair of factors.
    ///
    /// Paper: DNNR17, Fig. 8, 3, AND | r_u·r_v by Beaver's trick
    pub fn open(
        channels: &mut [Channel],
        x: &AuthShares,
        y: &AuthShares,
        triples: Triples,
    ) -> Result<Self> {
        let mut opening = ShareOpening::new(1);
        opening.push_sums([x, &triples.a], 0..x.len());
        opening.push_sums([y, &triples.b], 0..y.len());
        Ok(Products { triples, awaited: opening.send(channels, &BEAVER)? })
    }

    /// Checks the peer's openings and returns x·y = c ⊕ d·b ⊕ e·a ⊕ d·e.
    ///
    /// Paper: DNNR17, Fig. 8, 3, AND
    pub fn receive(self, channels: &mut [Channel], side: &Side) -> Result<AuthShares> {
        let opened = self.awaited.receive(channels, &BEAVER, *side.delta)?;
        let Triples { a, b, mut c } = self.triples;
        let n = c.len();
        let (mut d, e) = (opened.slice(0..n), opened.slice(n..2 * n));
        flat::add_times(&mut c, &b, &d);
        flat::add_times(&mut c, &a, &e);
        d.words_mut().iter_mut().zip(e.words()).for_each(|(d, e)| *d &= e);
        side.add_constants(&mut c, &d);
        Ok(c)
    }
}
