import { realpathSync, statSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';

/**
 * The folder of a volume without links.
 *
 * @throws AppError `missing` if it is not there, `bad-input` if it is no folder.
 */
export function realFolderOf({ name, folder }: VolumeSettings): string {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch (cause) {
    const message = `The volume ${name}: ${folder} does not exist or is not accessible. Create or mount it, or correct its folder.`;
    throw new AppError('missing', message, { cause });
  }
  if (statSync(real).isDirectory()) return real;
  throw new AppError('bad-input', `The volume ${name}: ${folder} is not a folder.`);
}

/**
 * Refuses a volume with which a job could reach more than the volume. A job can replace anything in a folder that it can write with a
 * link, which the next job or the service would follow. The same folder may be two volumes, for those who write it and those who read it.
 *
 * @param paths.own files and folders of the service, which no volume may contain or lie in.
 * @throws AppError as `realFolderOf`; `bad-input` that names both.
 */
export function checkVolume(
  volume: VolumeSettings,
  { volumes, own }: { readonly volumes: readonly VolumeSettings[]; readonly own: readonly string[] },
): void {
  const real = realFolderOf(volume);
  const taken = own.find((path) => foldersOverlap(real, realOf(path)));
  if (taken !== undefined) {
    const message = `The volume ${volume.name}: jobs would reach ${taken} of the service with ${volume.folder}. Choose a folder that neither contains that nor lies in it.`;
    throw new AppError('bad-input', message);
  }
  const other = volumes.find((one) => {
    const folder = realOf(one.folder);
    return (volume.writable || one.writable) && folder !== real && foldersOverlap(folder, real);
  });
  if (other === undefined) return;
  const message = `The volumes ${volume.name} and ${other.name}: one of their folders lies in the other, and jobs can write one of them. A job could replace the inner one with a link, and the next job would see the link's target. Move one of them.`;
  throw new AppError('bad-input', message);
}

/** Whether one of two paths without links lies in the other, or they are the same. */
export function foldersOverlap(a: string, b: string): boolean {
  return pathInside(a, b) !== undefined || pathInside(b, a) !== undefined;
}

/** A path that need not exist, without links as far as it does. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
