import { existsSync, readFileSync } from 'node:fs';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { type JobFolder, writeMarker } from './jobFolder.ts';

/** A folder of the machine that a job has besides its own. */
export interface JobVolume {
  readonly name: string;
  /** As configured, for jobs that see the machine's files. */
  readonly folder: string;
  /** Without links, as when the service started. */
  readonly realFolder: string;
  readonly isWritable: boolean;
}

/** Where a sandboxed job sees a volume: outside of its workspace, so that nothing of it is a result. */
export function placeInSandbox({ name }: Pick<JobVolume, 'name'>): string {
  return `/volumes/${name}`;
}

/** Records the volumes of a job for its runner. */
export function leaveVolumes(folder: JobFolder, volumes: readonly JobVolume[]): void {
  writeMarker(folder.volumes, volumes);
}

/** The volumes that were recorded for a job. */
export function readJobVolumes(folder: JobFolder): readonly JobVolume[] {
  if (!existsSync(folder.volumes)) return [];
  return parseOwnJson<readonly JobVolume[]>(readFileSync(folder.volumes, 'utf8'));
}
