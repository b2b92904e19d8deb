//! What names mean, each looked at once, when it is first asked for.

use super::category::Class;
use super::names::Names;
use super::trace::Trace;

/// What names mean, whatever has them.
#[derive(Debug)]
pub struct Meanings<'a, T> {
    names: &'a Names,
    known: Vec<Option<T>>,
}

impl<'a, T: Copy> Meanings<'a, T> {
    /// Of these names.
    pub fn new(names: &'a Names) -> Self {
        Self { names, known: vec![None; names.len()] }
    }

    /// What `look` finds in a name; `None` when there is no such name.
    #[inline]
    pub fn of(&mut self, name: u32, look: impl FnOnce(&'a str) -> T) -> Option<T> {
        let known = self.known.get_mut(name as usize)?;
        Some(*known.get_or_insert_with(|| look(self.names.get(name))))
    }
}

/// What rows of the host mean, by their class and name.
pub(crate) struct HostMeanings<'a, T> {
    trace: &'a Trace,
    /// By name, for each class of the host.
    known: Vec<[Option<T>; 4]>,
}

impl<'a, T: Copy> HostMeanings<'a, T> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        Self { trace, known: vec![[None; 4]; trace.names.len()] }
    }

    /// The class of a row, and what `look` finds; `None` for rows of devices.
    pub(crate) fn of(
        &mut self,
        row: u32,
        look: impl FnOnce(Class, &'a str) -> T,
    ) -> Option<(Class, T)> {
        let class = self.trace.class_of(row);
        let place = match class {
            Class::Annotation => 0,
            Class::Operator => 1,
            Class::PythonFunction => 2,
            Class::Call => 3,
            _ => return None,
        };
        let name = self.trace.rows.name_of(row)?;
        let known = &mut self.known.get_mut(name as usize)?[place];
        Some((class, *known.get_or_insert_with(|| look(class, self.trace.names.get(name)))))
    }
}
