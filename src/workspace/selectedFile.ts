export interface SelectedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  readonly mtimeMs: number;
  /** Where the bytes come from, absolute, when not from that path of the folder. */
  readonly source?: string;
}

/** Something a person should see before the files are sent. */
export interface Finding {
  readonly type: 'secret' | 'large-file' | 'tracked-but-ignored';
  readonly path: string;
  readonly message: string;
}
