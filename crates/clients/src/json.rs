//! Layouts as JSON, for clients in any language.

use serde::{Deserialize, Serialize};
use symbolon_circuit::{ClientPorts, Type};

use crate::{ClientError, Layout};

const FORMAT: &str = "symbolon-clients-1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutJson {
    format: String,
    clients: u32,
    parties: u16,
    values: Vec<FieldJson>,
    #[serde(default)]
    answers: Vec<FieldJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldJson {
    name: String,
    #[serde(rename = "type")]
    ty: TypeJson,
}

/// A type: `"bool"`, `{"uint": 64}`, `{"array": {"len": 3, "elem": "f32"}}` and so on.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum TypeJson {
    Uint(u32),
    Int(u32),
    Array { len: u32, elem: Box<TypeJson> },
    Bool,
    Fixed { int: u32, frac: u32 },
    F32,
    F64,
    Text(u32),
    Tuple(Vec<TypeJson>),
    Struct { name: String, fields: Vec<FieldJson> },
    Enum { name: String, variants: Vec<VariantJson> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantJson {
    name: String,
    types: Vec<TypeJson>,
}

impl From<&Type> for TypeJson {
    fn from(ty: &Type) -> TypeJson {
        let all = |types: &[Type]| types.iter().map(TypeJson::from).collect();
        match ty {
            Type::Uint(width) => TypeJson::Uint(*width),
            Type::Int(width) => TypeJson::Int(*width),
            Type::Array { len, elem } => {
                TypeJson::Array { len: *len, elem: Box::new(TypeJson::from(&**elem)) }
            }
            Type::Bool => TypeJson::Bool,
            Type::Fixed { int, frac } => TypeJson::Fixed { int: *int, frac: *frac },
            Type::F32 => TypeJson::F32,
            Type::F64 => TypeJson::F64,
            Type::Text(len) => TypeJson::Text(*len),
            Type::Tuple(parts) => TypeJson::Tuple(all(parts)),
            Type::Struct { name, fields } => {
                TypeJson::Struct { name: name.clone(), fields: fields_json(fields) }
            }
            Type::Enum { name, variants } => {
                let variants = variants
                    .iter()
                    .map(|(name, types)| VariantJson { name: name.clone(), types: all(types) });
                TypeJson::Enum { name: name.clone(), variants: variants.collect() }
            }
        }
    }
}

impl TypeJson {
    fn into_type(self) -> Result<Type, ClientError> {
        let all = |types: Vec<TypeJson>| -> Result<Vec<Type>, ClientError> {
            types.into_iter().map(TypeJson::into_type).collect()
        };
        let wrong = |reason: &str| Err(ClientError::Layout(reason.into()));
        Ok(match self {
            TypeJson::Uint(0) | TypeJson::Int(0) => return wrong("an integer has no bits"),
            TypeJson::Uint(width) => Type::Uint(width),
            TypeJson::Int(width) => Type::Int(width),
            TypeJson::Array { len, elem } => Type::Array { len, elem: Box::new(elem.into_type()?) },
            TypeJson::Bool => Type::Bool,
            TypeJson::Fixed { int, frac } => Type::Fixed { int, frac },
            TypeJson::F32 => Type::F32,
            TypeJson::F64 => Type::F64,
            TypeJson::Text(len) => Type::Text(len),
            TypeJson::Tuple(parts) => Type::Tuple(all(parts)?),
            TypeJson::Struct { name, fields } => {
                Type::Struct { name, fields: into_fields(fields)? }
            }
            TypeJson::Enum { variants, .. } if variants.is_empty() => {
                return wrong("an enumeration has no variants");
            }
            TypeJson::Enum { name, variants } => {
                let one = |variant: VariantJson| Ok((variant.name, all(variant.types)?));
                let variants = variants.into_iter().map(one).collect::<Result<_, ClientError>>()?;
                Type::Enum { name, variants }
            }
        })
    }
}

fn fields_json(fields: &[(String, Type)]) -> Vec<FieldJson> {
    let one = |(name, ty): &(String, Type)| FieldJson { name: name.clone(), ty: ty.into() };
    fields.iter().map(one).collect()
}

fn into_fields(fields: Vec<FieldJson>) -> Result<Vec<(String, Type)>, ClientError> {
    fields.into_iter().map(|field| Ok((field.name, field.ty.into_type()?))).collect()
}

impl Layout {
    /// Returns the layout as JSON.
    pub fn to_json(&self) -> String {
        let ports = self.ports();
        let json = LayoutJson {
            format: FORMAT.into(),
            clients: ports.clients,
            parties: ports.parties,
            values: fields_json(&ports.values),
            answers: fields_json(&ports.answers),
        };
        // No map has keys that are no texts.
        serde_json::to_string(&json).unwrap_or_default()
    }

    /// Reads a layout, which may come from anybody.
    ///
    /// # Errors
    /// [`ClientError::Layout`].
    pub fn from_json(text: &str) -> Result<Layout, ClientError> {
        let json: LayoutJson =
            serde_json::from_str(text).map_err(|error| ClientError::Layout(error.to_string()))?;
        if json.format != FORMAT {
            return Err(ClientError::Layout(format!("its format is not {FORMAT}")));
        }
        Layout::new(ClientPorts {
            clients: json.clients,
            parties: json.parties,
            values: into_fields(json.values)?,
            answers: into_fields(json.answers)?,
        })
    }
}
