//! `#[marey::profile_function]`.

use std::io;
use std::sync::Arc;
use std::task::{Context, Waker};

use marey::{Config, profile_function};

/// Its name and what it returns stay as they are; names of the macro hide none of the function's.
#[profile_function]
fn borrows<'a>(section: &'a mut Vec<u32>, result: u32) -> &'a [u32] {
    section.push(result);
    section
}

#[profile_function("vae_decode")]
fn decodes(result: &str) -> Result<u32, std::num::ParseIntError> {
    let section: u32 = result.parse()?;
    Ok(section)
}

/// The compiler has nothing to say against it.
#[deny(warnings)]
#[rustfmt::skip]
#[profile_function]
fn in_a_line(steps: u32) -> u32 { steps }

#[profile_function]
async fn awaits(steps: Arc<u32>) -> u32 {
    *steps
}

#[profile_function]
async fn fails<T: Send>(_: T) -> io::Result<()> {
    Err(io::ErrorKind::NotFound)?;
    Ok(())
}

struct Pipeline {
    n_calls: u32,
}

impl Pipeline {
    #[profile_function]
    fn denoise(&mut self) {
        self.n_calls += 1;
        if self.n_calls > 1 {
            return;
        }
        self.denoise();
    }
}

fn finish<T>(future: impl Future<Output = T>) -> T {
    let poll = std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop()));
    match poll {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("nothing here waits"),
    }
}

#[test]
fn calls_of_functions_are_sections_that_know_of_errors() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { output_dir: Some(folder.path().into()), ..Config::default() };
    let recording = marey::start(config).unwrap();
    assert_eq!(borrows(&mut vec![1], 2), [1, 2]);
    assert_eq!(decodes("3"), Ok(3));
    decodes("three").unwrap_err();
    assert_eq!(in_a_line(4), 4);
    assert_eq!(finish(awaits(Arc::new(4))), 4);
    assert_eq!(finish(fails("x")).unwrap_err().kind(), io::ErrorKind::NotFound);
    Pipeline { n_calls: 0 }.denoise();
    let run = marey::load(&recording.finish().unwrap()).unwrap();
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for section in &run.sections {
        calls.push((&run.nodes[section.node as usize].name, section.is_failed));
    }
    calls.sort_unstable();
    assert_eq!(
        calls,
        [
            ("awaits", false),
            ("borrows", false),
            ("denoise", false),
            ("denoise", false),
            ("fails", true),
            ("in_a_line", false),
            ("vae_decode", false),
            ("vae_decode", true)
        ]
    );
}
