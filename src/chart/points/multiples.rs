//! Small multiples: a panel for each cell of a column, all on the same axes.

use super::lines::described;
use super::parts::{Curves, KEY_ROW, Series, curve, draw_key, key, label, shortened};
use super::scale::{LogAxes, Scale};
use super::{Points, PointsError};
use crate::chart::{
    Caption, Chart, MOST_PANELS, Theme,
    canvas::{Canvas, SLACK, Type},
    font::elide,
    geometry::Rect,
    page,
    validation::Grid,
};

/// What is drawn over what, in which panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiplesAsked {
    /// The level column: numbers, quantities or words.
    pub x: String,
    /// The upright column, numbers.
    pub y: String,
    /// The columns whose cells have panels of their own.
    pub panels: Vec<String>,
    /// The columns whose cells set the curves of a panel apart.
    pub by: Vec<String>,
    /// Which axes are logarithmic; absent: those over more than two decades.
    pub log: Option<LogAxes>,
}

/// Up to twelve panels of up to six curves each; a curve looks the same in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiples {
    caption: Caption,
    subtitle: String,
    x: Scale,
    y: Scale,
    /// Names of panels, and their curves, each with its place in the key.
    panels: Vec<(String, Vec<(usize, Series)>)>,
    key: Vec<String>,
    csv: String,
}

/// Heights of a plot, by panels in a row.
const HEIGHTS: [f64; 3] = [400.0, 230.0, 160.0];

impl Multiples {
    /// The figure of a table.
    ///
    /// # Errors
    /// No such column, no row to draw, more than twelve panels or six curves, a value without a place on the axes asked
    /// for.
    pub fn new(points: &Points, asked: &MultiplesAsked) -> Result<Self, PointsError> {
        let all: Vec<String> = asked.panels.iter().chain(&asked.by).cloned().collect();
        let whole = Curves::new(points, &asked.x, &asked.y, &all)?;
        let rows = whole.rows(points)?;
        let x = Scale::new(points, &whole.x, &rows, asked.log.map(|l| l.x))?.spaced(&whole.x, asked.log);
        let y = Scale::new(points, &whole.y, &rows, asked.log.map(|l| l.y))?;
        let split = asked.panels.len();
        let (series, empty) = whole.series(0..points.len());
        let mut keys: Vec<_> = series.iter().map(|s| s.key[split..].to_vec()).collect();
        keys.sort();
        keys.dedup();
        let curves = Curves::new(points, &asked.x, &asked.y, &asked.by)?;
        curves.few(points, keys.len(), "")?;
        let notes = whole.notes(points, &series, &empty);
        let mut panels: Vec<(String, Vec<(usize, Series)>)> = Vec::new();
        let mut last = None;
        for mut one in series {
            let panel = one.key[..split].to_vec();
            if last.as_ref() != Some(&panel) {
                panels.push((label(&whole.by[..split], &panel), Vec::new()));
                last = Some(panel);
            }
            let place = keys.iter().position(|key| *key == one.key[split..]).unwrap_or(0);
            one.label = label(&curves.by, &one.key[split..]);
            if let Some(panel) = panels.last_mut() {
                panel.1.push((place, one));
            }
        }
        if panels.len() > MOST_PANELS {
            return Err(PointsError::Many {
                file: points.file().into(),
                columns: format!("--panels {}", asked.panels.join(",")),
                count: panels.len(),
                what: "panels",
                most: MOST_PANELS,
                cure: format!("keep some with --only {}=VALUE,VALUE", asked.panels[0]),
            });
        }
        let key = keys.iter().map(|key| label(&curves.by, key)).filter(|l| !l.is_empty()).collect();
        let named: Vec<String> = asked.panels.iter().map(|name| super::column::long(name)).collect();
        let title = format!("{} over {}, by {}", y.title, x.title, named.join(" and "));
        let plain: Vec<(&str, Vec<Series>)> =
            panels.iter().map(|(name, some)| (name.as_str(), some.iter().map(|s| s.1.clone()).collect())).collect();
        let plain: Vec<(&str, &[Series])> = plain.iter().map(|(name, some)| (*name, some.as_slice())).collect();
        let csv = curves.csv(Some("panel"), &plain);
        Ok(Self { caption: points.caption(title), subtitle: notes.join(". "), x, y, panels, key, csv })
    }

    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let named = |name: &str, s: &Series| match s.label.is_empty() {
            true => shortened(name, 60),
            false => format!("{}, {}", shortened(name, 60), shortened(&s.label, 60)),
        };
        let series: Vec<Series> = self
            .panels
            .iter()
            .flat_map(|(name, some)| some.iter().map(move |(_, s)| Series { label: named(name, s), ..s.clone() }))
            .collect();
        page::close(&self.canvas(theme), &self.caption, &described(&self.caption.title, &series), self.csv.clone())
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let rows = key(&self.key, page::WIDTH - 2.0 * page::BORDER);
        let above = KEY_ROW * rows.len() as f64;
        let grid = Grid::new(self.panels.len(), HEIGHTS).titled();
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, above + grid.height() + 8.0);
        draw_key(&mut canvas, &rows, body, true);
        let below = Rect { y0: body.y0 + above, ..body };
        for (index, (name, series)) in self.panels.iter().enumerate() {
            let plot = grid.plot(index, below);
            let x = self.x.over((plot.x0, plot.x1), false);
            let y = self.y.over((plot.y1, plot.y0), true);
            x.draw_below(&mut canvas, plot);
            y.draw_left(&mut canvas, plot);
            for (look, one) in series {
                curve(&mut canvas, one, *look, (&x, &y), self.key.len() > 1);
            }
            let bold = Type::new(12.0, canvas.palette.ink).bold();
            canvas.text((plot.x0, plot.y0 - 15.0), &elide(name, 12.0, true, plot.width() / SLACK), bold);
        }
        canvas
    }
}
