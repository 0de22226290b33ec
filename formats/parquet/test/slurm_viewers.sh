#!/bin/sh
# slurm_viewers.sh BIN: the Slurm script of docs/scale-out.md, on a cluster of this node alone, which is started for it and
# ended again.  Status 77: Slurm is not installed, or cannot be started here; nothing was checked.
. scripts/viewers.sh
viewers_begin "$1" /dev/null
. formats/parquet/test/scale_parts.sh
for program in sbatch slurmctld slurmd munged runuser; do
	command -v "$program" >/dev/null 2>&1 || PATH=$PATH:/usr/sbin
	command -v "$program" >/dev/null 2>&1 || viewers_skip "slurm: no $program (Debian: slurm-wlm, munge)"
done
[ "$(id -u)" -eq 0 ] || viewers_skip "slurm: a cluster of one node needs root"
for program in munged slurmd slurmctld; do
	pgrep -x $program >/dev/null 2>&1 && viewers_skip "slurm: $program runs here already"
done
mkdir "$dir/bin" "$dir/slurm" && cp "$bin" "$dir/bin/tracetool" && chmod 755 "$dir" || exit 2
PATH=$dir/bin:$PATH
host=$(hostname -s)
cd "$dir" || exit 2

cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$dir/slurm/state
SlurmdSpoolDir=$dir/slurm/spool
SlurmctldPidFile=$dir/slurm/slurmctld.pid
SlurmdPidFile=$dir/slurm/slurmd.pid
SlurmctldLogFile=$dir/slurm/slurmctld.log
SlurmdLogFile=$dir/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=500
PartitionName=main Nodes=ALL Default=YES State=UP
END
export SLURM_CONF="$dir/slurm.conf"

# Ends those that were started here, by their pid files, and waits for them.
finish() {
	pids=$(cat "$dir/slurm/slurmd.pid" "$dir/slurm/slurmctld.pid" /run/munge/munged.pid 2>/dev/null)
	tries=0
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
	for pid in $pids; do
		while kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do
			tries=$((tries + 1))
			sleep 0.1
		done
	done
	rm -rf "$dir"
}
trap finish EXIT INT TERM

mkdir -p slurm/state slurm/spool /run/munge
chown munge: /run/munge /var/log/munge 2>/dev/null
runuser -u munge -- munged >slurm/said 2>&1 || viewers_skip "slurm: munged does not start: $(head -n 1 slurm/said)"
slurmctld -c >slurm/said 2>&1 || viewers_skip "slurm: slurmctld does not start: $(head -n 1 slurm/said)"
slurmd >slurm/said 2>&1 || viewers_skip "slurm: slurmd does not start: $(head -n 1 slurm/said)"
tries=0
until sinfo -h -o %t 2>/dev/null | grep -q idle; do
	tries=$((tries + 1))
	[ $tries -lt 60 ] || viewers_skip "slurm: the node does not become idle"
	sleep 0.5
done

failed=0
wrong() {
	echo "slurm: $*"
	failed=1
}
make_ranks 40
block "sh jobs" >jobs.sh && sh jobs.sh
block "sh slurm" >convert.sh
block "sh missing" >missing.sh
timeout 120 sbatch --wait --export=ALL convert.sh >said 2>&1 || wrong "sbatch: $(cat said slurm-*.out 2>/dev/null | head -n 5)"
[ "$(ls parts | wc -l)" -eq 40 ] || wrong "$(ls parts | wc -l) parts of 40"
[ -z "$(sh missing.sh)" ] || wrong "parts are missing"

# Parts that are missing are made again, and only they.
rm parts/part-00003.parquet parts/part-00031.parquet
ls -i parts >before
timeout 120 sbatch --wait --export=ALL convert.sh >said 2>&1 || wrong "sbatch: $(cat said slurm-*.out 2>/dev/null | head -n 5)"
ls -i parts >after
[ "$(sort before after | uniq -d | wc -l)" -eq 38 ] || wrong "a part was made again"
[ "$(ls parts | wc -l)" -eq 40 ] || wrong "$(ls parts | wc -l) parts of 40 after the second run"
echo "slurm: 40 parts by an array of jobs, two of them in a second run"
exit $failed
