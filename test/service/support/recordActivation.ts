// Loaded before a program: when it exits, writes to standard error what it loaded of `dist`, and which of its calls opened a connection,
// listed a folder or started a process.
import child_process from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import worker_threads from 'node:worker_threads';

const calls: string[] = [];

function record(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== 'function') throw new TypeError(`Node.js has no ${name}.`);
    const recorded = new Proxy(original, {
      apply(target, self, args) {
        calls.push(name);
        return Reflect.apply(target, self, args) as unknown;
      },
      construct(target, args, newTarget) {
        calls.push(name);
        return Reflect.construct(target, args, newTarget) as object;
      },
    });
    Object.defineProperty(owner, name, { value: recorded, writable: true, configurable: true });
  }
}

record(net.Socket.prototype, ['connect']);
record(net.Server.prototype, ['listen']);
record(dgram, ['createSocket']);
record(dns, ['lookup', 'resolve']);
record(globalThis, ['fetch']);
record(fs, ['readdir', 'readdirSync', 'opendir', 'opendirSync', 'glob', 'globSync', 'watch', 'watchFile']);
record(fs.promises, ['readdir', 'opendir', 'glob', 'watch']);
record(child_process, ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']);
record(worker_threads, ['Worker']);
syncBuiltinESMExports();

process.once('exit', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  process.stderr.write(JSON.stringify({ calls, loaded }));
});
