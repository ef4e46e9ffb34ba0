//! Paths that can be read.

use super::*;

#[test]
fn a_path_may_be_a_directory_a_folder_or_a_segment() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let of = |path: &Path| {
        let mut scan = scan(path).unwrap();
        let records: Vec<_> = scan
            .by_ref()
            .map(|r| r.unwrap())
            .map(|r| (r.partition, r.offset))
            .collect();
        assert_eq!(scan.findings(), [], "{}", path.display());
        records
    };
    write(
        "__share_group_state-10/00000000000000000000.log",
        &batch(0, 1),
    );
    write(
        "__share_group_state-2/00000000000000000004.log",
        &batch(4, 1),
    );
    write(
        "__share_group_state-2/00000000000000000000.log",
        &batch(0, 4),
    );
    // What else a broker has there.
    for name in [
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000000.log.deleted",
        "00000000000000000004.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ] {
        write(&format!("__share_group_state-2/{name}"), b"\x01junk");
    }
    write(
        "__share_group_state-3.1f0c-delete/00000000000000000000.log",
        b"junk",
    );
    write("orders-0/00000000000000000000.log", b"junk");
    write("log-start-offset-checkpoint", b"junk");
    write("loose.log", &batch(9, 1));
    let two: Vec<_> = (0..5).map(|offset| (2, offset)).collect();
    assert_eq!(
        of(dir.path()),
        [two.clone(), vec![(10, 0)]].concat(),
        "partitions in the order of numbers"
    );
    assert_eq!(of(&dir.path().join("__share_group_state-2")), two);
    assert_eq!(
        of(&dir
            .path()
            .join("__share_group_state-2/../__share_group_state-2/.")),
        two
    );
    assert_eq!(
        of(&dir
            .path()
            .join("__share_group_state-2/00000000000000000004.log")),
        [(2, 4)]
    );
    assert_eq!(of(&dir.path().join("loose.log")), [(0, 9)]);

    for none in [
        "orders-0",
        "log-start-offset-checkpoint",
        "__share_group_state-2/leader-epoch-checkpoint",
    ] {
        let path = dir.path().join(none);
        assert_eq!(scan(&path).unwrap_err(), ScanError::NoStateLog { path });
    }
    let missing = scan(dir.path().join("nowhere")).unwrap_err();
    assert!(
        matches!(&missing, ScanError::Io(failure) if failure.kind == std::io::ErrorKind::NotFound),
        "{missing}"
    );
}
