import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';
import type { ExecutorCheck } from '../executor/executorKind.ts';
import { reportContainer } from './batch/containerConfig.ts';
import { reportModules } from './batch/moduleShell.ts';
import type { SlurmMachineClass } from './batch/slurmConfig.ts';
import { type ProbeJob, runProbe } from './probeJob.ts';

// Enough for many modules on a network file system, each of which takes seconds. A busy cluster is not waited for.
const PROBE_WAIT_MS = 60_000;
const UNANSWERED = `a probe reported nothing within ${PROBE_WAIT_MS / 1000} s. The cluster may be busy`;

/**
 * Checks on a node of a machine class, chosen by the cluster, that what its jobs need is there; undefined for a class whose jobs need
 * nothing. Of what jobs may choose, names are checked and patterns are not.
 */
export async function checkClass(
  one: SlurmMachineClass,
  probe: Omit<ProbeJob, 'lines' | 'place'>,
  volumes: readonly VolumeSettings[],
): Promise<ExecutorCheck | undefined> {
  const isName = (pattern: string): boolean => !pattern.endsWith('*');
  // A module may be what brings the runtime of containers.
  const reports = [
    ...reportModules({ always: one.modules, allowed: one.allow.modules.filter(isName) }),
    ...(one.container === undefined ? [] : reportContainer(one.container, one.allow.images.filter(isName))),
    ...volumes.map(({ name, folder, writable }) => {
      const path = shellWord(folder);
      return `[ -d ${path} ] && [ -${writable ? 'w' : 'r'} ${path} ] || echo ${shellWord(`volume ${name}`)} >&3`;
    }),
  ];
  if (reports.length === 0) return undefined;
  const what = `machine class ${one.name}: its nodes have what its jobs need`;
  try {
    const lines = ['echo "node ${SLURMD_NODENAME:-$HOSTNAME}" >&3', ...reports];
    const answer = await runProbe({ ...probe, lines, place: one }, AbortSignal.timeout(PROBE_WAIT_MS));
    return { what, problem: problemIn(answer, one) };
  } catch (error) {
    const why = error instanceof AppError ? error.message : UNANSWERED;
    return {
      what: `NOT KNOWN whether the nodes of machine class ${one.name} have what its jobs need: ${why}`,
      problem: undefined,
    };
  }
}

function problemIn(answer: string, { container }: SlurmMachineClass): string | undefined {
  const named = (word: string): readonly string[] =>
    answer
      .split('\n')
      .flatMap((line) => (line.startsWith(`${word} `) ? [printableLine(line.slice(word.length + 1))] : []));
  const [node = 'the node'] = named('node');
  if (answer.split('\n').includes('no-module-command')) {
    return `${node} has no command "module". Install Lmod or Environment Modules there, or remove the modules from the class`;
  }
  const runtime = container?.runtime === 'pyxis' ? 'srun with the plugin Pyxis' : 'Apptainer 1.1 or later';
  const missing = [
    ...named('module').map((name) => `the module ${name}`),
    ...named('image').map((path) => `the image ${path}`),
    ...named('volume').map((name) => `the folder of the volume ${name}`),
  ];
  if (answer.split('\n').includes('no-runtime')) missing.unshift(runtime);
  if (missing.length === 0) return undefined;
  return `${node} lacks ${missing.join(', ')}. Install what is missing on all nodes of the class, or remove it from the class`;
}
