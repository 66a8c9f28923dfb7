import type { TarFile } from '../archive/tarFormat.ts';

/** A file of an archive with its checksum. */
export interface ManifestEntry extends TarFile {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Whether the file was sent because a chosen link leads to it. */
  readonly isLinked?: true;
  /** Whether what is packed differs from what the file contains. */
  readonly isRewritten?: true;
}
