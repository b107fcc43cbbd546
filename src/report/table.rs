//! A table as rows of text, and its Markdown. Owns no figures.

use std::fmt::Write;

/// A table: a title, a head, and groups of rows that stand apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The columns, each with its unit. The first is text, the others are figures.
    pub head: Vec<&'static str>,
    /// The groups, in order; one without rows is left out.
    pub groups: Vec<Group>,
    /// Sentences below it.
    pub notes: Vec<String>,
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they have in common; empty for the main one.
    pub title: &'static str,
    /// The rows; each has as many cells as the head.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The groups that have rows.
    pub fn filled(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.rows.is_empty())
    }

    /// The table in Markdown, its title as a heading of the third level.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.title);
        let row = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<_> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &row(&mut self.head.iter().copied());
        text += &row(&mut (0..self.head.len()).map(|column| if column == 0 { "---" } else { "---:" }));
        for group in self.filled() {
            if !group.title.is_empty() {
                let title = format!("*{}*", group.title);
                text += &row(&mut (0..self.head.len()).map(|column| if column == 0 { title.as_str() } else { "" }));
            }
            for cells in &group.rows {
                text += &row(&mut cells.iter().map(String::as_str));
            }
        }
        for note in &self.notes {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{note}\n");
        }
        text
    }
}

/// A figure of a table, with three significant digits but never fewer than the whole ones.
#[must_use]
pub fn figure(value: f64) -> String {
    let digits = match value.abs() {
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    grouped(&format!("{value:.digits$}"))
}

/// A number's text with commas between its thousands.
#[must_use]
pub fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left.is_multiple_of(3) && digit.is_ascii_digit() && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if rest.is_empty() { grouped } else { format!("{grouped}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        let pairs = [
            (0.0, "0.00"),
            (4.123, "4.12"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234.5, "1,234"),
            (33_000.0, "33,000"),
            (1_234_567.0, "1,234,567"),
        ];
        for (value, text) in pairs {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn markdown_by_hand() {
        let table = Table {
            title: "Encode".to_owned(),
            head: vec!["codec", "ns/op"],
            groups: vec![
                Group { title: "", rows: vec![vec!["zap".to_owned(), "4.1".to_owned()]] },
                Group { title: "empty", rows: vec![] },
                Group { title: "yardsticks", rows: vec![vec!["a|b".to_owned(), "5".to_owned()]] },
            ],
            notes: vec!["A note.".to_owned()],
        };
        let expected = "### Encode\n\n| codec | ns/op |\n| --- | ---: |\n| zap | 4.1 |\n| *yardsticks* |  |\n| a\\|b | 5 |\n\nA note.\n";
        assert_eq!(table.markdown(), expected);
    }
}
