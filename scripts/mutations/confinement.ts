import { spawnSync } from 'node:child_process';

// Process IDs, a /proc and mounts of its own (unshare(1)). Everything in there ends with its first process.
const NAMESPACES = ['--pid', '--fork', '--kill-child', '--mount-proc'];
// Other users get the right to it from a namespace of users in which they stay themselves.
const OF_USER = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
// A shell as the first process waits for programs that have lost their parent, which Node.js does not.
const FIRST = ['sh', '-c', '"$@"; exit $?', 'first'];
const PREFIX = ['unshare', ...OF_USER, ...NAMESPACES, ...FIRST];

/** Whether this system can confine a program. */
export const canConfine: boolean = spawnSync(PREFIX[0] ?? '', [...PREFIX.slice(1), 'true']).status === 0;

/**
 * Returns a command that runs a program where it sees its own processes and no others, or the program's own command if the system
 * cannot. A test of changed code could otherwise stop every process of this user.
 */
export function confined(command: readonly string[]): readonly string[] {
  return canConfine ? [...PREFIX, ...command] : command;
}
