//! Results are written whole, and only files are ever replaced.

use std::{fs, os::unix::fs::FileTypeExt};

use assert_cmd::Command;

fn list_into(path: &std::path::Path) {
    Command::cargo_bin("wavecast").unwrap().args(["gpus", "list", "--output"]).arg(path).assert().success();
}

#[test]
fn devices_are_written_to_not_replaced() {
    let null = std::path::Path::new("/dev/null");
    list_into(null);
    assert!(fs::metadata(null).unwrap().file_type().is_char_device());
}

#[test]
fn the_file_behind_a_link_is_replaced_not_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file.txt"), folder.path().join("link.txt"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    list_into(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("h100-sxm5-80gb"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
}
