//! Kernels under the roofs: markers, one name per kernel, numbers where there are too many to name.

use super::roofs::Scene;
use super::{PointKind, Roofline, RooflinePoint};
use crate::chart::canvas::{Canvas, Mark, Stroke, Type};
use crate::chart::font::elide;
use crate::chart::geometry::{Point, Rect, Segment, length};
use crate::chart::labels::{self, Surroundings, Wanted};

/// Names in one figure; further kernels are numbered by their row in the data.
pub(super) const NAMED: usize = 25;
/// Numbers in one figure.
const NUMBERED: usize = 75;
/// Points up to which the level of each is named where a kernel has several.
const LEVELS_NAMED: usize = 16;

/// One kernel: the indices of its points, one per level.
struct Kernel {
    points: Vec<usize>,
}

/// Draws markers and labels; labels keep off `lines`.
pub(super) fn draw(chart: &Roofline, scene: &Scene, lines: &[Segment], canvas: &mut Canvas) {
    let palette = canvas.palette;
    let shown: Vec<(usize, &RooflinePoint)> = chart.points.iter().enumerate().filter(|(_, p)| p.drawable()).collect();
    let kernels = kernels(&shown);
    let at = |index: usize| {
        let p = &chart.points[index];
        scene.at(p.intensity, p.flops_per_second)
    };
    let mut around = Surroundings {
        plot: scene.plot,
        markers: shown.iter().map(|(i, _)| Rect::around(at(*i), 15.0, 15.0)).collect(),
        texts: canvas.texts.iter().flat_map(|t| t.boxes.iter().copied()).collect(),
        lines: lines.to_vec(),
    };
    for kernel in kernels.iter().filter(|k| k.points.len() > 1) {
        let mut places: Vec<Point> = kernel.points.iter().map(|i| at(*i)).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        canvas.path(&places, Stroke::new(palette.axis, 1));
        around.lines.extend(places.windows(2).map(|p| (p[0], p[1])));
    }

    // A kernel is named at its right-most point, where there is most room.
    let anchors: Vec<usize> = kernels
        .iter()
        .map(|k| k.points.iter().copied().reduce(|a, b| if at(b).0 > at(a).0 { b } else { a }).unwrap_or_default())
        .collect();
    let mut named = by_room(&anchors.iter().map(|i| at(*i)).collect::<Vec<_>>());
    named.truncate(NAMED);
    named.sort_unstable();
    let style = Type::new(12.0, palette.ink).halo();
    let names: Vec<Wanted> = named
        .iter()
        .map(|n| anchors[*n])
        .map(|i| Wanted {
            at: at(i),
            text: elide(&chart.points[i].label, style.size, false, 210.0),
            style,
            rings: labels::ALL_RINGS,
        })
        .filter(|w| !w.text.is_empty())
        .collect();
    let name_places = labels::place(&names, &around);
    around.texts.extend(name_places.iter().flatten().map(|p| p.room));
    around.lines.extend(name_places.iter().flatten().filter_map(|p| p.line()));

    let small = Type::new(10.0, palette.muted).halo();
    let left_out = names.iter().zip(&name_places).filter(|(_, p)| p.is_none()).map(|(w, _)| w.at);
    let unnamed: Vec<usize> = (0..anchors.len())
        .filter(|n| !named.contains(n) || left_out.clone().any(|a| a == at(anchors[*n])))
        .map(|n| anchors[n])
        .take(NUMBERED)
        .collect();
    let mut notes: Vec<Wanted> =
        unnamed.iter().map(|&i| Wanted { at: at(i), text: (i + 1).to_string(), style: small, rings: 1 }).collect();
    if shown.len() <= LEVELS_NAMED {
        let levels = kernels.iter().filter(|k| k.points.len() > 1).flat_map(|k| k.points.iter().copied());
        notes.extend(levels.map(|i| Wanted {
            at: at(i),
            text: elide(&chart.points[i].level, 10.0, false, 80.0),
            style: small,
            rings: 3,
        }));
    }
    let note_places = labels::place(&notes, &around);

    // Lines first, then markers, then text: a leader line never crosses out a marker.
    labels::draw(canvas, &names, &name_places);
    labels::draw(canvas, &notes, &note_places);
    for (index, point) in shown {
        match point.kind {
            PointKind::Pinned => canvas.mark(at(index), Mark::Diamond, palette.axis, true),
            kind => canvas.mark(at(index), point.bound.mark(), point.bound.ink(&palette), kind == PointKind::Measured),
        }
    }
}

/// Points with one name and kind and different levels are one kernel.
fn kernels(shown: &[(usize, &RooflinePoint)]) -> Vec<Kernel> {
    let mut kernels: Vec<(&RooflinePoint, Vec<&str>, Kernel)> = Vec::new();
    for (index, point) in shown {
        let level = point.level.as_str();
        let same = kernels.iter_mut().find(|(first, levels, _)| {
            first.label == point.label && first.kind == point.kind && !levels.contains(&level)
        });
        match same {
            Some((_, levels, kernel)) => {
                levels.push(level);
                kernel.points.push(*index);
            }
            None => kernels.push((point, vec![level], Kernel { points: vec![*index] })),
        }
    }
    kernels.into_iter().map(|(_, _, kernel)| kernel).collect()
}

/// Indices of `places`, those farthest from their nearest neighbour first.
fn by_room(places: &[Point]) -> Vec<usize> {
    let room = |i: usize| {
        let others = places.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, p)| length((p.0 - places[i].0, p.1 - places[i].1))).fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<(f64, usize)> = (0..places.len()).map(|i| (room(i), i)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, i)| i).collect()
}
