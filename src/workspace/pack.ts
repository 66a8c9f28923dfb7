import type { Selection } from './selection.ts';

export interface ManifestEntry {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

export interface PackedWorkspace {
  readonly path: string;
  readonly bytes: number;
  /** Of the archive, lower-case hexadecimal. */
  readonly sha256: string;
  readonly manifest: readonly ManifestEntry[];
}

export interface PackOptions {
  readonly signal?: AbortSignal;
  onProgress?(doneBytes: number, totalBytes: number): void;
}

/** Writes the selected files as a `.tar.gz` to `dest`; nothing is left there on failure. */
export async function packWorkspace(
  _selection: Selection,
  _dest: string,
  _options: PackOptions = {},
): Promise<PackedWorkspace> {
  throw new Error('not built yet');
}
