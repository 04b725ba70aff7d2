//! A list of matrix products: a CSV with the columns m, n, k and, if wanted, batch, dtype and name.

use anyhow::{Context, Result, bail};

use crate::{gpu::DataType, op::gemm::Shape};

/// A product of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Line of the file.
    pub line: u64,
    /// Its name, or its shape.
    pub name: String,
    /// The shape.
    pub shape: Shape,
    /// Type of A and B.
    pub input: DataType,
}

/// Where the columns are.
struct Columns {
    size: [usize; 3],
    batch: Option<usize>,
    input: Option<usize>,
    name: Option<usize>,
}

/// Whether the first line names the columns of such a list.
pub fn detect(bytes: &[u8]) -> bool {
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    std::str::from_utf8(first).is_ok_and(|line| columns(line.trim_start_matches('\u{feff}').split(',')).is_some())
}

fn columns<'a>(header: impl Iterator<Item = &'a str>) -> Option<Columns> {
    let names: Vec<String> = header.map(|c| c.trim().trim_matches('"').to_ascii_lowercase()).collect();
    let of = |name: &str| names.iter().position(|n| n == name);
    let size = [of("m")?, of("n")?, of("k")?];
    Some(Columns { size, batch: of("batch"), input: of("dtype"), name: of("name") })
}

/// The products; the type is bf16 where no column gives it.
///
/// # Errors
/// No product, or a line that describes none: the line and the column are named.
pub fn read(bytes: &[u8]) -> Result<Vec<Row>> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let columns = columns(reader.headers()?.iter()).context("the columns m, n and k are missing")?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let given = |column: Option<usize>| column.map(cell).filter(|c| !c.is_empty());
        let count = |name: &str, text: &str| {
            let wrong = || format!("line {line}: {name} `{text}` is no whole number such as 4096");
            text.parse::<u64>().with_context(wrong)
        };
        let [m, n, k] = columns.size;
        let batch = given(columns.batch).map_or(Ok(1), |text| count("batch", text))?;
        let (m, n, k) = (count("m", cell(m))?, count("n", cell(n))?, count("k", cell(k))?);
        let shape = Shape::new(batch, m, n, k).with_context(|| format!("line {line}"))?;
        let input: DataType = match given(columns.input) {
            None => DataType::Bf16,
            Some(text) => text.parse().with_context(|| format!("line {line}: dtype `{text}`"))?,
        };
        let plain = || if batch == 1 { format!("{m}x{n}x{k}") } else { format!("{batch} of {m}x{n}x{k}") };
        rows.push(Row { line, name: given(columns.name).map_or_else(plain, str::to_owned), shape, input });
    }
    if rows.is_empty() {
        bail!("the list holds no product below its header");
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_any_order_and_blanks() {
        let text = "\u{feff}name, K ,m,N,batch,dtype\nqkv,4096,1,12288,,\n,64,128,128,32,FP16\n\"a, b\",8,8,8,1,int8\n";
        assert!(detect(text.as_bytes()));
        let rows = read(text.as_bytes()).unwrap();
        let short: Vec<_> = rows.iter().map(|r| (r.line, r.name.as_str(), r.shape.k, r.input)).collect();
        let expected = [
            (2, "qkv", 4096, DataType::Bf16),
            (3, "32 of 128x128x64", 64, DataType::Fp16),
            (4, "a, b", 8, DataType::Int8),
        ];
        assert_eq!(short, expected);
        assert_eq!((rows[0].shape.batch, rows[1].shape.batch), (1, 32));
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |text: &str| format!("{:#}", read(text.as_bytes()).unwrap_err());
        assert!(error("m,n,k\n1,2\n").contains("line: 2"), "{}", error("m,n,k\n1,2\n"));
        assert!(error("m,n,k\n1,2,3\n1,x,3\n").starts_with("line 3: n `x` is no whole number"));
        assert!(error("m,n,k\n1,2,0\n").contains("line 2: k = 0"));
        assert!(error("m,n,k,dtype\n1,2,3,half\n").contains("line 2: dtype `half`"));
        assert!(error("m,n,k\n").contains("no product"));
        assert!(!detect(b"m,n\n1,2\n") && !detect(b"") && !detect(b"[[kernel]]\n"));
    }
}
