import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Scratch } from './commandLine.ts';
import { COUNTER } from './support/flowChild.ts';

/** Notes every connection that a process opens and every name that it looks up, whatever library asks for them. */
const RECORDER = `
import { appendFileSync } from 'node:fs';
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
const note = (what) => appendFileSync(process.env.RECORDED_TO, JSON.stringify(what) + '\\n');
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [first] = args.flat();
  const { host, port, path } = typeof first === 'object' ? first : { port: first, host: args[1] };
  note(typeof path !== 'string' ? \`\${host ?? 'localhost'}:\${port}\` : 'socket');
  return connect.apply(this, args);
};
const { lookup } = dns;
dns.lookup = (name, ...rest) => {
  note('lookup ' + name);
  return lookup(name, ...rest);
};
const { send } = dgram.Socket.prototype;
dgram.Socket.prototype.send = function (...args) {
  note('datagram');
  return send.apply(this, args);
};
syncBuiltinESMExports();
`;

test('commands connect only to the chosen service', {
  timeout: 5 * 60_000,
}, async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const files = { 'run.sh': 'echo made > made.txt', 'notes.md': 'The lighthouse.', 'counter.mjs': COUNTER };
  const cwd = await scratch.folder('project', files);
  const recorder = join(scratch.root, 'recorder.mjs');
  const recorded = join(scratch.root, 'recorded');
  await writeFile(recorder, RECORDER);
  await writeFile(recorded, '');
  const env = { ...service.env, NODE_OPTIONS: `--import=${pathToFileURL(recorder).href}`, RECORDED_TO: recorded };
  const connectionsOf = async (...args: readonly string[]): Promise<Set<string>> => {
    await writeFile(recorded, '');
    const { exit, stderr } = await scratch.run(args, { cwd, env });
    assert.equal(exit, 0, `${args.join(' ')}: ${stderr}`);
    const lines = (await readFile(recorded, 'utf8')).split('\n').filter(Boolean);
    return new Set(lines.map((line) => JSON.parse(line) as string));
  };
  for (const args of [
    ['--version'],
    ['index'],
    ['search', 'lighthouse'],
    ['flow', 'check', 'counter.mjs'],
    ['flow', 'graph', 'counter.mjs'],
    ['flow', 'run', 'counter.mjs'],
  ]) {
    assert.deepEqual(await connectionsOf(...args), new Set(), args.join(' '));
  }
  const { host } = new URL(service.url);
  for (const args of [['me'], ['submit', '--script', 'run.sh', '--watch', '--download']]) {
    const connections = await connectionsOf(...args);
    assert.deepEqual(connections, new Set([host]), args.join(' '));
  }
});
