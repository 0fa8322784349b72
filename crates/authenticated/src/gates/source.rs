//! The engines of protocols on AND gates, as the seam of all protocols takes them.

use symbolon_engine::{
    CorrelationSource, Dealer, Engine, GateForm, Network, PoolRange, PoolSource, Preprocessed,
    ProtocolSpec,
};
use symbolon_transport::{PartyId, Result};

use super::{
    dealer_engine::DealerEngine,
    engine::{Independent, PeerEngine},
    pool,
    position::Position,
    role::{GateRole, Role},
};

/// A protocol on AND gates: each party's role in each form.
pub(crate) struct Gates(pub fn(PartyId, GateForm) -> GateRole);

impl Gates {
    fn role(&self, net: &Network, spec: &ProtocolSpec) -> (Role, Position) {
        let role = Role { spec: *spec, gates: (self.0)(net.me, net.form) };
        (role, Position { me: net.me, evaluator: spec.evaluator })
    }
}

impl CorrelationSource for Gates {
    fn set_up(&self, net: &mut Network, spec: &ProtocolSpec) -> Result<Box<dyn Engine>> {
        let (role, position) = self.role(net, spec);
        PeerEngine::set_up(net, position, role)
    }

    fn set_up_dealt(
        &self,
        net: &Network,
        spec: &ProtocolSpec,
        dealer: Dealer,
    ) -> Result<Box<dyn Engine>> {
        let (role, position) = self.role(net, spec);
        Ok(Box::new(DealerEngine::new(net, dealer, position, role)))
    }

    fn open_pool(
        &self,
        net: &Network,
        spec: &ProtocolSpec,
        range: &PoolRange,
        source: &mut dyn PoolSource,
    ) -> Result<Box<dyn Preprocessed>> {
        let (role, position) = self.role(net, spec);
        let correlations = pool::correlations(position, net.parties(), range, source)?;
        Ok(Box::new(Independent { correlations, role }))
    }

    fn streams(&self, form: GateForm) -> bool {
        matches!((self.0)(PartyId::new(0), form), GateRole::Garbling(_))
    }
}
