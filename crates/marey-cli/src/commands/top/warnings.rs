//! What somebody who watches should know.

use marey::live::{Look, Reading};
use marey_report::{Loss, escape};

/// A sampler that has not read for this long is worth a word.
const SILENT_NS: u64 = 10_000_000_000;

/// One line each, escaped.
pub(super) fn of(look: &Look) -> Vec<String> {
    let losses = Loss::all(&look.losses, &look.status).into_iter();
    let lost = losses.map(|loss| format!("{} {}", loss.count, loss.meaning));
    let late = look
        .series
        .iter()
        .filter_map(|reading| sampler(look, reading));
    lost.chain(late).collect()
}

/// What a sampler's own series say; `None` for those of other things, and when all is well.
fn sampler(look: &Look, reading: &Reading) -> Option<String> {
    let name = escape::cut(&reading.info.subject, 40);
    match reading.info.name.as_str() {
        "sampler.missed" if reading.value > 0.0 => {
            let word = if reading.value > 1.0 {
                "readings"
            } else {
                "reading"
            };
            Some(format!(
                "sampler {name} was late and left out {:.0} {word}",
                reading.value
            ))
        }
        "sampler.late" if look.is_running() && reading.age_ns > SILENT_NS => {
            let seconds = std::time::Duration::from_nanos(reading.age_ns).as_secs_f64();
            Some(format!(
                "sampler {name} has read nothing for {seconds:.0} s"
            ))
        }
        _ => None,
    }
}
