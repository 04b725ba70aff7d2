//! The page of the occupancy calculator.

use maud::{Markup, html};

use super::{
    controls::{Controls, Slider},
    downloads, figure, foot, header, into, list, said, shell, table,
};
use crate::{
    chart::Theme,
    gpu::Catalog,
    page::{
        calculator::{Calculator, Device, Residence},
        site::Site,
    },
};

/// The page of a question and its answer.
pub fn calculator(site: &Site, asked: &Calculator, found: &Residence, notices: &[String]) -> Markup {
    let body = html! {
        (header("occupancy", None))
        div.columns {
            form #controls method="get" action="/occupancy" data-part="/occupancy/part" aria-label="Controls" {
                fieldset {
                    legend { "Device" }
                    div.control {
                        label for="on" { "Compute capability or gfx target" }
                        (targets(&site.catalog, asked))
                    }
                }
                (resources(asked))
                button.noscript type="submit" { "Show" }
            }
            main {
                (into("middle", &middle(asked, found)))
                (into("below", &below(asked, found)))
            }
            aside aria-label="Answer" {
                div #verdict data-into="verdict" role="status" aria-live="polite" { (said(&found.view, notices)) }
                (into("numbers", &table(&found.view, None)))
            }
        }
        (into("foot", &foot(&found.view.assumptions, &asked.command())))
    };
    shell("Occupancy calculator", &body)
}

/// What a change replaces.
pub fn part(asked: &Calculator, found: &Residence, notices: &[String]) -> Markup {
    html! {
        div data-query=(asked.query()) data-title="Occupancy calculator" {
            div data-into="verdict" { (said(&found.view, notices)) }
            (into("middle", &middle(asked, found)))
            (into("below", &below(asked, found)))
            (into("numbers", &table(&found.view, None)))
            (into("foot", &foot(&found.view.assumptions, &asked.command())))
        }
    }
}

/// All devices of the tables; who chooses one of the other vendor gets its controls, which needs the page anew.
fn targets(catalog: &Catalog, asked: &Calculator) -> Markup {
    let capabilities: Vec<String> =
        catalog.all_limits().unwrap_or_default().iter().map(|l| l.compute_capability.to_string()).collect();
    let chosen = match &asked.device {
        Device::Capability(capability) => capability.to_string(),
        Device::Gfx(gfx) => gfx.clone(),
    };
    html! {
        select #on name="on" data-reload="" {
            optgroup label="NVIDIA" {
                @for capability in &capabilities {
                    option value=(capability) selected[*capability == chosen] { "compute capability " (capability) }
                }
            }
            optgroup label="AMD" {
                @for unit in catalog.all_compute_units() {
                    option value=(unit.gfx) selected[unit.gfx == chosen] { (unit.gfx) ", " (unit.architecture) }
                }
            }
        }
    }
}

fn resources(asked: &Calculator) -> Markup {
    let r = &asked.resources;
    let amd = matches!(asked.device, Device::Gfx(_));
    let (block, registers, shared) =
        if amd { ("workgroup", "VGPRs", "LDS") } else { ("block", "Registers", "shared memory") };
    let choice = |items: &[(&str, &str)]| -> Vec<(String, String)> {
        items.iter().map(|(value, text)| ((*value).to_owned(), (*text).to_owned())).collect()
    };
    let controls = Controls::ALL;
    let wave = asked.wave.map_or_else(String::new, |wave| wave.to_string());
    html! {
        fieldset {
            legend { "A " (block) }
            (controls.count("threads", &format!("Threads per {block}"), r.threads_per_block.into(), (1.0, 1024.0), 32.0))
            (controls.count("regs", &format!("{registers} per thread"), r.registers_per_thread.into(), (0.0, if amd { 512.0 } else { 255.0 }), 1.0))
            (controls.count("static", &format!("Static {shared}, bytes"), r.static_shared.into(), (0.0, if amd { 65_536.0 } else { 49_152.0 }), 256.0))
            (controls.count("dynamic", &format!("Dynamic {shared}, bytes"), r.dynamic_shared.into(), (0.0, 232_448.0), 1024.0))
        }
        fieldset {
            legend { "Further" }
            @if amd {
                (controls.count("agprs", "AGPRs per thread", r.accumulation_registers.into(), (0.0, 256.0), 1.0))
                (controls.count("sgprs", "SGPRs per wavefront", r.scalar_registers.into(), (0.0, 128.0), 1.0))
                (controls.select("wave", "Wavefront", &wave, &choice(&[("", "of the target"), ("32", "32 threads"), ("64", "64 threads")])))
                (controls.select("mode", "Fits in", asked.mode().unwrap_or(""), &choice(&[("", "usual of the target"), ("cu", "a compute unit"), ("wgp", "a pair (WGP)")])))
                (controls.select("trap", "Trap handler", if asked.trap { "" } else { "0" }, &choice(&[("", "takes SGPRs"), ("0", "none")])))
            } @else {
                (controls.slider(&Slider {
                    key: "carveout", label: "Carve-out, % (empty: largest)", value: asked.carveout().map(|p| p.to_string()),
                    least: 0.0, most: 100.0, step: 1.0, log: false,
                }))
                (controls.select("optin", "Over 48 KiB", if r.opt_in { "" } else { "0" }, &choice(&[("", "opted in"), ("0", "not opted in")])))
                (controls.count("barriers", "Barriers per block", r.barriers.into(), (0.0, 16.0), 1.0))
            }
        }
    }
}

fn middle(asked: &Calculator, found: &Residence) -> Markup {
    html! {
        @if let Some(panels) = asked.figure(found) {
            (figure("Occupancy staircases", &panels.draw(Theme::Light), &panels.draw(Theme::Dark)))
        }
    }
}

fn below(asked: &Calculator, found: &Residence) -> Markup {
    html! {
        p.tools { (downloads("calculator", &asked.query())) }
        (list("Next step", &found.view.helps))
        (list("Other counts", &found.view.findings))
    }
}
