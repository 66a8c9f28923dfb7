import { type FlagValues, jsonFlag, switchFlag, textFlag } from '../grammar/flags.ts';

export const CONNECT_FLAGS = {
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

export type ConnectFlags = FlagValues<typeof CONNECT_FLAGS>;
