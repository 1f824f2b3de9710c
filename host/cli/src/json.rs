//! The layout of JSON that was checked: on one line, or indented. Numbers and strings stay as they were written.

/// White space outside strings removed.
pub(crate) fn compact(text: &str) -> String {
    lay_out(text, None)
}

/// Two spaces for each level.
pub(crate) fn indented(text: &str) -> String {
    lay_out(text, Some(2))
}

fn lay_out(text: &str, indent: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    // An opening bracket waits until it is known whether anything stands between it and the closing one.
    let mut opened = false;
    let line = |out: &mut String, depth: usize| {
        if let Some(width) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', depth * width));
        }
    };
    for found in text.chars() {
        if in_string {
            out.push(found);
            in_string = escaped || found != '"';
            escaped = !escaped && found == '\\';
            continue;
        }
        if matches!(found, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        if matches!(found, ']' | '}') {
            depth = depth.saturating_sub(1);
            if !opened {
                line(&mut out, depth);
            }
            opened = false;
            out.push(found);
            continue;
        }
        if opened {
            opened = false;
            line(&mut out, depth);
        }
        out.push(found);
        match found {
            '"' => in_string = true,
            '[' | '{' => {
                depth += 1;
                opened = true;
            }
            ',' => line(&mut out, depth),
            ':' if indent.is_some() => out.push(' '),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ \"a b\" : [1.0,\t-0, \"\\\" , ]\"],\n\"c\":{ },\"d\":[] }";

    #[test]
    fn one_line() {
        assert_eq!(compact(TEXT), r#"{"a b":[1.0,-0,"\" , ]"],"c":{},"d":[]}"#);
    }

    #[test]
    fn several_lines() {
        assert_eq!(
            indented(TEXT),
            "{\n  \"a b\": [\n    1.0,\n    -0,\n    \"\\\" , ]\"\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }
}
