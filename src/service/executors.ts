import type { ExecutorKind } from './executor/executorKind.ts';

export type Executors = Readonly<Record<string, () => Promise<ExecutorKind>>>;

/** What can run jobs, by the name that a configuration uses. Each is loaded when it is first used. */
export const EXECUTORS = {
  process: async () => (await import('./process/processKind.ts')).processKind,
  slurm: async () => (await import('./slurm/slurmKind.ts')).slurmKind,
} satisfies Executors;
