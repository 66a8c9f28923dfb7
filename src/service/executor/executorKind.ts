import * as z from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';
import type { Executor } from './executor.ts';

/** What the service passes to an executor besides its configuration. */
export interface ExecutorContext {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  readonly machineClasses: MachineClasses;
  /** The service's data folder. */
  readonly data: string;
  /** The folder that contains the files of jobs. */
  readonly filesFolder: string;
  /** Files of the service that jobs must not read. */
  readonly hidden: readonly string[];
  readonly volumes: readonly VolumeSettings[];
  /** Returns how many accounts are enabled. */
  readonly accounts: () => number;
  /** As `ServeOptions.isPersonal`. */
  readonly isPersonal: boolean;
  readonly log: Logger;
}

/** What is known when a configuration is checked without starting the service. */
export interface ExecutorCheckContext extends Pick<ExecutorContext, 'data' | 'hidden' | 'volumes'> {
  /** Returns how many accounts are enabled. */
  readonly accounts: () => Promise<number>;
}

/** Something that was checked before a service starts. */
export interface ExecutorCheck {
  readonly what: string;
  /** What is wrong; undefined if nothing is. */
  readonly problem: string | undefined;
  /** A setting that is probably a mistake, although jobs can run. */
  readonly warning?: string;
}

/** One way to run jobs. Its folder has the schema of its configuration, and it is registered by one line in `executors.ts`. */
interface Definition<Shape extends z.ZodRawShape, Config = z.output<z.ZodObject<Shape>>> {
  /** What it adds to a configuration: a section under its name, and the `machine_classes` that it accepts. */
  readonly shape: Shape;
  /** The folder for the files of jobs, if it is not the data folder. */
  readonly sharedFolder?: (config: Config) => string;
  /** Whether the service ends while jobs run, because nobody is connected. */
  readonly mayLeaveJobs?: (config: Config) => boolean;
  /** @throws AppError when jobs cannot or must not run. */
  readonly create: (config: Config, context: ExecutorContext) => Promise<Executor>;
  /** Checks whether jobs could run. */
  readonly check: (config: Config, context: ExecutorCheckContext) => Promise<readonly ExecutorCheck[]>;
}

/** A definition whose functions take the whole configuration of a service, and read their part of it. */
export type ExecutorKind<Shape extends z.ZodRawShape = z.ZodRawShape> = Definition<Shape, object>;

export function defineExecutor<Shape extends z.ZodRawShape>(definition: Definition<Shape>): ExecutorKind<Shape> {
  const { shape, sharedFolder, mayLeaveJobs, create, check } = definition;
  const schema = z.object(shape);
  return {
    shape,
    ...(sharedFolder && { sharedFolder: (config) => sharedFolder(schema.parse(config)) }),
    ...(mayLeaveJobs && { mayLeaveJobs: (config) => mayLeaveJobs(schema.parse(config)) }),
    create: (config, context) => create(schema.parse(config), context),
    check: (config, context) => check(schema.parse(config), context),
  };
}

/** The message of what `check` throws; undefined if it succeeds. */
export async function problemOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
