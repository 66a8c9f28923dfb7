/** A job of the sweep. Texts are free of control characters. */
export interface SweepPageJob {
  /** From 0, in the order of the matrix. */
  readonly index: number;
  readonly parameters: readonly string[];
  readonly state: string;
  readonly time: string;
  readonly cost: string;
  /** What `time` and `cost` are sorted by: seconds, and credits or else core-hours; null if the text is empty. */
  readonly seconds: number | null;
  readonly spent: number | null;
  /** The last value of each metric; null if it has none that is finite. */
  readonly values: readonly (number | null)[];
  /** Whether it was sent, so that its page can be shown. */
  readonly isSent: boolean;
  /** The chosen metric; a value that is null is a gap. */
  readonly curve: readonly (readonly [step: number, value: number | null])[];
}

/** All that the page shows; each replaces the one before. */
export interface ToSweepPage {
  readonly type: 'sweep';
  readonly title: string;
  readonly summary: string;
  /** The names of the columns. */
  readonly parameters: readonly string[];
  readonly metrics: readonly string[];
  /** The metric of the curves; null if there are none. */
  readonly metric: string | null;
  /** The title of the column of costs. */
  readonly costTitle: string;
  readonly jobs: readonly SweepPageJob[];
  readonly canCancel: boolean;
  readonly canResume: boolean;
  readonly canDownload: boolean;
}

/** What the user did on the page. `ready`: it was loaded. */
export type FromSweepPage =
  | { readonly type: 'ready' | 'cancel' | 'resume' | 'download' }
  | { readonly type: 'open'; readonly index: number }
  | { readonly type: 'choose'; readonly metric: string }
  | { readonly type: 'edit'; readonly index: number };
