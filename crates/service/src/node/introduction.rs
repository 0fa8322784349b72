//! How two nodes begin to talk: what each has, and which relation they have.

use std::time::Duration;

use subtle::ConstantTimeEq;
use symbolon::circuit::PartyId;
use symbolon::store::Store;
use symbolon::stored::{MAX_RELATIONS, ProofContext, Relation};
use symbolon::{Channel, Error, Result};

use super::Shared;
use super::state::{Functions, State};
use crate::checks;
use crate::clients::Digest;
use crate::wire::{Claim, MAX_FUNCTIONS, MAX_MESSAGE, Message, Tag, VERSION, messages};

/// How long a peer that has connected may take to introduce itself.
const GREETING: Duration = Duration::from_secs(3);

/// What a peer says first.
pub(super) struct Introduction {
    pub functions: Functions,
    /// The name of the relation that it has proved, if both have a store.
    pub relation: Option<String>,
}

/// The relations with a peer that this node knows, and what it says of them.
struct Own<'a> {
    store: &'a Store,
    relations: Vec<Relation>,
    claim: Claim,
}

/// Returns the messages that say which functions this node has.
pub(super) fn functions(state: &State) -> Vec<Message> {
    let specs = state.places().map(|place| &state.functions[place].spec);
    let told = specs.map(|spec| Message::Function {
        name: spec.config.name.clone(),
        terms: spec.terms.clone(),
    });
    told.collect()
}

impl Shared {
    /// Introduces this node to a peer, and hears who it is.
    pub(super) fn introduce(
        &self,
        party: PartyId,
        out: &mut Channel,
        from: &mut Channel,
    ) -> Result<Introduction> {
        let functions = functions(&self.lock());
        let own = match &self.store {
            Some(store) => Some(self.own_relations(store, party)?),
            None => None,
        };
        let relation = own.as_ref().map(|own| own.claim.clone());
        let hello = Message::Hello { version: VERSION, functions: functions.len(), relation };
        for message in std::iter::once(&hello).chain(&functions) {
            out.send(messages::CONTROL, &message.encode())?;
        }
        out.flush()?;
        from.set_timeout(GREETING);
        let (functions, theirs) = introduction(from)?;
        let relation = match own.zip(theirs) {
            Some((own, theirs)) => Some(self.relate(own, &theirs, out, from)?),
            None => None,
        };
        Ok(Introduction { functions, relation })
    }

    fn own_relations<'a>(&self, store: &'a Store, party: PartyId) -> Result<Own<'a>> {
        let relations = Relation::all(store, self.me, party)?;
        let names = relations.iter().map(|relation| relation.name().to_string()).collect();
        Ok(Own { store, relations, claim: Claim { drawn: Tag::draw()?, names } })
    }

    /// Proves the relation with a peer, and has it proved: the latest that both know, or a new one.
    ///
    /// Check: service | each party proves the relation to which stored executions are bound, on its
    /// own connection | a peer that claims the relation of another | 2^-128
    fn relate(
        &self,
        own: Own<'_>,
        theirs: &Claim,
        out: &mut Channel,
        from: &mut Channel,
    ) -> Result<String> {
        let Own { store, relations, claim } = own;
        let (me, party) = (self.me, from.peer());
        let wrong = || Error::misbehaved(party, checks::RELATION);
        let mut others = PartyId::all(self.parties()).filter(|other| ![me, party].contains(other));
        let of_another = |other| -> Result<bool> {
            let known = Relation::all(store, me, other)?;
            Ok(known.iter().any(|one| theirs.names.iter().any(|name| name == one.name())))
        };
        if theirs.names.len() > MAX_RELATIONS
            || others.try_fold(false, |found, other| Ok::<_, Error>(found || of_another(other)?))?
        {
            return Err(wrong());
        }
        // Both go by the order of the party with the lower number.
        let (first, second) = if me < party { (&claim, theirs) } else { (theirs, &claim) };
        let common = first.names.iter().find(|name| second.names.contains(name));
        let known = relations.iter().find(|one| common.is_some_and(|name| name == one.name()));
        let is_new = known.is_none();
        let relation = match known {
            Some(relation) => relation.clone(),
            None => Relation::from_drawn(
                [me.min(party), me.max(party)],
                [&first.drawn.0, &second.drawn.0],
            ),
        };
        let (ours, other) = (&claim.drawn.0, &theirs.drawn.0);
        let proof = relation.proof(ProofContext {
            from: me,
            to: party,
            binding: binding(out)?,
            drawn: [ours, other],
        });
        out.send(messages::CONTROL, &Message::Proof { proof: Digest(proof) }.encode())?;
        out.flush()?;
        let Message::Proof { proof } = receive(from)? else {
            return Err(Error::misbehaved(party, checks::CONTROL));
        };
        let expected = relation.proof(ProofContext {
            from: party,
            to: me,
            binding: binding(from)?,
            drawn: [other, ours],
        });
        if !bool::from(expected.ct_eq(&proof.0)) {
            return Err(wrong());
        }
        relation.keep(store, me, party)?;
        if is_new && !relations.is_empty() {
            let what = "it does not know what was prepared before";
            tracing::warn!(target: crate::LOG, %party, what);
        }
        Ok(relation.name().to_string())
    }
}

fn binding(channel: &Channel) -> Result<&[u8; 32]> {
    channel.binding().ok_or_else(|| Error::internal("a connection without TLS"))
}

pub(super) fn receive(from: &mut Channel) -> Result<Message> {
    let bytes = from.recv_bounded(messages::CONTROL, MAX_MESSAGE)?;
    Message::decode(&bytes).map_err(|_| Error::misbehaved(from.peer(), checks::CONTROL))
}

/// Receives the first messages of a peer.
fn introduction(from: &mut Channel) -> Result<(Functions, Option<Claim>)> {
    match receive(from)? {
        Message::Hello { version, .. } if version != VERSION => {
            let (ours, theirs) = (VERSION.to_string(), version.to_string());
            Err(Error::incompatible("the version of the service", ours, theirs))
        }
        Message::Hello { functions, relation, .. } => {
            Ok((receive_functions(from, functions)?, relation))
        }
        _ => Err(Error::misbehaved(from.peer(), checks::CONTROL)),
    }
}

/// Receives the functions of a peer.
pub(super) fn receive_functions(from: &mut Channel, count: usize) -> Result<Functions> {
    if count > MAX_FUNCTIONS {
        return Err(Error::misbehaved(from.peer(), checks::CONTROL));
    }
    let mut all = Functions::new();
    for _ in 0..count {
        match receive(from)? {
            Message::Function { name, terms } => all.push((name, terms)),
            _ => return Err(Error::misbehaved(from.peer(), checks::CONTROL)),
        }
    }
    Ok(all)
}
