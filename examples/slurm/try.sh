#!/usr/bin/env bash
# Runs parts.sbatch and merge.sbatch to the end on a real slurmctld and slurmd, one node, in a
# temporary folder: one task is killed and requeued, and the result is compared with that of one
# process. Needs root, mdmgen on the path, and Debian's packages slurmctld, slurmd, slurm-client
# and munge.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
node=$(hostname -s)
cleanup() {
	for daemon in slurmd slurmctld munged; do
		if [ -s "$work/$daemon.pid" ]; then kill "$(cat "$work/$daemon.pid")" 2>/dev/null || true; fi
	done
	sleep 1
	rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"

# munge authenticates Slurm's daemons to each other.
mkdir -m 755 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 status=none
chmod 400 "$work/munge/key"
munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munged.pid" \
	--log-file="$work/munge/log" --seed-file="$work/munge/seed"

mkdir "$work/state" "$work/spool"
cat >"$work/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=16817
SlurmdPort=16818
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld -c
slurmd -c
for _ in $(seq 30); do
	sinfo -h -o %T 2>/dev/null | grep -q idle && break
	sleep 1
done
echo "node: $(sinfo -h -o '%n %T, %c CPUs')"

cd "$work"
cat "$here/../tale.txt" "$here/../tale.txt" >text.txt
run=(score text.txt --length 32 --draws 32 --batch 2 --seed 1 --json)
job=$(sbatch --parsable --array=1-4 --output=%x-%A-%a.log "$here/parts.sbatch" "${run[@]}")
merge=$(sbatch --parsable --dependency="afterok:$job" --output=%x.log "$here/merge.sbatch" merged.json)
echo "array job $job, merge $merge"

# One task is killed in the middle of its work, and queued again.
for _ in $(seq 300); do
	[ "$(cat part-1.jsonl.partial 2>/dev/null | wc -l)" -ge 3 ] && break
	sleep 0.1
done
pid=$(pgrep -x -f -- "mdmgen score.*--shard auto -o part-1.jsonl" | head -n 1) || { echo "part 1 ended before it could be killed: give it more --draws" >&2; exit 1; }
kill -9 "$pid"
echo "killed process $pid of part 1, which had finished $(($(wc -l <part-1.jsonl.partial) - 1)) chunks"
for _ in $(seq 300); do
	squeue -h -j "$merge" 2>/dev/null | grep -q . || break
	sleep 1
done
sacct=$(scontrol show job "${job}_1" | grep -o 'Restarts=[0-9]*')
echo "part 1: $sacct"
cat mdmgen-"$job"-1.log mdmgen-merge.log
mdmgen "${run[@]}" --threads 1 --quiet -o whole.json
masked() { sed -E 's/"(network|total)":[-+.e0-9]+//g; s/"started":"[^"]*"//g' "$1"; }
cmp <(masked merged.json) <(masked whole.json)
echo "merged.json is whole.json, byte for byte but for times: $(stat -c %s merged.json) bytes"
