//! Rows of other operations than matrix products: from their cells to the operation's model, and its answer.

use super::{
    answer::Answer,
    attention::{self, AttentionError},
    conv::{self, ConvError},
    gemm::Reuse,
    moe::{self, Loads, MoeError},
    predict::PredictError,
    row::Call,
    rowwise::{self, Caller, ModelError},
    table::{RowError, Timing},
};
use crate::gpu::{DataKind, DataType, Gpu, Protocol};

/// An attention call whose model differs by these.
type AttentionKey = (DataType, Option<attention::Library>, bool);

/// The models of operations on one GPU, made when first asked for.
#[derive(Default)]
pub(super) struct Calls {
    attention: Vec<(AttentionKey, Result<attention::Model, AttentionError>)>,
    conv: Vec<((DataType, DataKind), Result<conv::Model, ConvError>)>,
    moe: Vec<(DataType, Result<moe::Model, MoeError>)>,
    rowwise: Option<Result<rowwise::Model, ModelError>>,
}

impl Calls {
    /// The answer to a call on the GPU.
    pub fn answer<'a>(
        &'a mut self,
        gpu: &'a Gpu,
        protocol: Option<&Protocol>,
        call: &Call,
    ) -> Result<Answer<'a>, PredictError> {
        let launch = (call.head.timing == Timing::Launch).then(|| {
            let of_source = protocol.and_then(|p| p.launch_overhead);
            of_source.unwrap_or(gpu.calibration.constants.launch_overhead).get()
        });
        match call.head.op {
            "attention" => self.attention(gpu, call, launch),
            "conv" => self.conv(gpu, protocol, call, launch),
            "moe" => self.moe(gpu, call, launch),
            _ => self.rowwise(gpu, call),
        }
    }

    fn attention<'a>(&'a mut self, gpu: &'a Gpu, call: &Call, launch: Option<f64>) -> Result<Answer<'a>, PredictError> {
        let flag = |column| match call.text(column)? {
            None => Ok(None),
            Some("0" | "false") => Ok(Some(false)),
            Some("1" | "true") => Ok(Some(true)),
            Some(value) => Err(RowError::Flag { column, value: value.into() }),
        };
        let window = |text: &str| {
            let wrong = || RowError::Count { column: "notes: window", value: text.into() };
            text.parse().map_err(|_| wrong())
        };
        let shape = attention::Row {
            batch: call.count("batch")?,
            heads_q: call.needed("heads_q")?,
            heads_kv: call.count("heads_kv")?,
            seq_q: call.count("seq_q")?,
            seq_kv: call.count("seq_kv")?,
            head_dim: call.needed("head_dim")?,
            causal: flag("causal")?,
            phase: call.text("phase")?,
            window: call.note("window")?.map(window).transpose()?,
        }
        .shape()?;
        let library = call.note("library")?.map(str::parse).transpose()?;
        let bare = call.flagged("bare")?;
        let key = (call.head.data, library, bare);
        let place = self.attention.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let request = attention::Request { input: call.head.data, library, bare };
            self.attention.push((key, attention::Model::new(gpu, &request)));
            self.attention.len() - 1
        });
        let model = self.attention[place].1.as_ref().map_err(Clone::clone)?;
        let found = model.estimate(&shape)?;
        Ok(Answer::operation(gpu, &found, found.time + launch.unwrap_or(0.0), launch))
    }

    fn conv<'a>(
        &'a mut self,
        gpu: &'a Gpu,
        protocol: Option<&Protocol>,
        call: &Call,
        launch: Option<f64>,
    ) -> Result<Answer<'a>, PredictError> {
        let text = call.text("conv_params")?.ok_or_else(|| call.empty("conv_params"))?;
        let shape = conv::parameters(text, call.text("phase")?.unwrap_or_default())?;
        let reuse = match protocol.map(|p| p.weight_copies) {
            None => Reuse::ColdWeights,
            Some(1) => Reuse::Warm,
            Some(copies) => Reuse::Rotated(copies),
        };
        let key = (call.head.data, protocol.map_or_else(DataKind::default, |p| p.data));
        let place = self.conv.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let mut gpu = gpu.clone();
            gpu.calibration.data = key.1;
            self.conv.push((key, conv::Model::new(&gpu, call.head.data)));
            self.conv.len() - 1
        });
        let model = self.conv[place].1.as_ref().map_err(Clone::clone)?;
        let found = model.estimate(&shape, reuse);
        Ok(Answer::operation(gpu, &found, found.time + launch.unwrap_or(0.0), launch))
    }

    fn moe<'a>(&'a mut self, gpu: &'a Gpu, call: &Call, launch: Option<f64>) -> Result<Answer<'a>, PredictError> {
        let [tokens, inter, hidden] = ["m", "n", "k"].map(|column| call.needed(column));
        let (shape, routing) = moe::row(tokens?, inter?, hidden?, call.text("notes")?.unwrap_or_default())?;
        let loads = Loads::new(&shape, &routing)?;
        let data = call.head.data;
        let place = self.moe.iter().position(|(known, _)| *known == data).unwrap_or_else(|| {
            self.moe.push((data, moe::Model::new(gpu, data)));
            self.moe.len() - 1
        });
        let model = self.moe[place].1.as_ref().map_err(Clone::clone)?;
        let found = model.estimate(&shape, &loads);
        Ok(Answer::operation(gpu, &found, found.time + launch.unwrap_or(0.0), launch))
    }

    fn rowwise<'a>(&'a mut self, gpu: &'a Gpu, call: &Call) -> Result<Answer<'a>, PredictError> {
        let row = rowwise::Row {
            source: call.head.source,
            op: call.head.op,
            rows: call.needed("rows")?,
            cols: call.needed("cols")?,
            data: call.head.data,
            notes: call.text("notes")?.unwrap_or_default(),
        };
        let operation = rowwise::operation(&row)?;
        let model = self.rowwise.get_or_insert_with(|| rowwise::Model::new(gpu)).as_ref().map_err(Clone::clone)?;
        Ok(match call.head.timing {
            Timing::Device => {
                let found = model.estimate(&operation);
                Answer::operation(gpu, &found, found.time, None)
            }
            Timing::Launch => {
                let found = model.call(&operation, &Caller::of_or_stream(call.head.source, gpu));
                Answer::operation(gpu, &found.estimate, found.estimate.time, Some(found.launch))
            }
        })
    }
}
