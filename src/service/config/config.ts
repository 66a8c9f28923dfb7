import { readFile } from 'node:fs/promises';
import { parse as parseToml, TomlError } from 'smol-toml';
import * as z from 'zod';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { retentionSettings } from './retentionConfig.ts';
import { proxySettings } from './proxyConfig.ts';
import { jobLogSettings } from './jobLogConfig.ts';
import { logSettings } from './logConfig.ts';
import { limitsSettings } from './limitsConfig.ts';
import { type MachineClass, MachineClasses } from './machineClasses.ts';
import { metricsSettings } from './metricsConfig.ts';
import { processSettings } from './processConfig.ts';
import { sbatchArguments, type SlurmResources, slurmSettings } from './slurmConfig.ts';
import { tlsSettings } from './tlsConfig.ts';

const machineClass = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be letters, digits, ".", "_" and "-"'),
  description: z.string().default(''),
  credits_per_minute: z.number().min(0),
  cpus: z.int().min(1).default(1),
  memory_gb: z.number().positive().default(1),
  gpus: z.int().min(0).default(0),
  partition: z
    .string()
    .regex(/^[\w.-]+$/, 'must be the name of a partition')
    .optional(),
  sbatch: sbatchArguments.default([]),
});
type MachineClassConfig = z.infer<typeof machineClass>;

const serviceConfig = z
  .strictObject({
    executor: z.enum(['process', 'slurm']).default('process'),
    machine_classes: z.array(machineClass).min(1).optional(),
    process: processSettings.prefault({}),
    slurm: slurmSettings.prefault({}),
    limits: limitsSettings.prefault({}),
    log: logSettings.prefault({}),
    logs: jobLogSettings.prefault({}),
    metrics: metricsSettings.prefault({}),
    proxy: proxySettings.optional(),
    retention: retentionSettings.prefault({}),
    tls: tlsSettings.optional(),
  })
  .superRefine(({ executor, machine_classes: classes = [], slurm }, context) => {
    const names = classes.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
      context.addIssue({ code: 'custom', path: ['machine_classes'], message: `"${twice}" is there twice` });
    }
    if (executor === 'slurm' && slurm.folder === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['slurm', 'folder'],
        message:
          'the executor "slurm" keeps the files of jobs in a folder that the nodes share, apart from the data folder: write  folder = "/shared/farwharf"  below [slurm], with its path (up to now, that was the data folder: name that one, and a new --data on a disk of this machine)',
      });
    }
    if (executor === 'slurm' && classes.length === 0) {
      context.addIssue({
        code: 'custom',
        path: ['machine_classes'],
        message: 'the executor "slurm" needs one at least',
      });
    }
    if (
      executor === 'process' &&
      classes.some(({ partition, sbatch }) => partition !== undefined || sbatch.length > 0)
    ) {
      context.addIssue({ code: 'custom', path: ['machine_classes'], message: 'partition and sbatch are for "slurm"' });
    }
  });
export type ServiceConfig = z.infer<typeof serviceConfig>;

/** The configuration of a service that was given none. */
export const DEFAULT_CONFIG: ServiceConfig = serviceConfig.parse({});

/**
 * Reads a configuration file, TOML or JSON by its name.
 *
 * @param overrides what a person said on the command line, which wins.
 * @throws AppError `missing` where there is no such file, `bad-input` that names what is wrong in it.
 */
export async function readConfig(
  path: string,
  overrides: { executor?: 'process' | 'slurm' } = {},
): Promise<ServiceConfig> {
  const value = { ...(parseText(path, await readText(path)) as object), ...overrides };
  const result = serviceConfig.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path: at, message }) => `${at.join('.') || 'file'}: ${message}`);
  throw new AppError('bad-input', `The configuration ${path} is not right. ${problems.join('; ')}.`);
}

/** The JSON schema of the configuration file, for editors that complete and check it. */
export function configSchema(): object {
  return z.toJSONSchema(serviceConfig, { io: 'input' });
}

/** The folder that the service shares with the nodes of a cluster; undefined where jobs run on its own machine. */
export function sharedFolderOf({ executor, slurm }: ServiceConfig): string | undefined {
  return executor === 'slurm' ? slurm.folder : undefined;
}

/** The machine classes of a configuration; undefined where it has none. */
export function machineClassesOf({ machine_classes: classes }: ServiceConfig): MachineClasses | undefined {
  const [first, ...rest] = (classes ?? []).map(toMachineClass);
  return first && new MachineClasses([first, ...rest]);
}

/** What each machine class asks of the cluster. */
export function slurmResourcesOf({
  machine_classes: classes = [],
}: ServiceConfig): ReadonlyMap<string, SlurmResources> {
  return new Map(
    classes.map(({ name, partition, cpus, memory_gb: memoryGb, gpus, sbatch }) => [
      name,
      { partition, cpus, memoryGb, gpus, sbatch },
    ]),
  );
}

function toMachineClass(config: MachineClassConfig): MachineClass {
  const { name, description, credits_per_minute: creditsPerMinute, cpus, memory_gb: memoryGb, gpus } = config;
  return { name, creditsPerMinute, description, cpus, memoryGb, gpus };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = systemCode(cause) === 'ENOENT' ? 'it is not there' : messageOf(cause);
    throw new AppError('missing', `The configuration ${path} cannot be read: ${why}.`, { cause });
  }
}

function parseText(path: string, text: string): unknown {
  try {
    return path.endsWith('.json') ? JSON.parse(text) : parseToml(text);
  } catch (cause) {
    const where = cause instanceof TomlError ? ` Line ${cause.line}, column ${cause.column}.` : '';
    const what = messageOf(cause).split('\n')[0] ?? '';
    throw new AppError('bad-input', `The configuration ${path} cannot be read: ${what}.${where}`, { cause });
  }
}
