//! Lists of words in one text: parted by commas, in quotes where a word has commas of its own.

use super::values::{Values, ValuesError, wrong};

/// What a word with commas stands in.
const QUOTE: char = '"';

impl Values {
    /// A list of words `a,b,c`, none of which is a range. One in double quotes may hold commas: `"my,gpu.toml",l4`.
    ///
    /// # Errors
    /// As of `list`, and a quote that is not closed.
    pub fn words(text: &str) -> Result<Self, ValuesError> {
        let mut words = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest.map(str::trim_start) {
            let (word, behind) = match text.strip_prefix(QUOTE) {
                None => text.find(',').map_or((text, ""), |comma| text.split_at(comma)),
                Some(quoted) => match quoted.split_once(QUOTE) {
                    Some((word, behind)) => (word, behind.trim_start()),
                    None => return wrong(text, "a quote is not closed"),
                },
            };
            rest = behind.strip_prefix(',');
            if rest.is_none() && !behind.is_empty() {
                return wrong(text, "a comma is missing behind the quote");
            }
            words.push(word.trim().to_owned());
        }
        Self::list(words)
    }

    /// Words as the text of their list.
    pub fn joined(words: &[String]) -> String {
        let word = |word: &String| if word.contains(',') { format!("{QUOTE}{word}{QUOTE}") } else { word.clone() };
        words.iter().map(word).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_commas_stand_in_quotes() {
        let texts = |text: &str| {
            let values = Values::words(text).unwrap();
            (0..values.len()).map(|i| values.text(i)).collect::<Vec<_>>()
        };
        assert_eq!(texts(r#"l4, "my, gpu.toml" ,"b:c""#), ["l4", "my, gpu.toml", "b:c"]);
        let several = ["l4".to_owned(), "a,b.toml".into()];
        assert_eq!(Values::joined(&several), r#"l4,"a,b.toml""#);
        assert_eq!(texts(&Values::joined(&several)), several);
        for (text, rule) in [(r#"a,"b"#, "not closed"), (r#""a"b,c"#, "comma is missing"), (r#""",a"#, "is empty")] {
            assert!(Values::words(text).unwrap_err().to_string().contains(rule), "{text}");
        }
    }
}
