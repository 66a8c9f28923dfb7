/** A packed file. */
export interface ManifestEntry {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}
