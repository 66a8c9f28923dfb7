import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { ServeOptions } from '../../../src/service/serveOptions.ts';
import { ServiceClient } from './service.ts';

export const PROGRAM = join(import.meta.dirname, 'serviceProgram.ts');

/** A service that can be killed. */
export class ServiceProcess {
  readonly client: ServiceClient;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, client: ServiceClient) {
    this.#child = child;
    this.client = client;
  }

  /**
   * Starts a service on `home`, which may have been used by one before; by default as the user that runs the tests.
   *
   * @param inside a command that runs the one after it in its place, such as `unshare --mount`.
   * @param nodeOptions options of its Node.js.
   */
  static async start(
    home: string,
    overrides: Partial<ServeOptions> = {},
    {
      inside = [],
      nodeOptions = [],
      ...user
    }: {
      readonly uid?: number;
      readonly gid?: number;
      readonly inside?: readonly string[];
      readonly nodeOptions?: readonly string[];
    } = {},
  ): Promise<ServiceProcess> {
    const [program, ...args] = [...inside, process.execPath, ...nodeOptions, PROGRAM];
    const child = spawn(program, args, {
      ...user,
      env: {
        ...process.env,
        NODE_NO_WARNINGS: '1',
        FARWHARF_HOME: home,
        TEST_SERVE_OPTIONS: JSON.stringify({ killGraceMs: 300, ...overrides }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    const lines = createInterface(child.stdout);
    const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [])])) as [string?];
    assert.ok(line !== undefined, `the service ended: ${errors}`);
    const address = JSON.parse(line) as { url: string; key: string };
    return new ServiceProcess(child, new ServiceClient(address, overrides.data ?? join(home, 'service')));
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
  }
}
