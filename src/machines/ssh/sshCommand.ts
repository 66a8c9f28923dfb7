import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { homedir, tmpdir, userInfo } from 'node:os';
import { ensurePrivateFolder } from '../../core/files/ownFiles.ts';
import { readBounded } from '../../workspace/files/boundedRead.ts';

const MAX_HOSTS = 500;
const MAX_BYTES = 1e6;

/** How to reach a machine: what `ssh` gets. */
export interface SshTarget {
  /** As for `ssh`: a name of the configuration, `user@host`, or an `ssh://` URL. */
  readonly destination: string;
  /** The configuration file of `-F`, an absolute path. */
  readonly configFile?: string | undefined;
}

/** How `ssh` is run on this machine. */
export interface SshClient {
  /** FARWHARF_HOME. */
  readonly home: string;
  /** `FARWHARF_SSH` names another program than `ssh`. `SSH_ASKPASS` answers questions where there is no terminal. */
  readonly env: NodeJS.ProcessEnv;
}

// A path of this many bytes leaves room for the suffix of 17 bytes that ssh adds and the final zero, within the shortest limit of all
// systems for sockets (104 on macOS).
const MAX_CONTROL_PATH = 86;
// What ssh puts in the place of %C.
const HASH_BYTES = 40;
const TARGET_HASH_LENGTH = 8;

/**
 * The options of every call: later calls share one connection for ten minutes, a silent line counts as lost after 45 seconds, and only
 * errors are printed. Everything else is the user's own configuration.
 */
function sshOptions({ home, env }: SshClient, target: SshTarget): readonly string[] {
  const options = [
    'LogLevel=ERROR',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
    'ConnectTimeout=20',
    'ForwardAgent=no',
    'ForwardX11=no',
    'ClearAllForwardings=yes',
    'RemoteCommand=none',
  ];
  const folder = process.platform === 'win32' ? undefined : controlFolder(home, env);
  if (folder !== undefined) {
    options.push('ControlMaster=auto', 'ControlPersist=600', `ControlPath=${join(folder, controlName(target))}`);
  }
  return options.flatMap((option) => ['-o', option]);
}

/**
 * The socket of a shared connection. ssh's own hash is of address, port, user and ProxyJump only (ssh_config(5), TOKENS): two machines with
 * the same private address behind different ProxyCommands, or with keys of their own in `HostKeyAlias`, would share a connection.
 */
function controlName({ destination, configFile = '' }: SshTarget): string {
  const targetHash = createHash('sha256')
    .update(`${configFile}\0${destination}`)
    .digest('hex')
    .slice(0, TARGET_HASH_LENGTH);
  return `${targetHash}-%C`;
}

/** A folder whose sockets have short enough paths, which only this user can enter; undefined if there is none. */
function controlFolder(home: string, env: NodeJS.ProcessEnv): string | undefined {
  const runtime = env['XDG_RUNTIME_DIR'];
  const places = [
    join(home, 'ssh'),
    ...(runtime ? [join(runtime, 'farwharf')] : []),
    join(tmpdir(), `farwharf-${userInfo().uid}`),
  ];
  const nameBytes = '/'.length + TARGET_HASH_LENGTH + '-'.length + HASH_BYTES;
  // ssh expands % and splits the value at spaces.
  const folder = places.find(
    (path) => Buffer.byteLength(path) + nameBytes <= MAX_CONTROL_PATH && !/[%\s"'\\]/.test(path),
  );
  if (folder === undefined) return undefined;
  try {
    ensurePrivateFolder(folder);
    return folder;
  } catch {
    return undefined; // each call then makes its own connection
  }
}

function sshProgram({ env }: SshClient): string {
  return env['FARWHARF_SSH'] || 'ssh';
}

/**
 * Runs a POSIX shell script on the machine. It must contain neither single quotes, backslashes, exclamation marks nor line breaks, because
 * the login shell passes it on, which may be any shell (csh and fish among them).
 */
export function startSsh(client: SshClient, target: SshTarget, script: string): ChildProcessWithoutNullStreams {
  if (/['\\!\n]/.test(script)) throw new TypeError('This script would not survive every login shell.');
  const config = target.configFile === undefined ? [] : ['-F', target.configFile];
  const args = [...config, ...sshOptions(client, target), '-T', target.destination, `exec /bin/sh -c '${script}'`];
  return spawn(sshProgram(client), args, { env: client.env, stdio: 'pipe', windowsHide: true });
}

/** Ends the shared connection to the machine, if there is one. */
export async function closeSharedConnection(client: SshClient, target: SshTarget): Promise<void> {
  const config = target.configFile === undefined ? [] : ['-F', target.configFile];
  const args = [...config, ...sshOptions(client, target), '-O', 'exit', target.destination];
  const child = spawn(sshProgram(client), args, { env: client.env, stdio: 'ignore', windowsHide: true });
  await new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()));
}

/** The names in the user's `~/.ssh/config` that stand for one machine, in its order. Files that it includes are not read. */
export async function configuredHosts(home = homedir()): Promise<readonly string[]> {
  const config = String((await readBounded(join(home, '.ssh', 'config'), MAX_BYTES)) ?? '');
  const names = config.split('\n').flatMap((line) => {
    const { 1: patterns = '' } = /^\s*Host[\s=]+(.+?)\s*$/i.exec(line) ?? [];
    return patterns.split(/\s+/).filter((pattern) => /^[\w.@:-]+$/.test(pattern) && !pattern.startsWith('-'));
  });
  return [...new Set(names)].slice(0, MAX_HOSTS);
}
