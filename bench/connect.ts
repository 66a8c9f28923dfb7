// How long it takes to connect a machine over SSH, on a connection of 20 Mbit/s, beside what `ssh` alone takes: a bare machine, to which
// Node.js is copied, and the same machine again. Then what the tunnel adds to a request, beside the same request to the same service over
// its socket. The download of Node.js to this machine is not counted. Needs Linux, root, iproute2 and OpenSSH's server. Fails over 30 s for the first, 1 s for the second, and 0.5 ms for a request.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { createConnection } from 'node:net';
import { machine as architecture, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fetchNode, nodePackageFor } from '../src/machines/install/nodePackage.ts';
import { openMachine } from '../src/machines/openMachine.ts';
import { RemoteClient } from '../src/remote/client.ts';
import { SshServer } from '../test/service/support/sshServer.ts';
import { median } from './support/children.ts';
import { enterOwnNetwork, hasOwnNetwork, limitLine, unlimitLine } from './support/slowLine.ts';

const RATE = '20mbit';
const REQUESTS = 2_000;
const MAX_FIRST_SECONDS = 30;
const MAX_AGAIN_SECONDS = 1;
const MAX_TUNNEL_MS = 0.5;
const CLI = resolve(import.meta.dirname, '../dist/cli.mjs');
// Where the machine has no Node.js.
const BARE_PATH = '/usr/bin:/bin';

const { FARWHARF_HOME: home = mkdtempSync(join(tmpdir(), 'farwharf-connect-')) } = process.env;
if (!hasOwnNetwork) {
  const platform = { system: 'Linux', architecture: architecture(), libc: 'glibc 2.28' };
  await fetchNode(nodePackageFor('testbox', platform), { home, env: process.env });
  process.env['FARWHARF_HOME'] = home;
}
enterOwnNetwork();
await using server = await SshServer.create({ PATH: BARE_PATH });
await server.start();

function seconds(program: string, ...args: string[]): number {
  const started = performance.now();
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  return (performance.now() - started) / 1000;
}
const connect = (...flags: string[]): number =>
  seconds(process.execPath, CLI, 'connect', 'testbox', '--ssh-config', server.config, '--yes', ...flags);

/** The median of many requests, one after the other, in milliseconds. */
async function requestMs(client: RemoteClient): Promise<number> {
  const times: number[] = [];
  for (let index = -100; index < REQUESTS; index += 1) {
    const started = performance.now();
    await client.me();
    if (index >= 0) times.push(performance.now() - started);
  }
  return median(times);
}

function check(name: string, value: number, most: number, unit: string, beside: string): void {
  if (value > most) process.exitCode = 1;
  process.stdout.write(`${name.padEnd(44)} ${value.toFixed(2)} ${unit} (at most ${most} ${unit}); ${beside}\n`);
}

try {
  limitLine(RATE);
  const first = connect();
  const ssh = seconds('ssh', '-F', server.config, 'testbox', 'true');
  const again = connect();
  unlimitLine();
  check('first connect, with Node.js', first, MAX_FIRST_SECONDS, 's', `ssh alone ${ssh.toFixed(2)} s`);
  check('connect again', again, MAX_AGAIN_SECONDS, 's', `ssh alone ${ssh.toFixed(2)} s`);

  const root = join(server.home, '.local/share/farwharf-service');
  const run = readdirSync(root).find((name) => name.startsWith('run-')) ?? '';
  const machine = await openMachine('testbox', { home, env: process.env });
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => createConnection(join(root, run, 'sock'));
  await using direct = new RemoteClient(machine.url, machine.key, { agent });
  await using tunnelled = new RemoteClient(machine.url, machine.key, { agent: machine.agent });
  const own = await requestMs(direct);
  const through = await requestMs(tunnelled);
  check(
    'what the tunnel adds to a request',
    through - own,
    MAX_TUNNEL_MS,
    'ms',
    `over the socket ${own.toFixed(2)} ms`,
  );
} finally {
  connect('--remove');
  rmSync(home, { recursive: true, force: true });
}
