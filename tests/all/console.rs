//! The console blocks of README and docs are commands with their exact output; `...` stands for lines left out.

#[test]
fn console_blocks() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/*.md")
        .case("docs/labs/*.md")
        .case("scenarios/README.md")
        .case("gpus/README.md");
}
