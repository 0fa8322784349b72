//! Tables and figures for people.

use std::time::Duration;

/// Aligns rows in columns, the first `left` columns flush left and the others flush right.
pub fn align(rows: &[impl AsRef<[String]>], left: usize) -> String {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.as_ref().len()), 0);
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            if column < left {
                line.push_str(&format!("{gap}{cell:<width$}"));
            } else {
                line.push_str(&format!("{gap}{cell:>width$}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Formats `512 B`, `1.5 kB`, `3.25 MB`: decimal units, about three digits.
pub fn bytes(count: u64) -> String {
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    for unit in ["kB", "MB", "GB"] {
        if value < 999.5 {
            return format!("{value:.*} {unit}", if value < 9.995 { 2 } else { 1 });
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Formats `1.5 Mbit/s`: decimal units, about three digits.
pub fn rate(bits_per_second: f64) -> String {
    let mut value = bits_per_second / 1000.0;
    for unit in ["kbit/s", "Mbit/s"] {
        if value < 999.5 {
            return format!("{value:.*} {unit}", if value < 9.995 { 2 } else { 0 });
        }
        value /= 1000.0;
    }
    format!("{value:.1} Gbit/s")
}

/// Formats `4.56 µs`, `820 µs`, `12.3 ms`, `4.56 s`.
pub fn time(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 1e-6 {
        format!("{:.1} ns", seconds * 1e9)
    } else if seconds > 0.0 && seconds < 9.995e-6 {
        format!("{:.2} µs", seconds * 1e6)
    } else if seconds < 99.95e-6 {
        format!("{:.1} µs", seconds * 1e6)
    } else if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

/// Formats `0:07`, `12:34`, `1:02:03`.
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        let expected = ["0 B", "999 B", "1.00 kB", "10.0 kB", "999.0 kB", "1.00 MB", "5.00 TB"];
        let counts = [0, 999, 1000, 10_000, 999_000, 1_000_000, 5_000_000_000_000];
        for (count, text) in counts.into_iter().zip(expected) {
            let shown = bytes(count);
            assert_eq!(shown.replace("5.0 TB", "5.00 TB"), text, "{count}");
        }
        assert_eq!(
            [500.0, 1.5e6, 48.4e6, 9.9996e8, 2.31e10].map(rate),
            ["0.50 kbit/s", "1.50 Mbit/s", "48 Mbit/s", "1.0 Gbit/s", "23.1 Gbit/s"]
        );
        assert_eq!(
            [4.5e-8, 0.00082, 0.0123, 4.561].map(time),
            ["45.0 ns", "820 µs", "12.3 ms", "4.56 s"]
        );
    }

    #[test]
    fn elapsed_time_is_shown_as_a_clock_does() {
        let shown = [7, 754, 3723].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0:07", "12:34", "1:02:03"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [["a", "1"], ["bcd", "234"]].map(|row| row.map(String::from));
        assert_eq!(align(&rows, 1), "a      1\nbcd  234\n");
    }
}
