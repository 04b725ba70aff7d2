//! The arithmetic of lab files: numbers, names, `+ - * /`, comparisons, `ceil floor round min max`.

use super::{scope::Value, short};

/// Deepest nesting of parentheses and signs.
const DEEPEST: u32 = 64;
/// Steps of rounding that a sum of binary fractions may be off before `ceil` and `floor` take the next whole number.
const NOISE: f64 = 1e-9;

/// Evaluates an expression; `name` gives the value of a name such as `before.blocks`. A comparison is 1 or 0.
///
/// # Errors
/// What stands at fault and what would be right, without the expression itself.
pub(super) fn evaluate(text: &str, name: &mut dyn FnMut(&str) -> Result<Value, String>) -> Result<f64, String> {
    let mut reader = Reader { rest: text.trim_start(), depth: 0, name };
    let value = reader.comparison()?;
    match reader.rest.is_empty() {
        true if value.is_nan() => Err("it is not a number (0 / 0?)".into()),
        true => Ok(value),
        false => Err(format!("`{}` is left over: write numbers, names, + - * / and parentheses", short(reader.rest))),
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    name: &'a mut dyn FnMut(&str) -> Result<Value, String>,
}

impl<'a> Reader<'a> {
    /// Whether the text goes on with this sign, which is then passed.
    fn takes(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn comparison(&mut self) -> Result<f64, String> {
        let left = self.sum()?;
        type Holds = fn(&f64, &f64) -> bool;
        let signs: [(&str, Holds); 6] =
            [("<=", f64::le), (">=", f64::ge), ("==", f64::eq), ("!=", f64::ne), ("<", f64::lt), (">", f64::gt)];
        for (sign, holds) in signs {
            if self.takes(sign) {
                return Ok(f64::from(u8::from(holds(&left, &self.sum()?))));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.takes("+") {
                value += self.product()?;
            } else if self.takes("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.factor()?;
        loop {
            if self.takes("*") {
                value *= self.factor()?;
            } else if self.takes("/") {
                value /= self.factor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} deep: name its parts under [let]"));
        }
        let value = self.plain_factor();
        self.depth -= 1;
        value
    }

    fn plain_factor(&mut self) -> Result<f64, String> {
        if self.takes("-") {
            return Ok(-self.factor()?);
        }
        if self.takes("(") {
            let value = self.comparison()?;
            return if self.takes(")") { Ok(value) } else { Err("a closing parenthesis is missing".into()) };
        }
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => {
                let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                if self.takes("(") { self.function(word) } else { self.named(word) }
            }
            Some(c) => Err(format!("`{c}` stands where a number or a name should be")),
            None => Err("it ends where a number or a name should be".into()),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let start = self.rest;
        let mut end = start.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(start.len());
        if let Some(power) = start[end..].strip_prefix('e') {
            let digits = power.find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len());
            end += if digits > 0 { 1 + digits } else { 0 };
        }
        self.rest = start[end..].trim_start();
        start[..end].parse().map_err(|_| format!("`{}` is no number; write it like 3.35e12", short(&start[..end])))
    }

    fn named(&mut self, name: &str) -> Result<f64, String> {
        match (self.name)(name)? {
            Value::Number(number) => Ok(number),
            Value::Word(word) => Err(format!("{name} is the word `{word}`, not a number")),
        }
    }

    fn function(&mut self, name: &str) -> Result<f64, String> {
        let mut given = vec![self.comparison()?];
        while self.takes(",") {
            given.push(self.comparison()?);
        }
        if !self.takes(")") {
            return Err("a closing parenthesis is missing".into());
        }
        match (name, &given[..]) {
            ("ceil", [value]) => Ok((value - NOISE * value.abs()).ceil()),
            ("floor", [value]) => Ok((value + NOISE * value.abs()).floor()),
            ("round", [value]) => Ok(libm::round(*value)),
            ("min", [first, rest @ ..]) if !rest.is_empty() => Ok(rest.iter().fold(*first, |a, b| a.min(*b))),
            ("max", [first, rest @ ..]) if !rest.is_empty() => Ok(rest.iter().fold(*first, |a, b| a.max(*b))),
            _ => Err(format!(
                "there is no {} of {}; there are ceil(x), floor(x), round(x), min(x, y), max(x, y)",
                short(name),
                crate::units::plural(given.len() as u64, "value")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<f64, String> {
        evaluate(text, &mut |name| match name {
            "a.b" => Ok(Value::Number(65.0)),
            "gpu" => Ok(Value::Word("h100".into())),
            _ => Err(format!("nothing is called {name}")),
        })
    }

    #[test]
    fn sums_products_and_functions() {
        assert_eq!(of("1 + 2 * 3 - 8 / 4"), Ok(5.0));
        assert_eq!(of("-(1 + 2) * -2"), Ok(6.0));
        assert_eq!(of("ceil(a.b * 32 / 256) * 256"), Ok(2304.0));
        assert_eq!(of("min(3, 2, 5) + max(1, 2) + round(2.5) + floor(2.9)"), Ok(9.0));
        assert_eq!(of("1.5e3 + .5"), Ok(1500.5));
        assert_eq!((of("a.b >= 65"), of("(1 < 2) + (2 == 3)")), (Ok(1.0), Ok(1.0)));
        // 0.1 + 0.2 is a little more than 0.3.
        assert_eq!((of("ceil((0.1 + 0.2) * 10)"), of("floor(0.29 * 100)")), (Ok(3.0), Ok(29.0)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("1 +", "it ends where"),
            ("1 2", "`2` is left over"),
            ("(1", "closing parenthesis"),
            ("sqrt(2)", "there is no sqrt of 1 value"),
            ("max(2)", "there is no max of 1 value"),
            ("gpu + 1", "gpu is the word `h100`"),
            ("c", "nothing is called c"),
            ("1.2.3", "is no number"),
            ("0 / 0", "not a number"),
            ("%", "`%` stands where"),
        ];
        for (text, says) in cases {
            let error = of(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(of(&"(".repeat(10_000)).unwrap_err().contains("deep"));
        assert!(of(&"-".repeat(10_000)).unwrap_err().contains("deep"));
    }
}
