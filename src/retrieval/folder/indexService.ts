import type { FolderHit } from './folderSearch.ts';
import type { MeaningState } from '../semantic/meaning.ts';

/** A folder that is open in the editor. */
export interface OpenFolder {
  readonly path: string;
  /** Whether git may be run in it; else its ignore files are read without git. */
  readonly isTrusted: boolean;
}

/** A notice that something changed on disk; paths are absolute, of files or of whole folders. */
export type FileChange =
  | { readonly type: 'created' | 'changed' | 'deleted'; readonly path: string }
  | { readonly type: 'renamed'; readonly path: string; readonly from: string };

export interface SearchRequest {
  readonly limit: number;
  /** Whether the last word is still being typed, so that it stands for all words that begin with it. */
  readonly isTyping?: boolean | undefined;
  /** Whether the ranking by meaning counts where there is one; unless given, it does when nobody is typing: it takes a run of a model. */
  readonly byMeaning?: boolean | undefined;
  /** The folders to search, as they were opened; without it all of them. */
  readonly folders?: readonly string[] | undefined;
}

/** A place that was found; `path` is relative to `folder`, which is as it was opened. */
export interface ServiceHit extends FolderHit {
  readonly folder: string;
}

export interface RelatedRequest extends Omit<SearchRequest, 'isTyping' | 'byMeaning'> {
  /** Where the text stands, absolute and from 1, so that it is not found itself. */
  readonly at?: { readonly path: string; readonly startLine: number; readonly endLine: number } | undefined;
}

/**
 * `building` while the folder is gone through, at the start and when its ignore rules change; `ready` also while single
 * changes are taken in; `waiting` with much to read while energy is saved; `error` until the next change that succeeds.
 */
export type FolderState = 'building' | 'ready' | 'waiting' | 'paused' | 'error';

export interface FolderStatus {
  /** As it was opened. */
  readonly folder: string;
  readonly state: FolderState;
  /** Files that can be found, their chunks, and the bytes that the index has on disk. */
  readonly files: number;
  readonly chunks: number;
  readonly bytes: number;
  /** How many files were passed over. */
  readonly passedOver: number;
  /** Changed files that are not taken in yet. */
  readonly pending: number;
  /** While it builds: of the bytes to read. */
  readonly progress: { readonly doneBytes: number; readonly totalBytes: number } | undefined;
  /** Milliseconds since 1970; undefined before the first update. */
  readonly updatedAt: number | undefined;
  /** Whether this process writes the index; another one does otherwise, and this one takes over when that ends. */
  readonly isWriter: boolean;
  readonly problem: { readonly code: string; readonly message: string } | undefined;
  /** Of the ranking by meaning; absent where the folder is ranked by words alone. */
  readonly meaning?: MeaningState | undefined;
}

/** A file or folder that is not searched, and the name of the rule or the reason. */
export interface PassedOver {
  /** Relative to the folder. */
  readonly path: string;
  readonly type: 'file' | 'directory';
  /** `gitignore`, `secret`, `binary`, `too-large`, `unreadable` and so on. */
  readonly reason: string;
  readonly rule?: string | undefined;
  /** Where the rule stands: `sub/.gitignore:3`. */
  readonly at?: string | undefined;
}

/** The indexes of the open folders, kept up to date. It is served by a thread of its own. */
export interface IndexService {
  /** Keeps exactly these folders up to date from now on. It answers at once; the building goes on behind it. */
  open(folders: readonly OpenFolder[]): Promise<void>;

  /** Takes in what changed, soon and in batches; a folder's own path means that anything in it may have changed. */
  notify(changes: readonly FileChange[]): Promise<void>;

  /** Searches a file as it is on screen instead of on disk, or as on disk again. The text is never written anywhere. */
  setOverlay(path: string, text: string | undefined): Promise<void>;

  /** The best places of all folders, best first. What is not indexed yet is not found. */
  search(query: string, request: SearchRequest): Promise<readonly ServiceHit[]>;

  /** Places that are about the same things as a text. */
  related(text: string, request: RelatedRequest): Promise<readonly ServiceHit[]>;

  status(): Promise<readonly FolderStatus[]>;

  /** Calls `onStatus` now and with each change, a few times a second at most, until the signal aborts. */
  follow(onStatus: (status: readonly FolderStatus[]) => void, options: { readonly signal: AbortSignal }): Promise<void>;

  /** Stops taking in changes; what is there is searched. Another window goes on meanwhile. */
  pause(): Promise<void>;

  /** Takes in what changed meanwhile, and what changes from now on. What energy is saved on goes on too. */
  resume(): Promise<void>;

  /** While the machine runs on battery, what reads or embeds much waits; single changes are taken in as ever. */
  saveEnergy(isSaving: boolean): Promise<void>;

  /** Builds the indexes of these folders anew, or of all. */
  rebuild(folders?: readonly string[]): Promise<void>;

  /** Takes up what was chosen for the open folders, to rank them by meaning or by words alone. */
  reloadMeaning(): Promise<void>;

  /** The first `limit` of what is not searched in a folder, by path, and how many there are. */
  passedOver(
    folder: string,
    options: { readonly limit: number },
  ): Promise<{ readonly total: number; readonly items: readonly PassedOver[] }>;

  /** Resolves when all that was notified before is in the index, or cannot be. */
  settle(): Promise<void>;
}
