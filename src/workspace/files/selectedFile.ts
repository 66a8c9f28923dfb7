export interface SelectedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  readonly mtimeMs: number;
  /** Whether a person chose this file, so that it is sent whatever it holds. */
  readonly mayHoldSecrets?: true;
  /** Where the bytes come from, absolute, when not from that path of the folder. */
  readonly source?: string;
}

/** Something a person should see before the files are sent. */
export interface Finding {
  readonly type: 'secret' | 'large-file' | 'tracked-but-ignored' | 'foreign-repository';
  /** Relative to the root; of a repository the absolute path of its folder. */
  readonly path: string;
  readonly message: string;
}
