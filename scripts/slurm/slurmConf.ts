import { hostname, userInfo } from 'node:os';

interface NodeSpec {
  readonly name: string;
  readonly cpus: number;
  readonly memoryMb: number;
}

/** The nodes of a private cluster, all on this machine. */
export const NODES: readonly NodeSpec[] = [
  { name: 'small1', cpus: 2, memoryMb: 4_000 },
  { name: 'small2', cpus: 2, memoryMb: 4_000 },
  { name: 'large1', cpus: 4, memoryMb: 12_000 },
];

/**
 * The configuration of a cluster with all of its files in `folder`: a port for the controller, then one for each node. Jobs of the
 * partition `cpu-large` preempt those of `cpu-spare`. Each node has a feature of its own, for constraints.
 */
export function slurmConf(
  folder: string,
  [controller = 0, ...ports]: readonly number[],
  { cpus: cpusOfEach, reserves = false }: { readonly cpus?: number; readonly reserves?: boolean } = {},
): string {
  const [host = 'localhost'] = hostname().split('.');
  const user = userInfo().username;
  const nodes = NODES.map(
    ({ name, cpus, memoryMb }, index) =>
      `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[index]} CPUs=${cpusOfEach ?? cpus} RealMemory=${memoryMb} Feature=on-${name}${reserves && cpus > 2 ? ' CoreSpecCount=1 MemSpecLimit=1000' : ''} State=UNKNOWN`,
  );
  return `ClusterName=farwharf
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
AuthType=auth/munge
AuthInfo=socket=${folder}/run/munge.sock
CredType=cred/munge
SlurmUser=${user}
SlurmdUser=${user}
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool/%n
SlurmctldPidFile=${folder}/run/slurmctld.pid
SlurmdPidFile=${folder}/run/slurmd.%n.pid
SlurmctldLogFile=${folder}/log/slurmctld.log
SlurmdLogFile=${folder}/log/slurmd.%n.log
PlugStackConfig=${folder}/etc/plugstack.conf
MailProg=${folder}/etc/mail
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=20
MessageTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=300
Waittime=0
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=5,sched_min_interval=0
${nodes.join('\n')}
PartitionName=cpu-small Nodes=small1,small2 Default=YES MaxTime=1-00:00:00 DefaultTime=60 DefMemPerCPU=512 State=UP
PartitionName=cpu-large Nodes=large1 PriorityTier=2 MaxTime=7-00:00:00 DefaultTime=60 DefMemPerCPU=1024 State=UP
PartitionName=cpu-spare Nodes=large1 PriorityTier=1 PreemptMode=CANCEL GraceTime=0 MaxTime=1-00:00:00 DefaultTime=60 DefMemPerCPU=512 State=UP
`;
}
