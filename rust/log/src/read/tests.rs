//! placeholder
use super::*;
pub(crate) fn fold_on(disk: &crate::disk::sim::SimDisk, path: &Path) -> Folded {
    let scan = Scan::on(Arc::new(disk.clone()), path).unwrap();
    fold::fold_scan(scan, &mut |_| std::ops::ControlFlow::Continue(())).unwrap()
}
