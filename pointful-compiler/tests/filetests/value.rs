//! The values in `run` lines: `3`, `-1.5`, `inf`, `true`, `[[1, 2], [3, 4]]`.

use pointful_compiler::eval::{Data, ScalarValue};
use pointful_compiler::ir::Scalar;

/// A value without a type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Atom(String),
    List(Vec<Value>),
}

impl Value {
    /// Values with commas between them; none in an empty text.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<Value>, String> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut rest = text;
        let values = list(&mut rest)?;
        match rest.trim_start() {
            "" => Ok(values),
            rest => Err(format!("`{rest}` is left over")),
        }
    }

    /// One value.
    pub(crate) fn parse(text: &str) -> Result<Value, String> {
        match &mut Self::parse_all(text)?[..] {
            [value] => Ok(value.clone()),
            _ => Err(format!("`{text}` is not one value")),
        }
    }

    /// The length of the lists at each depth, as far as there is a first one.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut value = Some(self);
        while let Some(Value::List(values)) = value {
            lengths.push(values.len());
            value = values.first();
        }
        lengths
    }

    /// The value as a table of this type and shape.
    pub(crate) fn data(&self, elem: Scalar, shape: &[usize]) -> Result<Data, String> {
        let mut values = Vec::new();
        self.flatten(elem, shape, &mut values)?;
        Ok(Data::new(elem, shape.to_vec(), values))
    }

    fn flatten(
        &self,
        elem: Scalar,
        shape: &[usize],
        out: &mut Vec<ScalarValue>,
    ) -> Result<(), String> {
        match (self, shape.split_first()) {
            (Value::Atom(text), None) => {
                out.push(scalar(text, elem)?);
                Ok(())
            }
            (Value::List(values), Some((&extent, inner))) if values.len() == extent => values
                .iter()
                .try_for_each(|value| value.flatten(elem, inner, out)),
            _ => Err(format!("the shape is not {shape:?} here")),
        }
    }
}

/// A scalar of this type, exactly as Rust reads it.
fn scalar(text: &str, elem: Scalar) -> Result<ScalarValue, String> {
    let value = match elem {
        Scalar::F32 => text.parse().ok().map(ScalarValue::F32),
        Scalar::F64 => text.parse().ok().map(ScalarValue::F64),
        Scalar::Bool => text.parse().ok().map(ScalarValue::Bool),
        _ => integer(text, elem),
    };
    value.ok_or_else(|| format!("`{text}` is no {}", elem.name()))
}

/// An integer that its type has.
fn integer(text: &str, elem: Scalar) -> Option<ScalarValue> {
    let value = text.parse().ok()?;
    let (least, greatest) = elem.int_range()?;
    (least..=greatest)
        .contains(&value)
        .then(|| ScalarValue::from_int(elem, value))
}

/// Values up to something that is not a comma.
fn list(rest: &mut &str) -> Result<Vec<Value>, String> {
    let mut values = vec![value(rest)?];
    while let Some(after) = rest.trim_start().strip_prefix(',') {
        *rest = after;
        values.push(value(rest)?);
    }
    Ok(values)
}

fn value(rest: &mut &str) -> Result<Value, String> {
    *rest = rest.trim_start();
    if let Some(inside) = rest.strip_prefix('[') {
        *rest = inside.trim_start();
        let values = if rest.starts_with(']') {
            Vec::new()
        } else {
            list(rest)?
        };
        let after = rest.trim_start().strip_prefix(']');
        *rest = after.ok_or("expected `]`")?;
        return Ok(Value::List(values));
    }
    let atom = |c: char| c.is_alphanumeric() || "+-._".contains(c);
    let (text, after) = rest.split_at(rest.find(|c| !atom(c)).unwrap_or(rest.len()));
    if text.is_empty() {
        return Err(format!("expected a value, found `{rest}`"));
    }
    *rest = after;
    Ok(Value::Atom(text.to_string()))
}

#[test]
fn nested_lists_become_tables() {
    let value = Value::parse(" [[1, 2], [3, -4.5]] ").unwrap();
    assert_eq!(value.lengths(), [2, 2]);
    assert_eq!(
        value.data(Scalar::F64, &[2, 2]),
        Ok(Data::f64s(&[2, 2], [1.0, 2.0, 3.0, -4.5]))
    );
    assert!(value.data(Scalar::F64, &[4]).is_err());
    assert!(value.data(Scalar::I64, &[2, 2]).is_err());
    assert!(
        Value::parse("[[1], 2]")
            .unwrap()
            .data(Scalar::U8, &[2, 1])
            .is_err()
    );
}

#[test]
fn tables_may_be_empty() {
    assert_eq!(Value::parse("[]").unwrap().lengths(), [0]);
    let rows = Value::parse("[[], []]").unwrap();
    assert_eq!(
        rows.data(Scalar::Bool, &[2, 0]),
        Ok(Data::bools(&[2, 0], []))
    );
}

#[test]
fn text_that_is_no_value_is_rejected() {
    for text in ["[1", "1]", "[1,]", "", "1 2", "[,]"] {
        assert!(Value::parse(text).is_err(), "{text}");
    }
}
