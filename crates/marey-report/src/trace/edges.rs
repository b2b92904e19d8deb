//! The ends of a lane's slices, in the order in which traces have them.

use super::slice::Slice;

/// One end of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge<'a, 'b> {
    Begin(&'b Slice<'a>),
    /// With the slice that ends.
    End(&'b Slice<'a>),
}

/// The ends of a lane's slices, by time: at the same time what ends comes before what begins, and inner slices end before
/// outer ones and begin after them.
///
/// # Errors
/// Those of `each`.
pub(super) fn edges<'a, 'b, E>(
    lane: &'b [Slice<'a>],
    mut each: impl FnMut(Edge<'a, 'b>) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<&Slice<'a>> = Vec::new();
    for slice in lane {
        while let Some(ended) = open.pop_if(|open| open.end_ns <= slice.start_ns) {
            each(Edge::End(ended))?;
        }
        each(Edge::Begin(slice))?;
        open.push(slice);
    }
    open.into_iter().rev().try_for_each(|ended| each(Edge::End(ended)))
}

#[cfg(test)]
mod tests {
    use super::super::slice::{Args, Category, What};
    use super::*;
    use crate::lanes::lanes;

    fn slice(name: u32, start_ns: u64, end_ns: u64) -> Slice<'static> {
        let what = What::new(Category::Section, name, Args::None);
        Slice::new(what, start_ns, end_ns)
    }

    #[test]
    fn a_slice_without_length_ends_where_it_begins() {
        // |--1--|
        //     2 |--3--|       2 begins and ends at 8
        let lane = [slice(1, 0, 8), slice(3, 8, 12), slice(2, 8, 8)];
        let lane = lanes(lane.to_vec()).remove(0);
        let mut found = Vec::new();
        edges::<()>(&lane, |edge| {
            found.push(match edge {
                Edge::Begin(slice) => ('b', slice.what.name, slice.start_ns),
                Edge::End(slice) => ('e', slice.what.name, slice.end_ns),
            });
            Ok(())
        })
        .unwrap();
        assert_eq!(
            found,
            [('b', 1, 0), ('e', 1, 8), ('b', 3, 8), ('b', 2, 8), ('e', 2, 8), ('e', 3, 12)]
        );
    }
}
