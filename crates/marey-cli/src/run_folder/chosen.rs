//! Which documents are written.

use marey::Run;

/// Which documents are written. The summary and the memory log always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// `report.html`.
    pub html: bool,
    /// `profiling_report.json`.
    pub json: bool,
    /// `report.md`.
    pub markdown: bool,
}

impl Chosen {
    /// Every document.
    pub const ALL: Self = Self { html: true, json: true, markdown: true };

    /// What is read by programs, and the texts; without a page.
    pub const JSON: Self = Self { html: false, json: true, markdown: false };

    /// What the `report_format` of the recording's configuration says, or that of the last profiler in it. Both without a word.
    pub fn of(run: &Run) -> Self {
        let mut said = run.info.facts.iter().rev();
        let format = said.find(|(key, _)| key == "profiling.report_format");
        let format = format.map_or("both", |(_, value)| value.as_str());
        Self { html: format != "json", json: format != "html", markdown: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn chosen(formats: &[&str]) -> (bool, bool) {
        let fact = |format: &&str| ("profiling.report_format".to_owned(), (*format).to_owned());
        let run = RunBuilder::new()
            .with(|run| run.info.facts = formats.iter().map(fact).collect())
            .finish(1);
        let chosen = Chosen::of(&run);
        (chosen.html, chosen.json)
    }

    #[test]
    fn the_last_word_of_the_configuration_counts() {
        assert_eq!(chosen(&[]), (true, true));
        assert_eq!(chosen(&["html"]), (true, false));
        assert_eq!(chosen(&["html", "json"]), (false, true));
        assert_eq!(chosen(&["json", "both"]), (true, true));
    }
}
