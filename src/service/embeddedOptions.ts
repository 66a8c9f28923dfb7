import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireOwn } from '../core/files/ownFiles.ts';
import { type MachineClass, thisMachine } from './config/machineClasses.ts';
import { serviceFolder, stateFileOf } from './embedded.ts';
import { readConfig, type ServiceConfig } from './serviceConfig.ts';
import type { ServeOptions } from './serveOptions.ts';

const IDLE_EXIT_MS = 10 * 60_000;
// The user's next service waits until this one has stopped.
const DRAIN_MS = 2_000;

// Of a service for one person, which a file may change.
const DEFAULTS = {
  // Jobs run the person's own folder, and need programs, caches and data sets from all over the home. They are as fast as in a terminal.
  process: { isolation: 'none', nice: 0 },
  // Nobody monitors it, and its log is only for failures.
  log: { requests: false },
  metrics: { enabled: false },
  retention: { min_free_gb: 0.1 },
};

/**
 * The options of `farwharf serve --embedded`.
 *
 * @param options.file the configuration that the user may write.
 * @param options.classes the machine classes if the file has none.
 * @throws AppError of `readConfig`; `refused` for a file that others can write, because it names programs and folders for jobs.
 */
export async function embeddedServeOptions(
  home: string,
  program: { runner: string; version: string },
  {
    file = join(home, 'service.toml'),
    classes = [thisMachine()],
  }: { readonly file?: string; readonly classes?: MachineClass[] } = {},
): Promise<ServeOptions> {
  return {
    ...program,
    host: '127.0.0.1',
    port: 0,
    data: serviceFolder(home),
    config: await readOwnConfig(file, classes),
    isPersonal: true,
    idleExitMs: IDLE_EXIT_MS,
    drainMs: DRAIN_MS,
    stateFile: stateFileOf(home),
  };
}

/** A configuration for one person: jobs cost nothing unless the file has prices. */
async function readOwnConfig(file: string, classes: MachineClass[]): Promise<ServiceConfig> {
  const isWritten = existsSync(file);
  requireOwn(file);
  const config = await readConfig(isWritten ? file : undefined, { defaults: DEFAULTS });
  return { ...config, machine_classes: config.machine_classes ?? classes };
}
