//! What is the matter with the job.

use marey_analysis::findings::{
    Category, Confidence, Evidence, Figure, FigureUnit, Finding, Severity,
};

use crate::video::Naming;

pub(super) fn finding(naming: Naming, rank: u32) -> Finding {
    let figure = |value, unit| Figure { value, unit };
    Finding {
        rule: "slow-rank",
        category: Category::Scaling,
        severity: Severity::High,
        issue: naming(&format!("rank {rank} is 25.6 % slower than the others, which wait for it")),
        remedy: naming(
            "Look at what its GPU does meanwhile: heat, another process, a slower model of GPU.",
        ),
        evidence: vec![Evidence {
            what: naming("its own time above the median"),
            figure: figure(0.256, FigureUnit::Ratio),
            limit: Some(0.05),
        }],
        intervals: Vec::new(),
        node: None,
        saving: None,
        confidence: Confidence::High,
    }
}
