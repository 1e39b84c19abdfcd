use crate::Db;

#[test]
fn it_knows_who_waits_and_who_has_gone() {
    let db = Db::in_memory();
    let core = db.core();
    let held = core.writer().expect("it is opened for writing");
    std::thread::scope(|scope| {
        assert!(core.try_writer().is_none() && !core.is_waited_for(), "who only looks does not wait");
        let others = [(); 2].map(|()| scope.spawn(|| drop(core.writer().expect("it is opened for writing"))));
        while !core.is_waited_for() {
            std::thread::yield_now();
        }
        drop(held);
        others.into_iter().for_each(|other| other.join().expect("it does not panic"));
    });
    assert!(!core.is_waited_for());
}
