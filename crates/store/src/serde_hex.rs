//! Serde helpers that write bytes as hexadecimal digits in JSON or TOML.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(crate) fn serialize<S: Serializer, const N: usize>(
    bytes: &[u8; N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<[u8; N], D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut bytes = [0; N];
    hex::decode_to_slice(&text, &mut bytes)
        .map_err(|_| D::Error::custom(format!("{} hexadecimal digits are needed", 2 * N)))?;
    Ok(bytes)
}

/// Hexadecimal digits for optional bytes.
pub(crate) mod option {
    use super::*;

    #[derive(serde::Serialize, Deserialize)]
    #[serde(transparent)]
    struct Wrapped<const N: usize>(#[serde(with = "super")] [u8; N]);

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &Option<[u8; N]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&bytes.map(Wrapped), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<Option<[u8; N]>, D::Error> {
        Ok(Option::<Wrapped<N>>::deserialize(deserializer)?.map(|w| w.0))
    }
}
