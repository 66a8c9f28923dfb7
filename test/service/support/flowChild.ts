import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FlowProcessEvent, FlowRunRequest } from '../../../src/flows/run/protocol/runRequest.ts';
import type { FlowOutcome } from '../../../src/flows/run/protocol/flowOutcome.ts';
import type { RunEvent } from '../../../src/flows/run/protocol/runEvent.ts';
import { runFlow } from '../../../src/flows/run/start/runFlow.ts';
import { built } from './built.ts';

export const RUNTIME = { node: process.execPath, runner: built('flowRunner.mjs') };

/** A flow of two nodes that counts to `shared.goal`, in a module of its own. */
export const COUNTER = `
import { Flow, Node } from 'farwharf/agents';
class Add extends Node {
  prep(shared) { return shared.count ?? 0; }
  exec(count) { return count + 1; }
  post(shared, _, count) { shared.count = count; return count < (shared.goal ?? 3) ? 'again' : 'enough'; }
}
class Tell extends Node {
  prep(shared) { return shared.count; }
  exec(count) { return 'counted to ' + count; }
  post(shared, _, text) { shared.text = text; }
}
const [add, tell] = [new Add(), new Tell()];
export const counter = new Flow({ start: add, name: 'Counter' })
  .connect(add, add, 'again').connect(add, tell, 'enough').connect(tell, null);
`;

export interface Told {
  readonly outcome: FlowOutcome;
  readonly events: readonly FlowProcessEvent[];
  readonly runEvents: readonly RunEvent[];
  readonly output: string;
  readonly notes: readonly string[];
}

interface RunOptions extends Partial<FlowRunRequest> {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: FlowProcessEvent) => void | Promise<void>;
}

/** A folder with flow files that are run in real children. Ended, it leaves nothing behind. */
export class FlowFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(files: Readonly<Record<string, string>> = {}): Promise<FlowFolder> {
    const folder = new FlowFolder(await realpath(await mkdtemp(join(tmpdir(), 'farwharf-flow-'))));
    for (const [name, text] of Object.entries(files)) await folder.write(name, text);
    return folder;
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  async run(file: string, { signal, onEvent, ...request }: RunOptions = {}): Promise<Told> {
    const events: FlowProcessEvent[] = [];
    const outcome = await runFlow(
      RUNTIME,
      { file: join(this.path, file), cwd: this.path, env: process.env, ...request },
      {
        signal: signal ?? new AbortController().signal,
        onEvent: (event) => {
          events.push(event);
          return onEvent?.(event);
        },
      },
    );
    return {
      outcome,
      events,
      runEvents: events.flatMap((event) => (event.type === 'run' ? [event.event] : [])),
      output: events.flatMap((event) => (event.type === 'output' ? [event.text] : [])).join('\n'),
      notes: events.flatMap((event) => (event.type === 'note' ? [event.message] : [])),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
