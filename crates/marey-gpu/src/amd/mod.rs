//! AMD GPUs, through the files of the kernel's driver.

mod card;
mod reader;

use crate::GpuOptions;
use crate::choice::{self, Choosable, Chosen};
use crate::device::Found;
use card::Card;
use reader::AmdReader;

/// The AMD GPUs that the options choose. Without any it says nothing: few machines have some, and a reason would be one too many.
///
/// Files are read apart, here and in each reading: the calling thread is in the program's table of descriptors, for the sake of NVIDIA's library.
pub(crate) fn find(options: &GpuOptions) -> Found {
    marey::apart(|| find_apart(options)).unwrap_or_default()
}

fn find_apart(options: &GpuOptions) -> Found {
    let mut found = Found::default();
    let cards = card::list(&options.sys_root);
    if cards.is_empty() {
        return found;
    }
    let version = options.sys_root.join("sys/module/amdgpu/version");
    if let Some(version) = card::line(&version) {
        found.fact("amd.driver", version);
    }
    let own = own(options, &cards);
    if own.is_empty() && !options.all_devices {
        let why = format!(
            "ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave this process none of the {} GPUs",
            cards.len()
        );
        found.is_without("amdgpu", why);
    }
    for (place, card) in cards.into_iter().enumerate() {
        let is_own = own.contains(&place);
        if is_own || options.all_devices {
            found.devices.push(Box::new(AmdReader::open(&card, place, is_own, options)));
        }
    }
    found
}

/// Places of the process's own cards. One variable chooses of all cards, the other one of those.
fn own(options: &GpuOptions, cards: &[Card]) -> Vec<usize> {
    let choosable = |card: &Card| Choosable { uuid: card.subject(), instances: Vec::new() };
    let all: Vec<Choosable> = cards.iter().map(choosable).collect();
    let of_runtime = choice::visible(options.rocr_visible_devices.as_deref(), &all);
    let left: Vec<Choosable> = of_runtime.iter().map(|one| all[one.gpu].clone()).collect();
    let visible = choice::visible(options.hip_visible_devices.as_deref(), &left);
    let own = choice::own(visible, options.local_rank, options.local_world_size);
    own.iter().map(|Chosen { gpu, .. }| of_runtime[*gpu].gpu).collect()
}
