import type { IndexHit } from '../index/indexSearch.ts';
import type { AskedWords, TextMatches } from '../index/highlights.ts';
import type { SemanticState } from '../semantic/semanticRanking.ts';

/** A folder that is open in the editor. */
export interface OpenFolder {
  readonly path: string;
  /** Whether git may be run in it; if not, its ignore files are read without git. */
  readonly isTrusted: boolean;
  /** Whether past commits are evidence for the ranking, if git may be run; false if absent. */
  readonly usesHistory?: boolean;
}

/** A change on disk; paths are absolute, of files or of whole folders. */
export type FileChange =
  | { readonly type: 'created' | 'changed' | 'deleted'; readonly path: string }
  | { readonly type: 'renamed'; readonly path: string; readonly from: string };

export interface SearchRequest {
  readonly limit: number;
  /** Whether the last word is still being typed, so that it matches all words that begin with it. */
  readonly isTyping?: boolean | undefined;
  /** Whether to use semantic ranking if a model is selected. By default only when the user is not typing, because it runs the model. */
  readonly isSemantic?: boolean | undefined;
  /** Whether each matching chunk is a result, instead of each file. */
  readonly isByPlace?: boolean | undefined;
  /** The folders to search, with the paths under which they were opened; undefined for all. */
  readonly folders?: readonly string[] | undefined;
}

/** A search result. `path` is relative to `folder`, which is the path under which the folder was opened. */
export interface ServiceHit extends IndexHit {
  readonly folder: string;
}

export interface RelatedRequest extends Omit<SearchRequest, 'isTyping' | 'isSemantic' | 'isByPlace'> {
  /** The location of the text, absolute and 1-based, which is left out of the results. */
  readonly at?: { readonly path: string; readonly startLine: number; readonly endLine: number } | undefined;
}

/**
 * `building` while the whole folder is read, at the start and when its ignore rules change; `ready` also while single changes are
 * indexed; `waiting` if much is to be read while saving energy; `error` until the next change succeeds.
 */
export type FolderState = 'building' | 'ready' | 'waiting' | 'paused' | 'error';

export interface FolderStatus {
  /** The path under which it was opened. */
  readonly folder: string;
  readonly state: FolderState;
  /** Indexed files, their chunks, and the size of the index on disk in bytes. */
  readonly files: number;
  readonly chunks: number;
  readonly bytes: number;
  /** The number of skipped files. */
  readonly skipped: number;
  /** The number of changed files that are not indexed yet. */
  readonly pending: number;
  /** Progress of a build, in bytes. */
  readonly progress: { readonly doneBytes: number; readonly totalBytes: number } | undefined;
  /** Milliseconds since 1970; undefined before the first update. */
  readonly updatedAt: number | undefined;
  /** Whether this process writes the index. If not, another one does, and this one takes over when that one stops. */
  readonly isWriter: boolean;
  readonly problem: { readonly code: string; readonly message: string } | undefined;
  /** The state of semantic ranking; undefined if the folder uses keyword ranking only. */
  readonly semantic?: SemanticState | undefined;
}

/** A file or folder that is not searched, with the rule or reason. */
export interface SkippedPath {
  /** Relative to the folder. */
  readonly path: string;
  readonly type: 'file' | 'directory';
  /** `gitignore`, `secret`, `binary`, `too-large`, `unreadable` and so on. */
  readonly reason: string;
  readonly rule?: string | undefined;
  /** The location of the rule, like `sub/.gitignore:3`. */
  readonly at?: string | undefined;
}

/** The indexes of the open folders, kept up to date in a separate thread. */
export interface IndexService {
  /** Keeps exactly these folders up to date from now on. Returns at once and builds in the background. */
  open(folders: readonly OpenFolder[]): Promise<void>;

  /** Reports changes, which are indexed soon and in batches. A folder's own path means that anything in it may have changed. */
  notify(changes: readonly FileChange[]): Promise<void>;

  /** Makes searches use the editor's text of a file; undefined restores the version on disk. The text is never stored. */
  setOverlay(path: string, text: string | undefined): Promise<void>;

  /** The best results in all folders, best first. Files that are not indexed yet are not found. */
  search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]>;

  /** The query with its misspelt words corrected, which a search uses; undefined if each word is known in one of the folders. */
  correct(query: string, request: Pick<SearchRequest, 'isTyping' | 'folders'>): Promise<string | undefined>;

  /** Finds the parts of each text that match the words of a query. */
  highlight(query: AskedWords, texts: readonly string[]): Promise<readonly TextMatches[]>;

  /** Results that are similar to a text. */
  related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]>;

  status(): Promise<readonly FolderStatus[]>;

  /** Calls `onStatus` now and after each change, at most a few times per second, until the signal aborts. */
  follow(onStatus: (status: readonly FolderStatus[]) => void, options: { readonly signal: AbortSignal }): Promise<void>;

  /** Stops indexing changes. The existing index can still be searched, and other windows continue. */
  pause(): Promise<void>;

  /** Indexes what changed meanwhile and what changes from now on, including work that waits in order to save energy. */
  resume(): Promise<void>;

  /** On battery power, large builds and embedding wait; single changes are indexed as usual. */
  saveEnergy(isSaving: boolean): Promise<void>;

  /** Rebuilds the indexes of these folders, or of all. */
  rebuild(folders?: readonly string[]): Promise<void>;

  /** Applies the ranking that was selected for the open folders, semantic or keyword. */
  reloadEmbeddingModel(): Promise<void>;

  /** The first `limit` unindexed paths of a folder, sorted, and their total number. */
  skipped(
    folder: string,
    options: { readonly limit: number },
  ): Promise<{ readonly total: number; readonly items: readonly SkippedPath[] }>;

  /** Whether this service has work to do, or would take long to open the folders again. If not, its thread can be stopped. */
  isNeeded(): Promise<boolean>;

  /** Resolves when all changes reported so far are indexed, or cannot be. */
  settle(): Promise<void>;
}
