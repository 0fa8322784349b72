//! The colours of phases and series in plots and on pages.

use plotters::prelude::*;

/// The colours of phases by name, and of series by number.
const PHASES: [(&str, RGBColor); 5] = [
    ("setup", RGBColor(140, 140, 140)),
    ("independent", RGBColor(31, 119, 180)),
    ("dependent", RGBColor(255, 127, 14)),
    ("online", RGBColor(44, 160, 44)),
    ("streamed", RGBColor(148, 103, 189)),
];
const SERIES: [RGBColor; 8] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(23, 190, 207),
];

/// Returns a colour in the form of style sheets.
pub fn css(RGBColor(red, green, blue): RGBColor) -> String {
    format!("rgb({red},{green},{blue})")
}

/// Returns a phase's colour.
pub fn phase_colour(name: &str) -> RGBColor {
    PHASES.iter().find(|(known, _)| *known == name).map_or(BLACK, |(_, colour)| *colour)
}

/// Returns the colour of a series; no two have the same.
pub fn series_colour(number: usize) -> RGBColor {
    SERIES.get(number).copied().unwrap_or_else(|| {
        // Steps of the golden ratio keep hues apart, however many there are.
        let hue = number as f64 * 0.618_033_988_75 % 1.0;
        let (red, green, blue) = HSLColor(hue, 0.6, 0.45).to_backend_color().rgb;
        RGBColor(red, green, blue)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_series_look_alike() {
        let colours: Vec<RGBColor> = (0..100).map(series_colour).collect();
        for (number, RGBColor(red, green, blue)) in colours.iter().enumerate() {
            assert!(!colours[..number].contains(&colours[number]), "{number}");
            // No colour is too light for a white page.
            assert!([red, green, blue].into_iter().any(|part| *part < 160), "{number}");
        }
    }
}
