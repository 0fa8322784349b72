//! Words of the command line that have parts.

/// Splits `NAME=REST` at the first `=`.
///
/// # Errors
/// A sentence that says what was expected and does not repeat `text`, which may hold a secret.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, rest)) if !name.trim().is_empty() => {
            Ok((name.trim().to_string(), rest.to_string()))
        }
        _ => Err("expected NAME=…, where NAME is a name or a place counted from 0".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_split_at_the_first_sign() {
        assert_eq!(assignment("key=hex:0f").unwrap(), ("key".into(), "hex:0f".into()));
        assert_eq!(assignment("a=b=c").unwrap(), ("a".into(), "b=c".into()));
        for bad in ["", "=5", "secret12345"] {
            let error = assignment(bad).unwrap_err();
            assert!(!error.contains("12345"), "{error}");
        }
    }
}
