import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface Transfer {
  /** What went over the connection with the contents: sent on a push, received on a pull. */
  readonly bytes: number;
  readonly seconds: number;
}

/** An rsync daemon on the loopback address that serves one folder. */
export class RsyncDaemon {
  readonly #root: string;
  readonly #daemon: ChildProcess;
  readonly #url: string;

  private constructor(root: string, daemon: ChildProcess, url: string) {
    this.#root = root;
    this.#daemon = daemon;
    this.#url = url;
  }

  /** Undefined without rsync. */
  static async start(root: string): Promise<RsyncDaemon | undefined> {
    if (spawnSync('rsync', ['--version']).error !== undefined) return undefined;
    const port = await freePort();
    const config = join(root, 'rsyncd.conf');
    const user = process.getuid?.() === 0 ? 'uid = 0\ngid = 0\n' : '';
    writeFileSync(config, `use chroot = no\n${user}[all]\npath = ${root}\nread only = no\n`);
    const args = ['--daemon', '--no-detach', '--address', '127.0.0.1', '--port', String(port), '--config', config];
    const daemon = spawn('rsync', args, { stdio: 'ignore' });
    const url = `rsync://127.0.0.1:${port}/all`;
    while (spawnSync('rsync', [url]).status !== 0) await new Promise((resolve) => setTimeout(resolve, 50));
    return new RsyncDaemon(root, daemon, url);
  }

  stop(): void {
    this.#daemon.kill();
  }

  /** Sends a folder of the root to the daemon, which writes it into another one. */
  push(folder: string, copy: string): Transfer {
    mkdirSync(join(this.#root, copy), { recursive: true });
    return run(`${join(this.#root, folder)}/`, `${this.#url}/${copy}/`, 'sent');
  }

  /** Gets a folder from the daemon into another one of the root. */
  pull(folder: string, copy: string): Transfer {
    mkdirSync(join(this.#root, copy), { recursive: true });
    return run(`${this.#url}/${folder}/`, `${join(this.#root, copy)}/`, 'received');
  }
}

function run(from: string, to: string, direction: 'sent' | 'received'): Transfer {
  const started = performance.now();
  const stats = execFileSync('rsync', ['-az', '--stats', from, to], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const bytes = new RegExp(`Total bytes ${direction}: ([\\d,]+)`).exec(stats)?.[1] ?? '';
  return { bytes: Number(bytes.replaceAll(',', '')), seconds: (performance.now() - started) / 1000 };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
