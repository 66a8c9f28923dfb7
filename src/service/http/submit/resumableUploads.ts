import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const KEEP_MS = 24 * 3_600_000;
const UPLOAD = /^[0-9a-f]{32}-[0-9a-f]{64}$/;

/**
 * Partial uploads that have a key and have not become jobs yet, one file each. A client that comes back within a day appends the
 * rest.
 */
export class ResumableUploads {
  readonly #root: string;

  /** @param filesFolder the folder with the files of jobs, so that an upload becomes one of them without being copied. */
  constructor(filesFolder: string) {
    this.#root = join(filesFolder, 'uploads');
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  /** The path of an upload, whether it exists or not. */
  path(account: string, key: string): string {
    return join(this.#root, `${prefixOf(account)}${hash('sha256', key)}`);
  }

  /** Bytes that were received; 0 if the upload does not exist. */
  async size(account: string, key: string): Promise<number> {
    return (await stat(this.path(account, key)).catch(() => undefined))?.size ?? 0;
  }

  async remove(account: string, key: string): Promise<void> {
    await rm(this.path(account, key), { force: true });
  }

  /**
   * Deletes an account's oldest uploads until the rest, with `bytes` more, fits in `maxBytes`. Uploads in progress, for which
   * `isBusy` returns true, do not count and stay.
   */
  async makeRoom(
    account: string,
    { bytes, maxBytes }: { bytes: number; maxBytes: number },
    isBusy: (path: string) => boolean,
  ): Promise<void> {
    const uploads = (await this.#list()).filter(
      ({ path, name }) => name.startsWith(prefixOf(account)) && !isBusy(path),
    );
    let total = uploads.reduce((sum, { size }) => sum + size, bytes);
    for (const { path, size } of uploads.toSorted((a, b) => a.changedAt - b.changedAt)) {
      if (total <= maxBytes) return;
      await rm(path, { force: true });
      total -= size;
    }
  }

  /** Deletes uploads whose clients did not come back. */
  async sweep(now: number, isBusy: (path: string) => boolean): Promise<void> {
    for (const { path, changedAt } of await this.#list()) {
      if (now - changedAt > KEEP_MS && !isBusy(path)) await rm(path, { force: true });
    }
  }

  async #list() {
    // If something replaced the folder with a link, other files are not the service's.
    const names = (await readdir(this.#root)).filter((name) => UPLOAD.test(name));
    const found = names.map(async (name) => {
      const path = join(this.#root, name);
      const stats = await stat(path).catch(() => undefined); // another request may just have removed it
      return stats === undefined ? [] : [{ name, path, size: stats.size, changedAt: stats.mtimeMs }];
    });
    return (await Promise.all(found)).flat();
  }
}

/** Names of accounts and keys can be any text; names of files cannot. */
function prefixOf(account: string): string {
  return `${hash('sha256', account).slice(0, 32)}-`;
}
