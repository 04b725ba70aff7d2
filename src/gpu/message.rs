//! The TOML parser's message, short enough for a terminal.

/// Most characters of a line of the file that a message shows.
const WIDTH: usize = 120;

/// Characters before the caret that are kept of a longer line.
const BEFORE: usize = 50;

/// The message with the line and the caret under it; of a long line the part around the caret.
pub(crate) fn toml_message(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let caret = |line: &str| {
        let (bar, rest) = line.split_once('|')?;
        let marks = !rest.trim().is_empty() && rest.chars().all(|c| matches!(c, ' ' | '^'));
        (bar.trim().is_empty() && marks).then(|| (bar.chars().count() + 2, rest.trim().chars().count()))
    };
    let Some((at, (margin, marks))) = lines.iter().enumerate().find_map(|(at, line)| Some((at, caret(line)?))) else {
        return lines.join("\n");
    };
    let echoed: Vec<char> =
        at.checked_sub(1).map_or_else(Vec::new, |above| lines[above].chars().skip(margin).collect());
    if echoed.len() <= WIDTH {
        return lines.join("\n");
    }
    let column = lines[at].chars().count().saturating_sub(margin + marks);
    let start = column.saturating_sub(BEFORE).min(echoed.len());
    let end = echoed.len().min(start + WIDTH);
    let (before, after) = (if start > 0 { "..." } else { "" }, if end < echoed.len() { "..." } else { "" });
    let head: String = lines[at - 1].chars().take(margin).collect();
    let shown: String = echoed[start..end].iter().collect();
    let bar: String = lines[at].chars().take(margin).collect();
    let place = " ".repeat(before.len() + column - start);
    let marks = "^".repeat(marks.min(end.saturating_sub(column)).max(1));
    let mut short: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    short[at - 1] = format!("{head}{before}{shown}{after}");
    short[at] = format!("{bar}{place}{marks}");
    short.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let message = |text: &str| toml_message(&toml::from_str::<toml::Table>(text).unwrap_err());
        let long = format!("a = 1\nb = [{}?, {}]\n", "1, ".repeat(500), "2, ".repeat(500));
        let lines: Vec<String> = message(&long).lines().map(str::to_owned).collect();
        assert!(lines.iter().all(|l| l.len() < WIDTH + 20), "{lines:#?}");
        let caret = lines[3].find('^').expect("a caret");
        assert_eq!(lines[2].as_bytes()[caret], b'?', "{lines:#?}");
        let short = "a = ?\n";
        let whole = toml::from_str::<toml::Table>(short).unwrap_err().to_string();
        assert_eq!(message(short), whole.trim_end());
    }
}
