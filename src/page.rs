//! The local page: what its address holds, what that means, and the page itself as text. Nothing here knows a socket.
//!
//! [`State`] is everything that an address holds; [`State::answer`] runs the model on it, [`View`] says what was found, [`chart`]
//! draws it. [`Site`] answers a path and a query as a server would.

mod answer;
mod blocks;
mod calculator;
mod charts;
mod command;
mod course;
mod html;
mod query;
mod race;
mod run;
mod site;
mod state;
mod view;

pub use answer::{Answer, Outcome, Residents};
pub use blocks::Blocks;
pub use calculator::{Calculator, Device, Residence};
pub use charts::{NoChart, Scene, chart};
pub use query::{Refusal, Refusals, decoded, encoded};
pub use race::{Compared, Race};
pub use run::{Held, Launch, Network, Phase, Product, Run};
pub use site::{Reply, Site};
pub use state::{State, Tab};
pub use view::{Number, View};
