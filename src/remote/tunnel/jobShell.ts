import type { ExecHeader } from './tunnelProtocol.ts';

/** The command of an interactive shell in a job: bash, or sh where there is none. Not a login shell, which would set the search path anew. */
export const JOB_SHELL: ExecHeader['command'] = [
  'sh',
  '-c',
  'command -v bash >/dev/null 2>&1 && exec bash -i; exec sh -i',
];
