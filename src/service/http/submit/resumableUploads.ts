import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const KEEP_MS = 24 * 3_600_000;
const UPLOAD = /^[0-9a-f]{32}-[0-9a-f]{64}$/;

/**
 * What came of uploads that have a key and have not become jobs yet: a file for each, to which the rest is added when its
 * client comes back within a day.
 */
export class ResumableUploads {
  readonly #root: string;

  /** @param filesFolder the folder that jobs' files are in: an upload becomes part of them without being copied. */
  constructor(filesFolder: string) {
    this.#root = join(filesFolder, 'uploads');
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  /** Where an upload is kept, whether it is there or not. */
  path(account: string, key: string): string {
    return join(this.#root, `${prefixOf(account)}${digest(key)}`);
  }

  /** Bytes that are there; 0 where there is none. */
  async size(account: string, key: string): Promise<number> {
    return (await stat(this.path(account, key)).catch(() => undefined))?.size ?? 0;
  }

  async remove(account: string, key: string): Promise<void> {
    await rm(this.path(account, key), { force: true });
  }

  /**
   * Sees to it that what is kept for an account stays within `maxBytes` with the `bytes` that come: the oldest go first. Uploads
   * that are under way, which `isBusy` names, do not count and stay.
   */
  async makeRoom(
    account: string,
    { bytes, maxBytes }: { bytes: number; maxBytes: number },
    isBusy: (path: string) => boolean,
  ): Promise<void> {
    const own = (await this.#list()).filter(({ path, name }) => name.startsWith(prefixOf(account)) && !isBusy(path));
    let total = own.reduce((sum, { size }) => sum + size, bytes);
    for (const { path, size } of own.toSorted((a, b) => a.changedAt - b.changedAt)) {
      if (total <= maxBytes) return;
      await rm(path, { force: true });
      total -= size;
    }
  }

  /** Removes what nobody came back for. */
  async sweep(now: number, isBusy: (path: string) => boolean): Promise<void> {
    for (const { path, changedAt } of await this.#list()) {
      if (now - changedAt > KEEP_MS && !isBusy(path)) await rm(path, { force: true });
    }
  }

  async #list() {
    // What else may be there, should something have put a link in the place of the folder, is none of the service's.
    const names = (await readdir(this.#root)).filter((name) => UPLOAD.test(name));
    const found = names.map(async (name) => {
      const path = join(this.#root, name);
      const stats = await stat(path).catch(() => undefined); // another request may just have removed it
      return stats === undefined ? [] : [{ name, path, size: stats.size, changedAt: stats.mtimeMs }];
    });
    return (await Promise.all(found)).flat();
  }
}

/** Names of accounts and keys are anybody's text; names of files are not. */
function prefixOf(account: string): string {
  return `${digest(account).slice(0, 32)}-`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
