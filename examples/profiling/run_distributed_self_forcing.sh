#!/usr/bin/env bash
# Generates a clip on several CPU ranks, reports on each of them, and on all together.
#
#   RANKS=4 OUT=profiling_results/self_forcing examples/profiling/run_distributed_self_forcing.sh [flags of self_forcing.py]
#
# Needs marey, torch and diffusers in the Python that is called (PYTHON, default: python).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python}
ranks=${RANKS:-2}
out=${OUT:-profiling_results/self_forcing}
reports=$out/profiling_reports
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

case " $* " in
    *" --help "* | *" -h "*) exec "$python" "$here/self_forcing.py" --help ;;
esac

checkpoint=()
if [ -n "${CHECKPOINT_PATH:-}" ]; then
    checkpoint=(--checkpoint_path "$CHECKPOINT_PATH")
fi
"$python" -m torch.distributed.run --nnodes=1 --nproc-per-node="$ranks" "$here/self_forcing.py" \
    --config_path "$here/configs/model.yaml" "${checkpoint[@]}" \
    --prompt "${PROMPT:-A beautiful sunset over the ocean}" \
    --output_folder "$out/videos" \
    --enable_profiling --profiling_config "$here/configs/profiling_config.yaml" \
    --profiling_output_dir "$reports" "$@"

# The newest job: a capture a rank.
job=$(cd "$reports/latest" && pwd -P)
for capture in "$job"/rank*-*.marey; do
    name=$(basename "$capture")
    folder=$job/${name%%-*}
    mkdir -p "$folder"
    "$python" -m marey report "$capture" --format json --output "$folder/profiling_report.json"
    "$python" -m marey report "$capture" --format html --output "$folder/report.html"
done
# Both end with 1 where ranks are missing, and say of the rest what there is.
status=0
"$python" "$here/aggregate_profiling_reports.py" --reports_dir "$job" --output "$out/aggregated_report.json" || status=$?
# The summary has been shown.
"$python" -m marey aggregate "$job" --format html --output "$out/aggregated_report.html" >/dev/null || status=$?
exit "$status"
