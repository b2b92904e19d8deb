//! Numbers of processes and threads that no two of a trace share, because viewers tell them apart by nothing else.

use std::collections::BTreeSet;

use marey::Run;

/// What Linux never gives to a process or a thread; numbers that are made up begin after it.
const MOST_OF_LINUX: u32 = 1 << 22;

/// Numbers that are taken.
#[derive(Debug, Default)]
pub(super) struct Ids {
    taken: BTreeSet<u32>,
    last_made_up: u32,
}

impl Ids {
    /// The number itself where it is free, otherwise one that no process has. 0 is the idle task of a kernel, and what does
    /// not fit into 31 bits is negative to some viewers.
    pub(super) fn take(&mut self, number: u32) -> u32 {
        if is_usable(number) && self.taken.insert(number) {
            return number;
        }
        self.make_up()
    }

    /// A number that no process or thread has.
    pub(super) fn make_up(&mut self) -> u32 {
        loop {
            self.last_made_up = self.last_made_up.max(MOST_OF_LINUX).saturating_add(1);
            if self.taken.insert(self.last_made_up) || self.last_made_up == u32::MAX {
                return self.last_made_up;
            }
        }
    }
}

fn is_usable(number: u32) -> bool {
    number != 0 && i32::try_from(number).is_ok()
}

/// Numbers of the threads of a run: the system's, or others where two threads had the same. The main thread has that of the
/// process, by which viewers know it.
#[derive(Debug)]
pub(super) struct ThreadIds {
    threads: Vec<u32>,
    ids: Ids,
    /// Index of the main thread; `None` when it recorded nothing.
    pub(super) main: Option<usize>,
}

impl ThreadIds {
    /// Of a run whose process has the number `pid` in the trace.
    pub(super) fn new(run: &Run, pid: u32) -> Self {
        let mut ids = Ids::default();
        ids.take(pid);
        let main = run.threads.iter().position(|thread| thread.os_id == run.info.pid);
        // Real numbers first, so that no made-up one takes a later thread's.
        let mut threads = vec![None; run.threads.len()];
        for (index, thread) in run.threads.iter().enumerate() {
            if Some(index) == main {
                threads[index] = Some(pid);
            } else if is_usable(thread.os_id) && ids.taken.insert(thread.os_id) {
                threads[index] = Some(thread.os_id);
            }
        }
        let threads = threads.into_iter().map(|id| id.unwrap_or_else(|| ids.make_up())).collect();
        Self { threads, ids, main }
    }

    /// The number of a thread; one that is made up for a thread that the run does not have.
    pub(super) fn of_thread(&mut self, thread: u32) -> u32 {
        match self.threads.get(thread as usize) {
            Some(id) => *id,
            None => self.make_up(),
        }
    }

    /// A number for a track that is no thread.
    pub(super) fn make_up(&mut self) -> u32 {
        self.ids.make_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::Thread;
    use marey_testing::RunBuilder;

    #[test]
    fn processes_of_two_containers_may_have_the_same_number() {
        let mut ids = Ids::default();
        assert_eq!([ids.take(7), ids.take(7), ids.take(0)], [7, 4_194_305, 4_194_306]);
        assert_eq!([ids.take(4_194_305), ids.take(u32::MAX)], [4_194_307, 4_194_308]);
    }

    #[test]
    fn a_thread_whose_number_was_given_again_gets_another_one() {
        let thread = |os_id| Thread { os_id, name: String::new() };
        let run = RunBuilder::new()
            .with(|run| {
                run.info.pid = 5;
                run.threads = [8, 5, 8, 0, 9].map(thread).into();
            })
            .finish(1);
        let mut ids = ThreadIds::new(&run, 77);
        let of: Vec<u32> = (0..6).map(|thread| ids.of_thread(thread)).collect();
        assert_eq!(of, [8, 77, 4_194_305, 4_194_306, 9, 4_194_307]);
        assert_eq!(ids.main, Some(1));
    }
}
