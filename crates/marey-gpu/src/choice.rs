//! Which GPUs are a process's own: the visible ones, as the vendors' runtimes read their variables, and of those the rank's.

/// A GPU that can be chosen, by its UUID.
#[derive(Clone, Debug)]
pub(crate) struct Choosable {
    pub uuid: String,
    /// UUIDs of the instances that it is divided into.
    pub instances: Vec<String>,
}

/// A GPU, or an instance of one, by places in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub gpu: usize,
    pub instance: Option<usize>,
}

/// The GPUs that a variable like `CUDA_VISIBLE_DEVICES` leaves, in its order: numbers, UUIDs (`GPU-…`, `MIG-…`) or beginnings of one.
/// An entry that names none, or one that was named before, ends the list. `None` leaves all.
pub(crate) fn visible(list: Option<&str>, gpus: &[Choosable]) -> Vec<Chosen> {
    let Some(list) = list else {
        return (0..gpus.len()).map(|gpu| whole(gpu, gpus)).collect();
    };
    let mut chosen: Vec<Chosen> = Vec::new();
    for entry in list.split(',') {
        match named(entry.trim(), gpus) {
            Some(one) if !chosen.contains(&one) => chosen.push(one),
            _ => break,
        }
    }
    chosen
}

/// Of the visible GPUs those that a rank works with: one, by its place on the machine. Without a rank, and for a process that is alone on
/// its machine, all.
pub(crate) fn own(
    visible: Vec<Chosen>,
    local_rank: Option<u32>,
    local_world_size: Option<u32>,
) -> Vec<Chosen> {
    let Some(rank) = local_rank.filter(|_| local_world_size != Some(1)) else {
        return visible;
    };
    let place = (rank as usize).checked_rem(visible.len());
    place.map(|place| visible[place]).into_iter().collect()
}

fn named(entry: &str, gpus: &[Choosable]) -> Option<Chosen> {
    if let Ok(number) = entry.parse::<usize>() {
        return (number < gpus.len()).then(|| whole(number, gpus));
    }
    if entry.starts_with("MIG-") {
        let all = gpus.iter().enumerate().flat_map(|(gpu, choosable)| {
            let instances = choosable.instances.iter().enumerate();
            instances.map(move |(instance, uuid)| (Some(instance), gpu, uuid))
        });
        let found = only(all.filter(|(_, _, uuid)| uuid.starts_with(entry)));
        return found.map(|(instance, gpu, _)| Chosen { gpu, instance });
    }
    let is_uuid = entry.strip_prefix("GPU-").is_some_and(|id| !id.is_empty());
    let all = gpus.iter().enumerate();
    let found = only(all.filter(|(_, gpu)| is_uuid && gpu.uuid.starts_with(entry)));
    found.map(|(gpu, _)| whole(gpu, gpus))
}

/// A GPU; of a divided one the first instance, because a process sees no more than that of it.
fn whole(gpu: usize, gpus: &[Choosable]) -> Chosen {
    let instance = (!gpus[gpu].instances.is_empty()).then_some(0);
    Chosen { gpu, instance }
}

/// The item of an iterator that has one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    items.next().map_or(first, |_| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpus(uuids: &[&str]) -> Vec<Choosable> {
        let gpu = |uuid: &&str| Choosable { uuid: (*uuid).to_owned(), instances: Vec::new() };
        uuids.iter().map(gpu).collect()
    }

    fn places(list: Option<&str>) -> Vec<usize> {
        let four = gpus(&["GPU-a1b2", "GPU-a1c3", "GPU-77", "GPU-99"]);
        visible(list, &four).iter().map(|chosen| chosen.gpu).collect()
    }

    #[test]
    fn lists_of_visible_devices_mean_what_they_mean_to_cuda() {
        let cases: [(Option<&str>, &[usize]); 18] = [
            (None, &[0, 1, 2, 3]),
            (Some(""), &[]),
            (Some("-1"), &[]),
            (Some("NoDevFiles"), &[]),
            (Some("0"), &[0]),
            (Some("2,0"), &[2, 0]),
            (Some(" 1 , 3 "), &[1, 3]),
            // What follows an entry that names nothing does not count.
            (Some("1,-1,2"), &[1]),
            (Some("0,4,1"), &[0]),
            (Some("0,,1"), &[0]),
            (Some("0,x,1"), &[0]),
            (Some("3,3,1"), &[3]),
            (Some("GPU-a1b2"), &[0]),
            (Some("GPU-7"), &[2]),
            (Some("GPU-99,GPU-a1c"), &[3, 1]),
            // The beginning of two.
            (Some("GPU-a1"), &[]),
            (Some("GPU-"), &[]),
            (Some("GPU-zz"), &[]),
        ];
        for (list, expected) in cases {
            assert_eq!(places(list), expected, "{list:?}");
        }
    }

    #[test]
    fn instances_are_named_by_their_uuid_and_a_divided_gpu_stands_for_its_first() {
        let mut gpus = gpus(&["GPU-1", "GPU-2"]);
        gpus[1].instances = vec!["MIG-aa".into(), "MIG-ab".into()];
        let chosen = |gpu, instance| Chosen { gpu, instance };
        assert_eq!(visible(Some("MIG-ab"), &gpus), [chosen(1, Some(1))]);
        assert_eq!(visible(Some("MIG-a"), &gpus), []);
        assert_eq!(visible(Some("1"), &gpus), [chosen(1, Some(0))]);
        assert_eq!(visible(Some("GPU-2"), &gpus), [chosen(1, Some(0))]);
        let all = [chosen(0, None), chosen(1, Some(0))];
        assert_eq!(visible(None, &gpus), all);
    }

    #[test]
    fn a_rank_has_the_visible_gpu_of_its_number() {
        let all = visible(None, &gpus(&["GPU-1", "GPU-2", "GPU-3"]));
        let places = |rank, world| -> Vec<usize> {
            let own = own(all.clone(), rank, world);
            own.iter().map(|chosen| chosen.gpu).collect()
        };
        assert_eq!(places(None, None), [0, 1, 2]);
        assert_eq!(places(Some(1), None), [1]);
        assert_eq!(places(Some(2), Some(3)), [2]);
        assert_eq!(places(Some(4), Some(6)), [1]);
        // Alone on its machine, it may use them all.
        assert_eq!(places(Some(0), Some(1)), [0, 1, 2]);
        assert_eq!(own(Vec::new(), Some(1), None), []);
    }

    #[test]
    fn the_only_visible_gpu_is_every_ranks() {
        let one = visible(Some("2"), &gpus(&["GPU-1", "GPU-2", "GPU-3"]));
        assert_eq!(own(one.clone(), Some(7), Some(8)), one);
    }
}
