import { defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag } from '../grammar/flags.ts';
import { CONNECT_FLAGS } from './connectFlags.ts';

const NOTES = `
Nothing has to be installed on the machine, and no port is opened there. ssh does all of the authentication, with your
own configuration and keys. FARWHARF_SSH names another ssh program.`;

/** The verbs about machines that are reached over SSH. */
export const machineVerbs: readonly Verb[] = [
  defineVerb({
    name: 'connect',
    summary: 'run jobs on a machine that you can ssh to',
    args: ['<destination>'],
    flags: CONNECT_FLAGS,
    notes: NOTES,
    examples: [
      ['farwharf connect ada@gpu-box', 'connect gpu-box'],
      ['farwharf submit --remote gpu-box --script train.py', 'run train.py there'],
      ['farwharf connect gpu-box --remove', 'disconnect it, and leave nothing there'],
    ],
    load: async () => (await import('./connect.ts')).connect,
  }),
  defineVerb({
    name: 'machines',
    summary: 'list the connected machines, and whether they respond',
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf machines', 'list the connected machines'],
      ['farwharf machines --json', 'list them as JSON'],
    ],
    load: async () => (await import('./machines.ts')).listMachines,
  }),
];
