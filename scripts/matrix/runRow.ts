import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, delimiter } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestEvent } from '../../test/host/support/events.ts';
import { cleanEnvironment } from '../vscode/environment.ts';

/** How the tests of a row are started. */
export interface Command {
  readonly node: string;
  /** Path of the program that runs the files, and prints the outcome of each test as a line of JSON. */
  readonly runner: string;
  readonly files: readonly string[];
  readonly cwd: string;
  readonly prefix?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Yields the outcome of each test in a row of the matrix.
 *
 * Its environment has nothing of npm, of this project's tools, or of a Farwharf that is set up on this machine.
 */
export async function* runRow({
  node,
  runner,
  files,
  cwd,
  prefix = [],
  env,
}: Command): AsyncGenerator<TestEvent, void> {
  const [command = '', ...args] = [...prefix, node, runner, ...files];
  const child = spawn(command, args, { cwd, env: rowEnvironment(node, env), stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let [passed, failed] = [0, 0];
  for await (const line of createInterface({ input: child.stdout })) {
    const event = parseEvent(line);
    if (event.type === 'pass') passed += 1;
    if (event.type === 'fail') failed += 1;
    yield event;
  }
  await closed;
  if (failed > 0 || (child.exitCode === 0 && passed > 0)) return;
  const end = child.exitCode === null ? `was ended by ${child.signalCode}` : `returned ${child.exitCode}`;
  yield {
    type: 'fail',
    file: files.join(' '),
    title: '',
    error: `The tests ended early: ${node} ${end} after ${passed} passed.`,
  };
}

/** Returns the PATH that programs of a row get, with `node` first. */
export function rowPath(node: string): string {
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !/node_modules|node-gyp-bin/.test(folder));
  return [dirname(node), ...folders].join(delimiter);
}

function rowEnvironment(node: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(cleanEnvironment()).filter(([name]) => !/^(FARWHARF_|NODE_|XDG_|npm_)/i.test(name));
  return { ...Object.fromEntries(own), PATH: rowPath(node), ...env };
}

function parseEvent(line: string): TestEvent {
  try {
    return JSON.parse(line) as TestEvent;
  } catch {
    return { type: 'note', text: line };
  }
}
