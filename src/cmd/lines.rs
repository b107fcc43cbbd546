//! Filters of lines: one line out for every line in, in order, whatever a line holds. Owns how lines are cut and bounded,
//! how a refused one is answered, and the exit status; what is done with a line is the subcommand's.
//!
//! Memory is bounded by one line, and a line by [`MAX_LINE_BYTES`]. Output is flushed whenever reading would have to wait,
//! so that the filter can be talked to line by line, and is otherwise written in blocks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use super::Outcome;
use crate::codec::CodecError;

/// The longest line that is looked at; a vote in hex or JSON has under a thousand bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

const BLOCK_BYTES: usize = 1 << 16;

/// Why a line was refused: the object of its error line.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The kind, as [`CodecError::kind`] names them.
    pub kind: &'static str,
    /// What is wrong, in words.
    pub message: String,
}

impl From<CodecError> for Refusal {
    fn from(error: CodecError) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

/// Answers every line of stdin on stdout. `answer` appends what stands for a line; lines that are too long are refused as
/// `too_long`, a kind of error, without being looked at. The exit status is 2 where any line was refused.
///
/// # Errors
/// Where stdin cannot be read or stdout not be written; a reader that has gone away is no error.
pub fn filter(too_long: &'static str, answer: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), Refusal>) -> Outcome {
    let input = BufReader::with_capacity(BLOCK_BYTES, io::stdin().lock());
    match pump(input, &mut io::stdout().lock(), too_long, answer) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::from(2)),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(Failure::Output(error)) => Err(error).context("stdout cannot be written"),
        Err(Failure::Input(error)) => Err(error).context("stdin cannot be read"),
    }
}

#[derive(Debug)]
enum Failure {
    Input(io::Error),
    Output(io::Error),
}

/// Answers every line; whether none was refused.
fn pump<R: Read>(
    mut input: BufReader<R>,
    output: &mut impl Write,
    too_long: &'static str,
    mut answer: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), Refusal>,
) -> Result<bool, Failure> {
    let (mut line, mut block) = (Vec::new(), Vec::new());
    let mut all_good = true;
    loop {
        if input.buffer().is_empty() || block.len() >= BLOCK_BYTES {
            output.write_all(&block).and_then(|()| output.flush()).map_err(Failure::Output)?;
            block.clear();
        }
        let outcome = match next_line(&mut input, &mut line).map_err(Failure::Input)? {
            Line::End => break,
            Line::TooLong => {
                Err(Refusal { kind: too_long, message: format!("the line is longer than {MAX_LINE_BYTES} bytes") })
            }
            Line::Whole => answer(&line, &mut block),
        };
        if let Err(refusal) = outcome {
            all_good = false;
            refuse(&refusal, &mut block).map_err(Failure::Output)?;
        }
        block.push(b'\n');
    }
    output.write_all(&block).and_then(|()| output.flush()).map_err(Failure::Output)?;
    Ok(all_good)
}

fn refuse(refusal: &Refusal, block: &mut Vec<u8>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Answer<'a> {
        error: &'a Refusal,
    }
    Ok(serde_json::to_writer(block, &Answer { error: refusal })?)
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads one line without its end, `\n` or `\r\n`; the last may lack one.
fn next_line<R: Read>(input: &mut BufReader<R>, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let (mut started, mut too_long) = (false, false);
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        started = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        // One more than fits, for the `\r` that does not count.
        if line.len() + part.len() > MAX_LINE_BYTES + 1 {
            too_long = true;
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(match (started, too_long || line.len() > MAX_LINE_BYTES) {
        (false, _) => Line::End,
        (true, true) => Line::TooLong,
        (true, false) => Line::Whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Echoes lines; refuses those that begin with `!`. Blocks of `capacity` bytes.
    fn run(input: &[u8], capacity: usize) -> (Vec<String>, bool) {
        let mut output = Vec::new();
        let all_good = pump(BufReader::with_capacity(capacity, input), &mut output, "invalid-hex", |line, block| {
            if line.first() == Some(&b'!') {
                return Err(Refusal { kind: "malformed", message: "a \"mark\"".to_owned() });
            }
            block.extend_from_slice(line);
            Ok(())
        });
        let text = String::from_utf8(output).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        (text.lines().map(str::to_owned).collect(), all_good.unwrap())
    }

    #[test]
    fn one_line_out_for_every_line_in() {
        for capacity in [1, 2, 3, 7, 1_000] {
            assert_eq!(run(b"", capacity), (vec![], true));
            for (input, lines) in [
                (&b"a\nb\n"[..], &["a", "b"][..]),
                (b"a\r\nb", &["a", "b"]),
                (b"\n\r\n\n", &["", "", ""]),
                (b"a\n\nb\n\n", &["a", "", "b", ""]),
                (b"a\rb\n", &["a\rb"]),
            ] {
                assert_eq!(run(input, capacity), (lines.iter().map(|line| (*line).to_owned()).collect(), true));
            }
            let (lines, all_good) = run(b"a\n!\nb", capacity);
            assert_eq!(lines, ["a", r#"{"error":{"kind":"malformed","message":"a \"mark\""}}"#, "b"]);
            assert!(!all_good);
        }
    }

    #[test]
    fn a_long_line_is_refused_and_the_next_one_is_read() {
        let long = vec![b'x'; MAX_LINE_BYTES];
        let input = [&long[..], b"\r\n", &long, b"y\nlast"].concat();
        let (lines, all_good) = run(&input, 100);
        assert_eq!((lines.len(), lines[0].len(), &lines[2][..]), (3, MAX_LINE_BYTES, "last"));
        assert!(lines[1].starts_with(r#"{"error":{"kind":"invalid-hex","message":"the line is longer"#));
        assert!(!all_good);
    }

    #[test]
    fn answers_before_it_waits() {
        /// Gives a line a call, and wants the last one answered first.
        struct Turns<'a>(&'a std::cell::Cell<usize>, usize);
        impl Read for Turns<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                assert_eq!(self.0.get(), self.1, "an answer is kept back");
                if self.1 == 3 {
                    return Ok(0);
                }
                self.1 += 1;
                buffer[..2].copy_from_slice(b"a\n");
                Ok(2)
            }
        }
        struct Sink<'a>(&'a std::cell::Cell<usize>);
        impl Write for Sink<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.set(self.0.get() + bytes.iter().filter(|byte| **byte == b'\n').count());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let answered = std::cell::Cell::new(0);
        let input = BufReader::new(Turns(&answered, 0));
        let outcome = pump(input, &mut Sink(&answered), "invalid-hex", |_, _| Ok(()));
        assert!(outcome.unwrap());
        assert_eq!(answered.get(), 3);
    }
}
