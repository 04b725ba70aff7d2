//! A convolution as tables write it: `N=;C=;H=;W=;K=;R=;S=;stride=;pad=;dil=;groups=;layout=`.

use super::{ConvError, Phase, Shape, Sides};

/// The phase of a row; an empty one is forward.
///
/// # Errors
/// There is no such phase.
pub fn phase(text: &str) -> Result<Phase, ConvError> {
    if text.is_empty() { Ok(Phase::Forward) } else { text.parse() }
}

/// The checked shape of the columns `conv_params` and `phase` of a row. `stride`, `pad`, `dil`, `groups` and `layout` may
/// be absent: 1, 0, 1, 1, NCHW. Nothing is allocated for a good row.
///
/// # Errors
/// A key is unknown, absent, given twice or no number, or the shape is no convolution.
pub fn parameters(text: &str, phase_of_row: &str) -> Result<Shape, ConvError> {
    const KEYS: [&str; 7] = ["N", "C", "H", "W", "K", "R", "S"];
    let mut sizes = [0_u64; KEYS.len()];
    let mut seen = [false; KEYS.len()];
    let mut shape = Shape::new(0, 0, Sides::both(0), 0, Sides::both(0));
    shape.phase = phase(phase_of_row)?;
    let wrong = |what: String| ConvError::Text { what };
    for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            return Err(wrong(format!("`{pair}` is no KEY=VALUE")));
        };
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| wrong(format!("{key} = `{value}` is no whole number from 0 to {}", u64::MAX)))
        };
        let sides = || value.parse::<Sides>().map_err(|why| wrong(format!("{key}: {why}")));
        match KEYS.iter().position(|known| *known == key) {
            Some(place) if seen[place] => return Err(wrong(format!("{key} is given twice"))),
            Some(place) => (sizes[place], seen[place]) = (number()?, true),
            None => match key {
                "stride" => shape.stride = sides()?,
                "pad" => shape.pad = sides()?,
                "dil" => shape.dilation = sides()?,
                "groups" => shape.groups = number()?,
                "layout" => shape.layout = value.parse()?,
                _ => return Err(wrong(format!("`{key}` is no key"))),
            },
        }
    }
    if let Some(place) = seen.iter().position(|seen| !seen) {
        return Err(wrong(format!("{} is absent", KEYS[place])));
    }
    let [batch, channels, height, width, filters, rows, columns] = sizes;
    shape.image = Sides { height, width };
    shape.filter = Sides { height: rows, width: columns };
    Shape { batch, channels, filters, ..shape }.checked()
}
