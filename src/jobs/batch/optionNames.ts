import { JOB_TERMS, termsWith } from '../../remote/protocol/jobTerms.ts';

/** Why an option is not used, in sentences. */
export const REASONS = {
  mail: 'On a cluster, --cluster mail asks for a mail at the end. VS Code notifies you when a job fails, and farwharf watch waits for its end.',
  order: 'A job starts as soon as its machine class has room.',
  place: 'The machine class decides where a job runs.',
  cluster: 'The service decides how jobs enter a queue.',
  output: "All output is in the job's log, which farwharf watch shows.",
  container:
    'A job has the container of its machine class, or the one of --cluster container=IMAGE if the class allows that.',
  unsupported: 'Jobs have no such setting.',
} as const;

/** How an option is used: as a setting of the job, or not, for a reason. */
type OptionUse = 'setting' | keyof typeof REASONS;

export interface OptionName {
  readonly long: string;
  /** Whether a value follows; an optional one only after `=`. */
  readonly value: 'required' | 'optional' | 'none';
  readonly use: OptionUse;
}

// The options of `man sbatch` (24.05), and those that the plugin Pyxis adds (README of NVIDIA/pyxis). A value is required after `=` and optional after `?`; `:` comes before the short name of an option
// without one.
const NAMES: Readonly<Record<OptionUse, string>> = {
  setting:
    'account=A array=a chdir=D cpus-per-task=c export= gpus=G gpus-per-node= gpus-per-task= gres= job-name=J mem= mem-per-cpu= ' +
    'mem-per-gpu= nodes=N ntasks=n ntasks-per-node= partition=p time=t',
  mail: 'mail-type= mail-user=',
  order:
    'begin=b deadline= delay-boot= dependency=d hold:H kill-on-invalid-dep= nice? priority= requeue no-requeue time-min=',
  place:
    'clusters=M cluster-constraint= constraint=C contiguous core-spec=S cores-per-socket= cpus-per-gpu= distribution=m exclude=x ' +
    'exclusive? extra-node-info=B gpu-bind= gpu-freq= gpus-per-socket= gres-flags= hint= mem-bind= mincpus= network= nodefile=F ' +
    'nodelist=w ntasks-per-core= ntasks-per-gpu= ntasks-per-socket= overcommit:O oversubscribe:s power= prefer= segment= ' +
    'sockets-per-node= spread-job switches= thread-spec= threads-per-core= tmp= tres-bind= tres-per-task= use-min-nodes wait-all-nodes=',
  cluster:
    'acctg-freq= bb= bbf= comment= cpu-freq= export-file= extra= get-user-env? gid= ignore-pbs licenses=L mcs-label= no-kill?k ' +
    'parsable profile= propagate? qos=q quiet:Q reboot reservation= resv-ports? stepmgr test-only uid= verbose:v wait:W wckey=',
  output: 'error=e open-mode= output=o',
  container:
    'container= container-id= container-image= container-mounts= container-workdir= container-name= container-save= container-mount-home ' +
    'no-container-mount-home container-remap-root no-container-remap-root container-entrypoint no-container-entrypoint ' +
    'container-entrypoint-log container-writable container-readonly container-env=',
  unsupported: 'help:h input=i signal= umask= usage version:V wrap=',
};

const OPTIONS_OF_TERMS: ReadonlySet<string> = new Set(termsWith('batch').map((name) => JOB_TERMS[name].batch.option));
const OPTIONS: readonly (OptionName & { readonly short: string })[] = (
  ['setting', 'mail', 'order', 'place', 'cluster', 'output', 'container', 'unsupported'] as const
).flatMap((use) =>
  [...NAMES[use].matchAll(/([\w-]+)(?:([=?:])([A-Za-z])?)?/g)].map(([, long = '', mark = ':', short = '']) => {
    const value = mark === '=' ? 'required' : mark === '?' ? 'optional' : 'none';
    return { long, short, value, use: OPTIONS_OF_TERMS.has(long) ? 'setting' : use } as const;
  }),
);

/** The option with this name, or the only one whose name begins with it (getopt_long(3)). */
export function longOption(name: string): OptionName | undefined {
  const exact = OPTIONS.find(({ long }) => long === name);
  if (exact !== undefined) return exact;
  const [first, second] = OPTIONS.filter(({ long }) => long.startsWith(name));
  return second === undefined ? first : undefined;
}

/** The option with this letter. */
export function shortOption(letter: string): OptionName | undefined {
  return OPTIONS.find(({ short }) => short === letter);
}
