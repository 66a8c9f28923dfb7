import type { Dictionary } from './dictionary.ts';

/** What is known of a file, or of another source of text. */
export interface Source {
  /** The file, relative to its folder and with '/', or the address that the text came from. */
  readonly path: string;
  readonly size: number;
  /** When it was last changed, as the file system tells it; 0 where that cannot be relied on. */
  readonly mtimeMs: number;
  /** Of its bytes; where they were not read, something that changes with the reason. Empty where there is no file. */
  readonly hash: string;
  /** `indexed`, why it has no chunks, or that it is gone: a later segment takes the place of earlier ones for a path. */
  readonly status: SourceStatus;
}

export const SOURCE_STATUSES = ['indexed', 'binary', 'too-large', 'unreadable', 'removed'] as const;
export type SourceStatus = (typeof SOURCE_STATUSES)[number];

/** A source of a segment, with its chunks, which follow each other. */
export interface SegmentSource extends Source {
  readonly firstDocument: number;
  readonly documentCount: number;
}

/**
 * An index of some sources that never changes: typed arrays, which can be handed to another thread or written to disk as they
 * are. A document is a chunk, numbered from 0.
 */
export interface Segment {
  readonly sources: readonly SegmentSource[];
  /** Words of each document's text, MAX_LENGTH at most. */
  readonly lengths: Uint16Array;
  /** From 1, the last line included. */
  readonly firstLines: Uint32Array;
  readonly lastLines: Uint32Array;
  readonly dictionary: Dictionary;
  readonly postings: Uint8Array;
  readonly postingCount: number;
}
