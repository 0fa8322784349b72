//! Ports of clients who are no party: each gives every party a share of its values, and learns
//! answers that only it can read.
//!
//! A circuit for clients has, for each party, one input with that party's shares of all clients,
//! and an output that says whose values were counted. The types of these ports say all that parties
//! and clients must know: [`ClientPorts::of`] reads them.

use crate::{Circuit, PartyId, Receivers, Type};

/// The bits of a block: an element of GF(2^64).
pub const BLOCK: u64 = 64;

/// The most bits of values or answers that a client may have.
pub const MAX_BITS: u64 = 1 << 20;

/// What the names of inputs with shares begin with.
const SHARES: &str = "clients.shares.";

/// The ports of a circuit's clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPorts {
    /// How many clients there are at most.
    pub clients: u32,
    /// How many parties get shares.
    pub parties: u16,
    /// Names and types of what a client gives, at least one.
    pub values: Vec<(String, Type)>,
    /// Names and types of what a client learns.
    pub answers: Vec<(String, Type)>,
}

impl ClientPorts {
    /// The output that says of each client whether its values were counted.
    pub const COUNTED: &'static str = "clients.counted";

    /// The output with the answers, each of which only its client can read.
    pub const ANSWERS: &'static str = "clients.answers";

    /// The answer that reports a failed assert to a client: as [`Circuit::FAILURE`].
    pub const FAILURE: &'static str = Circuit::FAILURE;

    /// Returns the name of the input with a party's shares.
    pub fn shares(party: PartyId) -> String {
        format!("{SHARES}{party}")
    }

    /// Returns the bits of a client's values.
    pub fn value_bits(&self) -> u64 {
        bits(&self.values)
    }

    /// Returns the bits of a client's answers.
    pub fn answer_bits(&self) -> u64 {
        bits(&self.answers)
    }

    /// Returns how many blocks a client's values fill.
    pub fn value_blocks(&self) -> u64 {
        self.value_bits().div_ceil(BLOCK)
    }

    /// Returns how many blocks a client's answers fill.
    pub fn answer_blocks(&self) -> u64 {
        self.answer_bits().div_ceil(BLOCK)
    }

    /// Returns how many blocks a client's share has: values, the random point s, the tag t; then,
    /// if there are answers, their pad and the two keys of their tag.
    pub fn share_blocks(&self) -> u64 {
        let keys = if self.answers.is_empty() { 0 } else { self.answer_blocks() + 2 };
        self.value_blocks() + 2 + keys
    }

    /// Returns the type of one client's share: presence, and what the blocks have, without what
    /// fills them up.
    pub fn share_type(&self) -> Type {
        let block = || Type::Uint(BLOCK as u32);
        let record = |name: &str, fields: &[(String, Type)]| Type::Struct {
            name: name.into(),
            fields: fields.to_vec(),
        };
        let mut fields = vec![
            ("present".to_string(), Type::Bool),
            ("values".to_string(), record("Values", &self.values)),
        ];
        fields.extend(["s", "t"].map(|part| (part.to_string(), block())));
        if !self.answers.is_empty() {
            fields.push(("pad".into(), record("Answers", &self.answers)));
            fields.extend(["a", "b"].map(|key| (key.to_string(), block())));
        }
        record("ClientShare", &fields)
    }

    /// Returns the type of one client's protected answers, if there are any.
    pub fn answer_type(&self) -> Option<Type> {
        let width = u32::try_from(self.answer_bits()).ok().filter(|width| *width > 0)?;
        let fields = vec![
            ("masked".to_string(), Type::Uint(width)),
            ("tag".to_string(), Type::Uint(BLOCK as u32)),
        ];
        Some(Type::Struct { name: "ClientAnswer".into(), fields })
    }

    /// Returns an array with one element for each client.
    pub fn each(&self, element: Type) -> Type {
        Type::Array { len: self.clients, elem: Box::new(element) }
    }

    /// Returns the ports of a circuit's clients, if it has any.
    pub fn of(circuit: &Circuit) -> Option<ClientPorts> {
        let shares = |party: PartyId| {
            let name = ClientPorts::shares(party);
            let input = circuit.inputs().iter().find(|input| input.name == name)?;
            (input.owner == party).then_some(&input.ty)
        };
        let first = shares(PartyId::new(0))?;
        let parties = (0..=u16::MAX).map_while(|party| shares(PartyId::new(party)));
        let parties = parties.take_while(|ty| *ty == first).count();
        let Type::Array { len, elem } = first else { return None };
        let Type::Struct { fields, .. } = &**elem else { return None };
        let record = |name: &str| match fields.iter().find(|(known, _)| known == name) {
            Some((_, Type::Struct { fields, .. })) => Some(fields.clone()),
            _ => None,
        };
        let all = circuit.inputs().iter().filter(|input| input.name.starts_with(SHARES)).count();
        if parties < 2 || parties != all {
            return None;
        }
        let ports = ClientPorts {
            clients: *len,
            parties: parties.try_into().ok()?,
            values: record("values")?,
            answers: record("pad").unwrap_or_default(),
        };
        // A circuit from elsewhere may use these names for something else.
        let learns = |name: &str, ty: Type| {
            let output = circuit.outputs().iter().find(|output| output.name == name);
            output.is_some_and(|output| output.to == Receivers::All && output.ty == ports.each(ty))
        };
        let answers = match ports.answer_type() {
            Some(ty) => learns(ClientPorts::ANSWERS, ty),
            None => true,
        };
        let fits = **elem == ports.share_type()
            && ports.is_small()
            && answers
            && learns(ClientPorts::COUNTED, Type::Bool);
        fits.then_some(ports)
    }

    /// Returns whether values and answers are at most 2^20 bits each, and there are values.
    pub fn is_small(&self) -> bool {
        (1..=MAX_BITS).contains(&self.value_bits()) && self.answer_bits() <= MAX_BITS
    }
}

fn bits(fields: &[(String, Type)]) -> u64 {
    fields.iter().map(|(_, ty)| ty.width()).fold(0, u64::saturating_add)
}
