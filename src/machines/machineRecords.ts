import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { AppError, systemCode } from '../core/errors.ts';
import { writeAtomicallySync } from '../core/files/atomicFile.ts';

const FILE = 'machines.json';
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;

const machine = z.object({
  name: z.string().regex(NAME),
  /** What `ssh` gets. */
  destination: z.string(),
  configFile: z.string().optional(),
  /** The build of the service that was last copied there. */
  build: z.string().regex(/^[0-9a-f]{64}$/),
  version: z.string(),
  executor: z.string(),
  connectedAt: z.string(),
});
/** A machine that this user has connected. */
export type Machine = Readonly<z.infer<typeof machine>>;

const machineFile = z.object({ machines: z.array(machine) });

/** Whether a text can be the name of a machine; not `local`, which is this machine. */
export function isMachineName(text: string): boolean {
  return NAME.test(text) && text !== 'local';
}

/** The connected machines, by name. @throws AppError `corrupt` if their file is damaged. */
export function readMachines(home: string): readonly Machine[] {
  const path = join(home, FILE);
  try {
    return machineFile.parse(JSON.parse(readFileSync(path, 'utf8'))).machines;
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return [];
    throw new AppError(
      'corrupt',
      `${path} cannot be read, so the connected machines are unknown. Delete it and connect them again.`,
      { cause },
    );
  }
}

/** The machine of this name; undefined if none is connected under it. */
export function findMachine(home: string, name: string): Machine | undefined {
  return readMachines(home).find((each) => each.name === name);
}

/** Adds a machine, or replaces the one of its name. */
export function saveMachine(home: string, added: Machine): void {
  write(home, [...readMachines(home).filter(({ name }) => name !== added.name), added]);
}

export function forgetMachine(home: string, name: string): void {
  write(
    home,
    readMachines(home).filter((each) => each.name !== name),
  );
}

function write(home: string, machines: readonly Machine[]): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const sorted = machines.toSorted((left, right) => left.name.localeCompare(right.name, 'en'));
  writeAtomicallySync(join(home, FILE), `${JSON.stringify({ machines: sorted }, null, 2)}\n`);
}
