import type { Dictionary } from './dictionary.ts';

/** What the index knows about a file or another source of text. */
export interface Source {
  /** The file, relative to its folder and with '/', or the URL of the text. */
  readonly path: string;
  readonly size: number;
  /** The file system's time of the last change; 0 if that is not reliable. */
  readonly mtimeMs: number;
  /** The hash of its bytes; a value that depends on the reason if they were not read; empty if there is no file. */
  readonly hash: string;
  /** Whether it has chunks, the reason why not, or that it was removed; a later segment replaces earlier ones for a path. */
  readonly status: SourceStatus;
}

/** `generated` files are indexed too; their first lines say that a program wrote them. */
export const SOURCE_STATUSES = ['indexed', 'generated', 'binary', 'too-large', 'unreadable', 'removed'] as const;
export type SourceStatus = (typeof SOURCE_STATUSES)[number];

export function hasChunks(status: SourceStatus): boolean {
  return status === 'indexed' || status === 'generated';
}

/** A source of a segment with its chunks, which are consecutive. */
export interface SegmentSource extends Source {
  readonly firstDocument: number;
  readonly documentCount: number;
}

/**
 * An immutable index of some sources, in typed arrays that can be passed to another thread or written to disk unchanged. A document is
 * a chunk, numbered from 0.
 */
export interface Segment {
  readonly sources: readonly SegmentSource[];
  /** The number of words in each document's text, at most MAX_LENGTH. */
  readonly lengths: Uint16Array;
  /** 1-based, including the last line. */
  readonly firstLines: Uint32Array;
  readonly lastLines: Uint32Array;
  readonly dictionary: Dictionary;
  readonly postings: Uint8Array;
  readonly postingCount: number;
}
