import { existsSync, readFileSync, rmSync } from 'node:fs';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { type JobFolder, writeMarker } from './jobFolder.ts';

/** The container that a job's programs run in. Its executor writes it to the job's folder before the runner starts. */
export interface JobContainer {
  readonly runtime: 'apptainer' | 'pyxis';
  /** The absolute path of a file on the node, or where the runtime fetches it. */
  readonly image: string;
  /** Whether the job's GPUs of NVIDIA are passed into it. */
  readonly hasGpus: boolean;
}

/** Records the container of a job, or that it has none. */
export function leaveContainer(folder: JobFolder, container: JobContainer | undefined): void {
  if (container === undefined) rmSync(folder.container, { force: true });
  else writeMarker(folder.container, container);
}

/** The container of a job; undefined if it has none. */
export function readContainer(folder: JobFolder): JobContainer | undefined {
  if (!existsSync(folder.container)) return undefined;
  return parseOwnJson<JobContainer>(readFileSync(folder.container, 'utf8'));
}

/** Whether an image is fetched before it is used, rather than a file of the node. */
export function isFetched({ image }: Pick<JobContainer, 'image'>): boolean {
  return !image.startsWith('/');
}
