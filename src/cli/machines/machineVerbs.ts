import { defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, switchFlag, textFlag } from '../command/flags.ts';

const CONNECT_FLAGS = {
  name: textFlag('--name <name>', 'name for --remote (default: the destination without the user)'),
  sshConfig: textFlag('--ssh-config <file>', 'ssh configuration to use (default: that of ssh)'),
  node: textFlag('--node <path>', 'path of Node.js 22.18 or later on that machine (default: found, or copied)'),
  yes: switchFlag(
    '--yes',
    'answer yes to every question: copying Node.js, running jobs on a cluster, cancelling jobs when removing',
  ),
  remove: switchFlag('--remove', 'disconnect the machine and delete everything that was installed there'),
  forget: switchFlag('--forget', 'remove a machine that no longer exists from the list, without contacting it'),
  json: jsonFlag(),
};

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
    load: async () => (await import('./connect.ts')).connectDestination,
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
