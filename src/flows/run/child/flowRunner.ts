// Runs one flow file: started by `runFlow` with a channel to it, or by a job with the file of a request as its argument.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outlet, RuntimeFiles } from './childMain.ts';
import type { ChildMessage, ParentMessage } from '../protocol/runMessage.ts';

const ORPHAN_MS = 1_000;

// Until the version is checked, only syntax that every Node understands.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  const message = `Flows need Node 22.18 or newer, and ${process.execPath} is ${process.versions.node}.`;
  if (process.send === undefined) process.stderr.write(`farwharf: ${message}\n`);
  else process.send({ type: 'refused', error: { name: 'AppError', message } } satisfies ChildMessage);
  process.exitCode = 1;
} else if (process.send === undefined) {
  const [request = '', ...args] = process.argv.slice(2);
  const { runAsJob } = await import('./jobMain.ts');
  await runAsJob(request, args, runtimeFiles());
} else {
  await serveParent();
}

/** Waits for the request and runs it. */
async function serveParent(): Promise<void> {
  const { EventChannel } = await import('./eventChannel.ts');
  const { KeyRequests } = await import('./keyRequests.ts');
  const { runChild } = await import('./childMain.ts');
  const stop = new AbortController();
  const send = (message: ChildMessage): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {}); // the parent may be gone
  };
  let holds = 0;
  const hold = (): (() => void) => {
    holds += 1;
    process.channel?.ref();
    return () => {
      holds -= 1;
      if (holds === 0) process.channel?.unref();
    };
  };
  let release: (() => void) | undefined;
  const channel = new EventChannel(send, (isWaiting) => {
    release?.();
    release = isWaiting ? hold() : undefined;
  });
  const keys = new KeyRequests({ send, hold });
  const outlet: Outlet = {
    event: (event) => channel.push(event),
    flush: () => channel.flush(),
    send: (message) => {
      channel.flush(); // keeps the order of events
      send(message);
    },
    get pause() {
      return channel.pause;
    },
  };
  process.on('disconnect', () => {
    channel.close();
    keys.close();
    stop.abort(new DOMException('The program that ran the flow is gone.', 'AbortError'));
    setTimeout(endGroup, ORPHAN_MS).unref();
  });
  process.on('message', (message: unknown) => {
    if (!isParentMessage(message)) return;
    if (message.type === 'taken') channel.taken(message.batch);
    if (message.type === 'key') keys.answer(message.variable, message.key);
    if (message.type === 'stop') stop.abort(new DOMException('The run was stopped.', 'AbortError'));
    if (message.type !== 'request') return;
    process.channel?.unref();
    const { request } = message;
    void (request.isDebugged === true ? waitForDebugger(send) : Promise.resolve()).then(() =>
      runChild(request, { runtime: runtimeFiles(), outlet, stop: stop.signal, keys }),
    );
  });
  send({ type: 'ready', nodeVersion: process.versions.node });
}

/** The parent is a part of this program, so its messages are not checked further. */
function isParentMessage(value: unknown): value is ParentMessage {
  return typeof value === 'object' && value !== null && 'type' in value;
}

async function waitForDebugger(send: (message: ChildMessage) => void): Promise<void> {
  const inspector = await import('node:inspector');
  inspector.open(0, '127.0.0.1');
  send({ type: 'debugger', url: inspector.url() ?? '' });
  inspector.waitForDebugger();
}

/** Terminates this process and its children, which are in their own group. */
function endGroup(): void {
  if (process.platform !== 'win32') process.kill(0, 'SIGTERM');
  process.exit(1);
}

function runtimeFiles(): RuntimeFiles {
  const folder = import.meta.dirname;
  if (!import.meta.filename.endsWith('.ts'))
    return { root: folder, library: join(folder, 'agents.mjs'), schemas: join(folder, 'zod.mjs') };
  const sources = dirname(dirname(dirname(folder)));
  const schemas = fileURLToPath(import.meta.resolve('zod'));
  return { root: sources, library: join(sources, 'agents', 'index.ts'), schemas };
}
