import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteClient } from '../../../src/remote/client.ts';
import { type ForwardedPort, forwardPort } from '../../../src/remote/tunnel/forwardPort.ts';
import type { JobTunnelClient, RunningCommand } from '../../../src/remote/tunnel/jobTunnelClient.ts';
import { openAdmin } from '../../../src/service/admin/adminClient.ts';
import { DEFAULT_CONFIG } from '../../../src/service/serviceConfig.ts';
import { findProgram } from '../../../src/core/processes/findProgram.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Random } from '../../random.ts';
import { until } from '../../service/commandLine.ts';
import { built } from '../../service/support/built.ts';
import { CuttingLine } from '../../service/support/cuttingLine.ts';
import { GATE, openGate } from '../../service/support/gate.ts';
import { processesWith } from '../../service/support/processes.ts';
import type { ServiceClient } from '../../service/support/service.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledProcess } from '../process.ts';
import { KilledService } from '../service.ts';

// As many as a life has kills. Each kind is among the first ones, which are all that the test run makes.
const KINDS = ['line', 'pieces', 'service', 'runner', 'outage', 'client'] as const;
const LATER_KINDS = ['line', 'line', 'outage', 'line', 'pieces', 'line', 'service'] as const;
const FAULTS = [...KINDS, ...LATER_KINDS, ...LATER_KINDS];
const LINES = 60;
// As long as a packet of a local network, so that some lines are cut in the middle.
const LINE_BYTES = 1_500;
const LONGEST_OUTAGE_MS = 300;
// Against hangs only: a session waits for a minute.
const STUCK_MS = 120_000;
const MADE_OF = 1_000;

// Numbers what it is sent on a port, and on a socket in the place of a debugger.
const SERVER = `
import asyncio, os
async def echo(reader, writer):
    count = 0
    async for line in reader:
        writer.write(b"%d %s" % (count, line))
        await writer.drain()
        count += 1
    writer.close()
async def attach(reader, writer):
    writer.write(b'{"type":"attached","protocol":"dap"}\\n')
    await echo(reader, writer)
async def main():
    await asyncio.start_server(echo, "127.0.0.1", 0)
    await asyncio.start_unix_server(attach, "%s/%d.python" % (os.environ["FARWHARF_DEBUG"], os.getpid()))
    print("begun", flush=True)
    await asyncio.sleep(1e6)
asyncio.run(main())
`;
const SCRIPT = `python3 -IS server.py & ${GATE}; kill $!; wait; echo ended; exit 3`;
const COMMAND = 'i=0; while read -r line; do echo "$i $line"; echo "$i $line" >&2; i=$((i+1)); done';

/** What clients do inside a job while the line, the service, a client or the job's runner goes: no byte is lost or doubled. */
export const tunnel: Place = {
  name: 'tunnel',
  sample: KINDS.length,
  missing: () =>
    findProgram('python3', process.env['PATH'] ?? '') === undefined ? 'python3 is not installed' : undefined,
  async begin(folder, random) {
    const inside = { ...DEFAULT_CONFIG.inside, connections_per_minute: 100_000 };
    const service = new KilledService(join(folder, 'home'), 2, { inside });
    const client = await service.start();
    using admin = await openAdmin(client.data, { mayCreate: false });
    await admin.call('accounts.add', { account_id: 'ada', credits: MADE_OF });
    await admin.call('accounts.limit', { account_id: 'ada', limits: { requests_per_minute: 1_000_000 } });
    const { key } = await admin.call('keys.add', { account_id: 'ada' });
    const line = await CuttingLine.start(client.url);
    return new TunnelLife({ service, line, random, key });
  },
};

/** What answers each line with its number and itself. */
interface Lane {
  readonly name: string;
  readonly to: Writable;
  readonly answers: readonly AsyncIterator<string>[];
  sent: number;
  /** By how many lines all answers have come. */
  answered: number;
}

interface Inside {
  readonly job: string;
  readonly tunnel: JobTunnelClient;
  readonly command: RunningCommand;
  readonly port: ForwardedPort;
  readonly lanes: readonly Lane[];
}

class TunnelLife implements Life {
  readonly #service: KilledService;
  readonly #line: CuttingLine;
  readonly #random: Random;
  readonly #key: string;
  readonly #client: RemoteClient;
  readonly #orphans: string[] = [];
  readonly #ended: string[] = [];
  #inside: Inside | undefined;
  #kills = 0;

  constructor(parts: { service: KilledService; line: CuttingLine; random: Random; key: string }) {
    this.#service = parts.service;
    this.#line = parts.line;
    this.#random = parts.random;
    this.#key = parts.key;
    this.#client = new RemoteClient(parts.line.url, parts.key);
  }

  async kill(): Promise<Kill> {
    const fault = FAULTS[this.#kills % FAULTS.length] ?? 'line';
    this.#kills += 1;
    this.#inside ??= await this.#enter();
    const { lanes } = this.#inside;
    const before = Math.floor(LINES * this.#random());
    for (const lane of lanes) send(lane, before);
    await sleep(this.#random() * 10);
    const isMidWrite = lanes.some(({ sent, answered }) => sent > answered);
    const struck = this.#strike(fault, this.#inside);
    for (const lane of lanes) send(lane, LINES - before);
    await struck;
    if (this.#inside === undefined) return { isMidWrite };
    const late = new AbortController();
    const stuck = sleep(STUCK_MS, undefined, { signal: late.signal }).then(
      () => assert.fail(`${fault}: nothing arrives any more (${lanes.map(positionOf).join(', ')})`),
      () => {},
    );
    await Promise.race([Promise.all(lanes.map(check)), stuck]);
    late.abort();
    this.#line.lastsFor = Number.POSITIVE_INFINITY;
    return { isMidWrite };
  }

  async finish(): Promise<void> {
    const service = (await this.#service.start()).withKey(this.#key);
    if (this.#inside !== undefined) {
      const { job, lanes, command, tunnel: opened } = this.#inside;
      for (const { to } of lanes) to.end();
      for (const { answers } of lanes) for (const each of answers) assert.equal((await each.next()).done, true);
      assert.deepEqual(await command.ended, { code: 0, signal: null });
      await this.#leave();
      opened[Symbol.dispose]();
      await openGate(service.data, job);
      const { state, exit_code: code } = await service.untilEnd(job);
      assert.deepEqual([state, code, await service.output(job)], ['failed', 3, 'begun\nended\n']);
      this.#ended.push(job);
    }
    await until(() => this.#service.orphans().length === 0);
    assert.deepEqual(this.#orphans.flatMap(processesWith), []);
    let charged = 0;
    for (const job of this.#ended) charged += (await service.job(job)).credits_charged ?? Number.NaN;
    assert.ok(charged > 0, 'jobs cost something');
    assert.ok(Math.abs((await service.credits()) - (MADE_OF - charged)) < 1e-6, 'credits are what was not charged');
    await this.#service.end('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
    await this.#client.close();
    await this.#line[Symbol.asyncDispose]();
    await this.#service[Symbol.asyncDispose]();
  }

  /** Starts a job, and what talks to it: a command with both streams, a forwarded port, and what a debugger's connection is. */
  async #enter(): Promise<Inside> {
    const service = (await this.#service.start()).withKey(this.#key);
    const files = { 'a.sh': SCRIPT, 'server.py': SERVER };
    const job = await service.submit(files, { script: 'a.sh', max_runtime: 36_000, debug: { hold: 5 } });
    await service.untilOutput(job, /begun/);
    const opened = await this.#client.connectJob(job);
    const command = opened.exec(['sh', '-c', COMMAND]);
    const [listening] = await opened.ports();
    const port = await forwardPort(opened, listening?.port ?? 0);
    const socket = connect(port.localPort, '127.0.0.1');
    const { processes } = await opened.debugProcesses();
    const server = processes.find(({ name }) => name === 'server.py');
    const attached = await opened.debug(server?.process ?? 0);
    const lanes = [
      lane('exec', command.stdin, [command.stdout, command.stderr ?? command.stdout]),
      lane('forward', socket, [socket]),
      lane('debug', attached, [attached]),
    ];
    return { job, tunnel: opened, command, port, lanes };
  }

  async #leave(): Promise<void> {
    const inside = this.#inside;
    this.#inside = undefined;
    if (inside === undefined) return;
    await inside.port[Symbol.asyncDispose]();
    inside.tunnel[Symbol.dispose]();
  }

  async #strike(fault: (typeof KINDS)[number], inside: Inside): Promise<void> {
    const line = this.#line;
    switch (fault) {
      case 'line':
        return line.cut();
      case 'pieces':
        line.lastsFor = 5_000 + Math.floor(10_000 * this.#random());
        return line.cut();
      case 'outage':
        line.isDown = true;
        line.cut();
        await sleep(LONGEST_OUTAGE_MS * this.#random());
        line.isDown = false;
        return;
      case 'service':
        await this.#service.end('SIGKILL');
        line.service = new URL((await this.#service.start()).url);
        return;
      case 'client':
        return this.#killClient(inside.job);
      case 'runner':
        return this.#killRunner(inside);
    }
  }

  /** Its command ends with the job at the latest. */
  async #killClient(job: string): Promise<void> {
    const command = `sleep 7${process.pid}${this.#kills}`;
    this.#orphans.push(command);
    const env = { ...process.env, FARWHARF_REMOTE_HOST: this.#line.url, FARWHARF_API_KEY: this.#key };
    const client = new KilledProcess(
      process.execPath,
      [built('cli.mjs'), 'exec', job, '--', ...command.split(' ')],
      env,
    );
    const isRunning = () => processesWith(command).some((each) => !each.includes('exec'));
    while (!isRunning()) {
      assert.ok(!client.hasEnded, client.errors);
      await sleep(20);
    }
    await client.kill();
  }

  /** It takes the job, and all that clients do there, with it. */
  async #killRunner(inside: Inside): Promise<void> {
    const { data } = await this.#service.start();
    {
      using admin = await openAdmin(data, { mayCreate: false });
      const { runner_pid: runner } = await admin.call('jobs.show', { job_id: inside.job });
      assert.ok(runner !== null);
      process.kill(runner, 'SIGKILL');
    }
    const service: ServiceClient = (await this.#service.start()).withKey(this.#key);
    assert.equal((await service.untilEnd(inside.job)).state, 'lost');
    this.#ended.push(inside.job);
    const reason = await inside.command.ended.then(String, messageOf);
    assert.match(reason, /the job is over/);
    await this.#leave();
    await until(() => this.#orphans.flatMap(processesWith).length === 0);
  }
}

function lane(name: string, to: Writable, from: readonly Readable[]): Lane {
  to.on('error', () => {}); // the job has ended
  const answers = from.map((stream) => createInterface(stream)[Symbol.asyncIterator]());
  return { name, to, answers, sent: 0, answered: 0 };
}

const padding = 'x'.repeat(LINE_BYTES);

function send(to: Lane, count: number): void {
  for (let at = 0; at < count; at += 1, to.sent += 1) to.to.write(`${to.sent} ${padding}\n`);
}

/** Waits for all answers, which must be those to what was sent. */
async function check(one: Lane): Promise<void> {
  for (; one.answered < one.sent; one.answered += 1) {
    for (const each of one.answers) {
      const next: IteratorResult<string, unknown> = await each.next();
      assert.equal(next.value, `${one.answered} ${one.answered} ${padding}`, one.name);
    }
  }
}

function positionOf({ name, answered, sent }: Lane): string {
  return `${name}: ${answered} of ${sent}`;
}
