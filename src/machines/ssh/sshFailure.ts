import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';

/** The machine could not be reached this time; a later attempt may succeed. `syscall` shows that no request was sent. */
export class MachineUnreachable extends Error {
  override readonly name = 'MachineUnreachable';
  readonly code = 'ECONNREFUSED';
  readonly syscall = 'connect';
}

interface Known {
  readonly pattern: RegExp;
  /** Problem, meaning and remedy. `detail` is what ssh has printed. */
  readonly sentence: (machine: string, match: RegExpExecArray) => string;
  /** Whether only the user can change it, so that it is not tried again. */
  readonly isFinal?: boolean;
}

// What shells and Node.js print, often many times, when the user may start no more processes or threads.
const PROCESS_LIMIT =
  /\bfork(?:ing)?\b[^\n]{0,80}Resource temporarily unavailable|[Cc]an(?:not|'t) (?:create|start)[^\n]{0,40}(?:fork|thread|process)|[Cc]annot fork|uv_thread_create|pthread_create[^\n]{0,80}(?:EAGAIN|Resource temporarily unavailable)/;
const NOTHING_CHANGED = 'Nothing was changed there.';
// In this order: ssh prints the fingerprint warning before the refusal that follows from it.
const KNOWN: readonly Known[] = [
  { pattern: PROCESS_LIMIT, sentence: processLimit, isFinal: true },
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|HOST IDENTIFICATION HAS CHANGED/,
    sentence: (machine) =>
      `The host key of ${machine} has changed since the last connection: the machine was reinstalled, or someone is impersonating it. Nothing was sent. Ask its administrator for the new fingerprint, then remove the old key with ssh-keygen -R and connect again.`,
    isFinal: true,
  },
  {
    pattern: /Host key verification failed|No \w+ host key is known for/,
    sentence: (machine) =>
      `The host key of ${machine} is not known or was not accepted, so nothing was sent. Run ssh to it once in a terminal, compare the fingerprint, and connect again.`,
    isFinal: true,
  },
  {
    pattern: /Could not resolve hostname (\S+?):? /,
    sentence: (machine, [, host = machine]) =>
      `The name ${host} is unknown, so ${machine} was not reached. Check its spelling and that you are online; names of ~/.ssh/config are accepted too.`,
  },
  {
    pattern: /(?:Permission denied|Too many authentication failures|No supported authentication methods)[^\n]*/,
    sentence: (machine, [text]) =>
      `${machine} did not accept your SSH login (${text.replace(/\.$/, '')}). Check the user name, and that ssh to it works in a terminal: load the key with ssh-add if it has a passphrase.`,
    isFinal: true,
  },
  {
    pattern: /Connection refused/,
    sentence: (machine) => `${machine} refuses SSH connections. Check the port, and that its SSH server runs.`,
  },
  {
    pattern: /timed out|No route to host|Network is unreachable|Host is down/,
    sentence: (machine) =>
      `${machine} does not respond: it is off, or not reachable from this network. Check the VPN or the jump host, then try again.`,
  },
  {
    // With a shared connection, ssh hides what the program in ProxyCommand prints, also the one that ProxyJump stands for.
    // If ssh notices the closed connection while it writes rather than while it reads, it prints nothing at all.
    pattern: /kex_exchange_identification: Connection closed|Connection closed by UNKNOWN|^\s*$/,
    sentence: (machine) =>
      `The connection to ${machine} was closed before the login: its jump host (ProxyJump or ProxyCommand) was not reached, or its SSH server takes no more connections now. Run ssh to it in a terminal for details.`,
  },
  {
    pattern: /Bad configuration option|terminating, \d+ bad configuration|Can't open user config file[^\n]*/,
    sentence: (_, [text]) => `ssh cannot read its configuration: ${text}. Correct the file and try again.`,
    isFinal: true,
  },
];

function processLimit(machine: string): string {
  return `${machine} limits how many processes you may have there (ulimit -u), and no more can be started. End some of your programs there, or ask its administrator to raise the limit, then connect again.`;
}

/**
 * Why ssh failed.
 *
 * @param stderr what it has printed.
 * @returns AppError if only the user can change it, otherwise `MachineUnreachable`.
 */
export function sshFailure(machine: string, stderr: string, cause?: unknown): Error {
  for (const { pattern, sentence, isFinal = false } of KNOWN) {
    const match = pattern.exec(stderr);
    if (match === null) continue;
    const text = printableLine(sentence(machine, match));
    return isFinal ? new AppError('refused', text, { cause }) : new MachineUnreachable(text, { cause });
  }
  const detail = lastLine(stderr, 'ssh says');
  return new MachineUnreachable(`The SSH connection to ${machine} ended before it was ready.${detail} Try again.`, {
    cause,
  });
}

/**
 * Why the login shell of a machine has ended before it ran a command.
 *
 * @param stderr what was printed.
 */
export function shellFailure(machine: string, stderr: string, exitCode: number): Error {
  if (PROCESS_LIMIT.test(stderr)) return new AppError('limit', processLimit(machine));
  const { 1: foreign } = /^farwharf: (\/[^\n]*) belongs to another user$/m.exec(stderr) ?? [];
  if (foreign !== undefined) {
    return new AppError(
      'refused',
      `${printableLine(foreign)} on ${machine} belongs to another user there, who could decide what runs as you, so nothing in it was used. Set XDG_DATA_HOME there to a folder of your own, and connect again.`,
    );
  }
  if (/This account is currently not available|nologin/i.test(stderr)) {
    return new AppError(
      'refused',
      `${machine} lets you log in but not run commands, so Farwharf cannot be used there. Ask its administrator for a shell.`,
    );
  }
  return new MachineUnreachable(
    `${machine} lets you log in, but your login shell there ended with exit status ${exitCode} before it ran a command.${lastLine(stderr, 'Its last line')} Check that \`ssh ${machine} true\` succeeds: a startup file of the shell may end it.`,
  );
}

function lastLine(stderr: string, whose: string): string {
  const last = printableLine(stderr.trim().split('\n').at(-1) ?? '');
  return last === '' ? '' : ` ${whose}: ${last.replace(/\.$/, '')}.`;
}

/** The remedies for what prevents the installation on a machine, by the text of its shell. Undefined for anything else. */
export function machineFailure(machine: string, stderr: string): AppError | undefined {
  const at = (code: 'no-space' | 'permission', problem: string): AppError =>
    new AppError(code, `${problem} ${NOTHING_CHANGED}`);
  if (PROCESS_LIMIT.test(stderr)) return new AppError('limit', processLimit(machine));
  if (/quota/i.test(stderr)) {
    return at(
      'no-space',
      `Your home folder on ${machine} is over its quota. Free some space there, or set XDG_DATA_HOME there to a folder with space.`,
    );
  }
  if (/No space left/i.test(stderr)) {
    return at(
      'no-space',
      `The disk of ${machine} is full. Free some space in your home folder there, then connect again.`,
    );
  }
  if (/Read-only file system/i.test(stderr)) {
    return at(
      'permission',
      `Your home folder on ${machine} is read-only. Set XDG_DATA_HOME there to a folder that you can write.`,
    );
  }
  const { 1: library } = /version .?(GLIBC_[\d.]+). not found/.exec(stderr) ?? [];
  if (library !== undefined) {
    return at(
      'permission',
      `The system of ${machine} is too old for the Node.js that Farwharf copies (it has no ${library}). Install Node.js 22.18 or later there another way, for example with conda or a module, and name it with --node.`,
    );
  }
  if (/Permission denied/i.test(stderr)) {
    return at(
      'permission',
      `Programs cannot be run from your home folder on ${machine}: it is mounted noexec, or its permissions forbid it. Set XDG_DATA_HOME there to a folder where programs may run, or name an installed Node.js with --node.`,
    );
  }
  return undefined;
}
