import { posix } from 'node:path';
import {
  JOB_TERMS,
  type JobSubmission,
  type JobTerm,
  termsWith,
  type TermWith,
} from '../../remote/protocol/jobTerms.ts';
import { readDirectives } from './directives.ts';
import { REASONS } from './optionNames.ts';
import {
  type ArrayRequest,
  type BatchOption,
  parseArray,
  parseCount,
  parseGpus,
  parseMemory,
  parseTime,
  readOptions,
} from './options.ts';

const MAX_VALUE = 1_000;
// C0 and C1 controls and line separators: no name or path of a batch script has them.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const CORES = ['ntasks', 'ntasks-per-node', 'cpus-per-task'];
const RESOURCES = CORES.concat('mem', 'mem-per-cpu', 'mem-per-gpu', 'gpus', 'gpus-per-node', 'gpus-per-task', 'gres');
const READERS = { text: (argument: string) => argument || undefined, time: parseTime };
const VARIABLE = /^(?!FARWHARF_)[A-Za-z_]\w*$/;

/** An option that is not used, or only in part. */
export interface Remark {
  /** 1-based. */
  readonly line: number;
  /** As in the script. */
  readonly option: string;
  /** Why, in sentences. */
  readonly reason: string;
  /** Whether the job would differ from what the script describes. */
  readonly isFatal?: boolean;
}

/** The resources that a batch script requests; undefined if it does not mention them. */
export interface BatchRequest {
  readonly partitions: (Pick<Remark, 'line' | 'option'> & { readonly names: readonly string[] }) | undefined;
  /** The first line with cores, memory or GPUs, and all such options. */
  readonly resources: Pick<Remark, 'line' | 'option'> | undefined;
  readonly cpus: number | undefined;
  readonly memoryGb: number | undefined;
  readonly gpus: number | undefined;
  readonly gpuType: string | undefined;
}

/** The job that the `#SBATCH` lines of a script describe. */
export interface BatchJob {
  /** What it states, each from an option of its own. */
  readonly terms: Partial<Pick<JobSubmission, TermWith<'batch'>>>;
  readonly title: string | undefined;
  /** The working folder: absolute, or relative to the folder that is sent. */
  readonly chdir: (Pick<Remark, 'line' | 'option'> & { readonly path: string }) | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly array: (ArrayRequest & Pick<Remark, 'line' | 'option'>) | undefined;
  /** For variables of Slurm. */
  readonly cpusPerTask: number | undefined;
  readonly tasks: number | undefined;
  readonly request: BatchRequest;
  readonly remarks: readonly Remark[];
}

/** The job that a batch script describes. The last of several options with the same name counts, as in sbatch. */
export function readBatchJob(text: string): BatchJob {
  const { options, wrong } = readOptions(readDirectives(text));
  const remarks: Remark[] = wrong.map(({ line, text: option, problem }) => ({
    line,
    option,
    reason: `It ${problem}, which would refuse the script.`,
  }));
  const note = (option: BatchOption, reason: string, isFatal = false): void => {
    remarks.push({ line: option.line, option: spellingOf(option), reason, ...(isFatal && { isFatal }) });
  };
  const settings = new Map<string, BatchOption>();
  for (const option of options) {
    if (option.use !== 'setting') note(option, REASONS[option.use]);
    else if (option.argument.length > MAX_VALUE) note(option, `Its value has more than ${MAX_VALUE} characters.`);
    else if (CONTROLS.test(option.argument)) note(option, 'Its value contains control characters.');
    else settings.set(option.long, option);
  }
  /** The value of an option; undefined, with a remark, if it is not valid. */
  const read = <T>(long: string, parse: (argument: string) => T | undefined, expected?: string): T | undefined => {
    const option = settings.get(long);
    if (option === undefined) return undefined;
    const value = parse(option.argument);
    if (value === undefined && expected !== undefined) note(option, expected);
    return value;
  };
  const count = (long: string) => read(long, parseCount, 'Its value is not a number above 0.');
  const gpusOf = (long: string) => read(long, (text_) => parseGpus(text_, false), 'Its value is not a number of GPUs.');
  const memory = (long: string) =>
    read(long, parseMemory, 'Its value is not an amount of memory. Jobs have that of their machine class.');

  const nodes = settings.get('nodes');
  if (nodes !== undefined && count('nodes') !== 1)
    note(nodes, 'A job runs on one machine. The machine class is chosen for the tasks of one node.');
  const tasks = count('ntasks') ?? count('ntasks-per-node') ?? 1;
  const perTask = count('cpus-per-task');
  const asksForCores = CORES.some((long) => settings.has(long));
  const gpusPerTask = gpusOf('gpus-per-task');
  const gres = read(
    'gres',
    (value) => parseGpus(value, true),
    'GPUs are the only generic resources of machine classes.',
  );
  const gpus =
    gpusOf('gpus') ??
    gpusOf('gpus-per-node') ??
    (gpusPerTask && { ...gpusPerTask, count: gpusPerTask.count * tasks }) ??
    gres;
  const perCpu = memory('mem-per-cpu');
  const perGpu = memory('mem-per-gpu');
  const cores = tasks * (perTask ?? 1);
  const resources = RESOURCES.flatMap((long) => settings.get(long) ?? []);
  const title = settings.get('job-name');
  const list = settings.get('array');
  const array = list && parseArray(list.argument);
  if (list !== undefined && array === undefined) note(list, 'Its value is not a list of tasks such as 1-10.', true);
  if (title !== undefined && array === undefined) note(title, 'Jobs are listed by their script.');
  const partition = settings.get('partition');
  const chdir = settings.get('chdir');
  const stated = termsWith('batch').map((name) => {
    const { option, type, expected }: NonNullable<JobTerm['batch']> = JOB_TERMS[name].batch;
    return [name, read<unknown>(option, READERS[type], expected)] as const;
  });
  return {
    terms: Object.fromEntries(stated),
    title: title?.argument,
    chdir: chdir && { line: chdir.line, option: spellingOf(chdir), path: chdir.argument },
    environment: readExport(settings.get('export'), note),
    array: array && { ...array, line: list?.line ?? 0, option: list === undefined ? '' : spellingOf(list) },
    cpusPerTask: perTask,
    tasks: settings.has('ntasks') || settings.has('ntasks-per-node') ? tasks : undefined,
    request: {
      partitions: partition && {
        line: partition.line,
        option: spellingOf(partition),
        names: partition.argument.split(',').filter(Boolean),
      },
      resources: resources[0] && { line: resources[0].line, option: resources.map(spellingOf).join(' ') },
      cpus: asksForCores ? cores : undefined,
      memoryGb: memory('mem') ?? (perCpu && perCpu * cores) ?? (perGpu && gpus && perGpu * gpus.count) ?? undefined,
      gpus: gpus?.count,
      gpuType: gpus?.type,
    },
    remarks,
  };
}

/** Whether the job of a script that is sent as `path` starts in the folder that `--chdir` names. */
export function startsIn({ path }: NonNullable<BatchJob['chdir']>, folder: string): boolean {
  const folderName = posix.normalize(`${path}/`).replace(/\/$/, '');
  return folderName === '.' || folderName === folder.replace(/[\\/]$/, '');
}

/** The variables that `--export` sets. Those of the machine that submits are not read. */
function readExport(
  option: BatchOption | undefined,
  note: (option: BatchOption, reason: string) => void,
): Record<string, string> {
  const environment: Record<string, string> = {};
  if (option === undefined) return environment;
  const unread: string[] = [];
  for (const part of option.argument.split(',')) {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(part) ?? [];
    if (value !== undefined && VARIABLE.test(name)) environment[name] = value;
    else if (!['ALL', 'NONE', 'NIL', ''].includes(part)) unread.push(part);
  }
  if (unread.length > 0) {
    const them = unread.length === 1 ? 'It' : 'They';
    note(
      option,
      `${unread.join(', ')}: ${them} would be read from your environment, which is not sent. Write NAME=value.`,
    );
  }
  return environment;
}

/** `--time=1:00` as in the script, whatever its spelling there. */
function spellingOf({ long, argument }: BatchOption): string {
  return argument === '' ? `--${long}` : `--${long}=${argument}`;
}
