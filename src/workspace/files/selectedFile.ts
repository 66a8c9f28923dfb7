export interface SelectedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;
  readonly mtimeMs: number;
  /** Set if the user included this file, so that it is sent even if it contains secrets. */
  readonly mayHoldSecrets?: true;
  /** Absolute path of the contents, if they are not at `path` in the folder. */
  readonly source?: string;
  /** Whether `source` is what a link at `path`, or at a folder above it, leads to. Packing checks that it still does. */
  readonly isLinked?: true;
}

/** Something that the user should see before the files are sent. */
export interface Finding {
  readonly type:
    | 'secret'
    | 'large-file'
    | 'same-name'
    | 'tracked-but-ignored'
    | 'foreign-repository'
    | 'link'
    | 'choice';
  /** Relative to the root; for a repository, the absolute path of its folder. */
  readonly path: string;
  readonly message: string;
  /** Of a chosen link: the absolute path of what it leads to. */
  readonly target?: string;
}
