//! The state after opening again is the state before, whatever was asked.

use proptest::prelude::*;

use super::*;

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        2 => (0..4).prop_map(Command::Initialize),
        8 => (0..4, 0..40_i64).prop_map(|(n, offset)| Command::Write(n, offset)),
        2 => (0..4, 0..3).prop_map(|(n, epoch)| Command::Read(n, epoch)),
        1 => (0..4).prop_map(Command::Delete),
        1 => Just(Command::ColdSnapshots),
        1 => Just(Command::Prune),
        1 => Just(Command::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn state_survives_reopening(
        commands in prop::collection::vec(command(), 1..60),
        partitions in 1..4_u32,
        reopen_every in 1..20_usize,
    ) {
        let disk = SimDisk::default();
        let config = StoreConfig { partitions: Some(partitions), segment_bytes: 1024, ..config() };
        let mut store = open(&disk, &config).unwrap();
        for (i, command) in commands.iter().enumerate() {
            // Refusals are answers too: fenced, uninitialised.
            match command.run(&store, i64::try_from(i).unwrap() * TICK) {
                Ok(()) | Err(StoreError::Refused(_)) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
            if i % reopen_every == 0 {
                let states = store.states().unwrap();
                drop(store);
                store = open(&disk, &config).unwrap();
                prop_assert_eq!(&store.states().unwrap(), &states);
                prop_assert_eq!(&store.recovery().torn, &vec![]);
            }
        }
        let states = store.states().unwrap();
        drop(store);
        let folded = crate::read::tests::fold_on(&disk, Path::new(ROOT));
        prop_assert!(folded.findings.is_empty());
        let read: States = folded.states.into_iter().map(|f| (f.key, f.state)).collect();
        prop_assert_eq!(read, states, "a reader sees what the writer has");
    }
}
