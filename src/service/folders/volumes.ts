import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { ifThere } from '../../core/files/ifThere.ts';
import type { listedVolume } from '../../remote/protocol/volume.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { parseRunnerSpec } from '../jobFiles/runnerSpec.ts';
import { type JobVolume, leaveVolumes } from '../jobFiles/jobVolumes.ts';
import { checkVolume, realFolderOf } from './checkVolumes.ts';

interface PinnedVolume extends VolumeSettings {
  /** Without links, as when the service started. */
  readonly realFolder: string;
}

/** The volumes of a service. What a job names is resolved here only, and its folder is the one that was there at the start. */
export class Volumes {
  readonly #volumes: readonly PinnedVolume[];

  /** @param own files and folders of the service. @throws AppError as `checkVolume`. */
  constructor(volumes: readonly VolumeSettings[], own: readonly string[]) {
    for (const volume of volumes) checkVolume(volume, { volumes, own });
    this.#volumes = volumes.map((volume) => ({ ...volume, realFolder: realFolderOf(volume) }));
  }

  /** Those that the jobs of an account can have. */
  of(account: string): readonly z.infer<typeof listedVolume>[] {
    return this.#of(account).map(({ name, writable }) => ({ name, writable }));
  }

  /** Why a job cannot have the volumes that it names, in the same words whether they exist or not; undefined if it can. */
  refusalOf(names: readonly string[], account: string): string | undefined {
    const own = this.#of(account);
    const others = names.filter((name) => !own.some((volume) => volume.name === name));
    if (others.length === 0) return undefined;
    const list = own.length === 0 ? 'none' : own.map(({ name }) => name).join(', ');
    return `your account has no volume ${others.join(', ')}. It has ${list}.`;
  }

  /**
   * Records the volumes of a job for its runner, unless it has started.
   *
   * @throws AppError `unreachable` while a folder is missing, `refused` if a volume is no longer there for the account, or its folder is
   * another one than at the start of the service.
   */
  async leaveFor({ account }: { readonly account: string }, folder: JobFolder): Promise<void> {
    if (existsSync(folder.claim)) return;
    const spec = await ifThere(readFile(folder.spec, 'utf8'), undefined); // the runner reports a missing one
    const { volumes: names = [] } = spec === undefined ? {} : parseRunnerSpec(spec);
    if (names.length === 0) return;
    const refusal = this.refusalOf(names, account);
    if (refusal !== undefined) throw new AppError('refused', `The job cannot start: ${refusal}`);
    const chosen = this.#of(account).filter(({ name }) => names.includes(name));
    leaveVolumes(folder, chosen.map(present));
  }

  #of(account: string): readonly PinnedVolume[] {
    return this.#volumes.filter(({ accounts }) => accounts === undefined || accounts.includes(account));
  }
}

function present({ name, folder, realFolder, writable }: PinnedVolume): JobVolume {
  let now: string;
  try {
    now = realpathSync(folder);
  } catch (cause) {
    throw new AppError('unreachable', `The folder of the volume ${name} is missing. The job waits for it.`, { cause });
  }
  if (now === realFolder) return { name, folder, realFolder, isWritable: writable };
  const message = `The folder of the volume ${name} has changed since the service started. Ask the operator of the service to check it and to restart the service.`;
  throw new AppError('refused', message);
}
