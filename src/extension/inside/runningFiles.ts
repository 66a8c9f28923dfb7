import { posix } from 'node:path';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';
import { MOST_LISTED } from '../../jobs/results/browsedResults.ts';
import type { DownloadedResults, PlaceDeps, PlaceOptions } from '../../jobs/results/placeFiles.ts';
import { takeRunning } from '../../jobs/results/takeFromJob.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { JobFile } from '../../remote/tunnel/fileChannels.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { JobFileSource } from '../jobs/jobFileSystem.ts';
import { MOST_OPENED_BYTES } from '../results/registerResults.ts';
import { limitsOfSetting } from '../results/results.ts';
import type { ShownFile, ShownFiles, ShownFolder } from '../results/shownFiles.ts';
import type { JobTunnels, SharedTunnel } from './jobTunnels.ts';

const REFRESH_MS = 2_000;

interface RunningFilesDeps extends PlaceDeps {
  readonly home: string;
  readonly tunnels: Pick<JobTunnels, 'use'>;
  /** Called when they are no longer shown. */
  readonly onClosed: () => void;
}

/** The files in the folder of a running job, as they are now. A tunnel that ends is opened again for the next request. */
export class RunningFiles implements ShownFiles, JobFileSource {
  readonly #deps: RunningFilesDeps;
  readonly record: JobRecord;
  readonly title: string = l10n.t('Files of Running Job');
  readonly message: string = l10n.t('As they are now. Save to Folder copies them into your folder.');
  readonly refreshMs = REFRESH_MS;
  #tunnel: Promise<SharedTunnel> | undefined;
  #isClosed = false;

  constructor(deps: RunningFilesDeps, record: JobRecord) {
    this.#deps = deps;
    this.record = record;
  }

  async level(folder: string): Promise<ShownFolder> {
    const { entries, isComplete } = await (await this.connect()).list(folder, { limit: MOST_LISTED });
    const children = entries.filter(isShown).map(shownFile).toSorted(foldersFirst);
    return { children, more: isComplete ? 0 : 1 };
  }

  async take(paths: readonly string[], options: PlaceOptions): Promise<DownloadedResults> {
    return takeRunning(
      { ...this.#deps, limits: limitsOfSetting() },
      this.record,
      { tunnel: await this.connect(), paths },
      options,
    );
  }

  async find(_id: string, path: string): ReturnType<JobFileSource['find']> {
    try {
      const { type, size, modified } = await (await this.connect()).stat(path);
      if (type !== 'file' && type !== 'folder') return undefined;
      return { isFolder: type === 'folder', size, modified: Math.floor(modified) };
    } catch (error) {
      if (error instanceof AppError && error.code === 'missing') return undefined;
      throw error;
    }
  }

  async children(_id: string, path: string): ReturnType<JobFileSource['children']> {
    return (await this.level(path)).children;
  }

  /** @throws AppError `limit` if the file is too large to be opened. */
  async read(_id: string, path: string): Promise<Uint8Array> {
    using opened = await (await this.connect()).read(path);
    if (opened.length > MOST_OPENED_BYTES) {
      throw new AppError(
        'limit',
        l10n.t(
          '{0} has {1}, too much to be opened while the job runs. Save it to your folder instead.',
          posix.basename(path),
          formatBytes(opened.length),
        ),
      );
    }
    const parts: Buffer[] = [];
    for await (const bytes of opened.bytes) parts.push(bytes);
    return Buffer.concat(parts);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#leave();
    this.#deps.onClosed();
  }

  /** @throws AppError `refused` if the job cannot be connected to; the service's own errors. */
  async connect(): Promise<JobTunnelClient> {
    if (this.#isClosed) throw new AppError('conflict', l10n.t('The files of the job are no longer shown.'));
    this.#tunnel ??= this.#deps.tunnels.use(this.record);
    const opening = this.#tunnel;
    const forget = (): void => {
      if (this.#tunnel === opening) this.#leave();
    };
    try {
      const { client } = await opening;
      void client.closed.then(forget);
      return client;
    } catch (error) {
      forget();
      throw error;
    }
  }

  #leave(): void {
    void this.#tunnel?.then(
      (tunnel) => tunnel[Symbol.dispose](),
      () => {}, // who asked for it got the error
    );
    this.#tunnel = undefined;
  }
}

/** Links that lead nowhere or out of the folder, and special files, cannot be opened. */
function isShown({ type, path }: JobFile): boolean {
  return (type === 'file' || type === 'folder') && path.isWellFormed();
}

function shownFile({ path, type, size }: JobFile): ShownFile {
  return { path, name: posix.basename(path), isFolder: type === 'folder', files: undefined, bytes: size };
}

function foldersFirst(one: ShownFile, other: ShownFile): number {
  if (one.isFolder !== other.isFolder) return one.isFolder ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}
