import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../../src/core/errors.ts';
import type { ServeOptions } from '../../src/service/serveOptions.ts';
import type { ServiceConfig } from '../../src/service/serviceConfig.ts';
import { CreditLedger } from '../../src/service/store/accounts/creditLedger.ts';
import { DEFAULT_PROXY } from '../../src/service/config/configSections.ts';
import type { ServiceClient } from '../service/support/service.ts';
import { jobsAtOnce } from '../service/support/service.ts';
import { ServiceProcess } from '../service/support/serviceProcess.ts';

export const KEY = 'the-key-of-the-test';

/** A job service that is killed again and again. */
export class KilledService implements AsyncDisposable {
  readonly #home: string;
  readonly #options: Partial<ServeOptions>;
  #running: ServiceProcess | undefined;

  constructor(home: string, concurrency: number, config: Partial<ServiceConfig> = {}) {
    this.#home = home;
    this.#options = { apiKey: KEY, config: { ...jobsAtOnce(concurrency), proxy: DEFAULT_PROXY, ...config } };
  }

  async start(): Promise<ServiceClient> {
    this.#running ??= await ServiceProcess.start(this.#home, this.#options);
    return this.#running.client;
  }

  /**
   * Ends it so and, once nobody else uses the store, checks a copy of what it left: the next start must find what a kill leaves.
   */
  async end(signal: 'SIGKILL' | 'SIGTERM', others: () => Promise<unknown> = async () => {}): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.end(signal);
    await others();
    if (running !== undefined) this.#checkStore(running.client.data);
  }

  /** Every process that was started for a job, whose folder is below this one's. */
  orphans(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== this.#running?.pid)
      .flatMap((pid) => (isBelow(pid, this.#home) ? [`${pid}: ${textOf(`/proc/${pid}/cmdline`)}`] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.end('SIGKILL');
    for (const orphan of this.orphans()) process.kill(Number.parseInt(orphan, 10), 'SIGKILL');
  }

  #checkStore(data: string): void {
    const copy = join(this.#home, 'copy');
    for (const name of ['service.db', 'service.db-wal']) {
      if (existsSync(join(data, name))) cpSync(join(data, name), join(copy, name));
    }
    if (!existsSync(copy)) return;
    const database = new DatabaseSync(join(copy, 'service.db'));
    try {
      assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
      assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), []);
      if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'credit_entries'").get() === undefined) return;
      assert.deepEqual(
        { ...database.prepare('SELECT coalesce(sum(amount), 0) AS sum FROM credit_entries').get() },
        { sum: 0 },
      );
      if (database.prepare("SELECT 1 FROM credit_accounts WHERE name = 'issued'").get() !== undefined)
        new CreditLedger(database).check();
    } finally {
      database.close();
      rmSync(copy, { recursive: true });
    }
  }
}

function isBelow(pid: string, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || textOf(`/proc/${pid}/cmdline`).includes(folder);
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

function textOf(path: string): string {
  return readFileSync(path, 'utf8').replaceAll('\0', ' ');
}
