/** The values of one job, with the last ones in words. */
export interface ShownCurve {
  readonly text: string;
  /** In any order; a value that is null is a gap. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

/** A series to plot. */
export interface ShownPlot extends ShownCurve {
  readonly name: string;
  /** What positions are: milliseconds since 1970, or steps of the job's own. */
  readonly axis: 'time' | 'step';
  /** Those of the compared jobs, in their order; null for a job without this series. */
  readonly others: readonly (ShownCurve | null)[];
}

/** What the buttons of the page do. */
export const PAGE_ACTIONS = [
  'showLog',
  'attachDebugger',
  'extendHold',
  'giveUpDebugging',
  'cancelJob',
  'openJobTerminal',
  'browseRunningJob',
  'openJobPort',
  'browseResults',
  'downloadResults',
  'comparePlots',
  'compareSubmitted',
  'resubmitJob',
] as const;
export type PageAction = (typeof PAGE_ACTIONS)[number];

/** A line of output. */
export interface ShownLine {
  readonly text: string;
  /** Where it names code of the folder, in order. */
  readonly links: readonly { readonly start: number; readonly end: number }[];
}

/** All that the page shows, except previews; each replaces the one before. Texts are free of control characters. */
export interface ShownPage {
  readonly type: 'page';
  /** The script. */
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly actions: readonly PageAction[];
  readonly timeline: readonly string[];
  readonly plots: readonly ShownPlot[];
  /** The names of the jobs that the plots compare this one with, at most four. */
  readonly compared: readonly string[];
  /** How many metrics have no plot. */
  readonly otherMetrics: number;
  /** The last lines of the output. */
  readonly output: readonly ShownLine[];
  readonly results: string | null;
  readonly advice: string | null;
}

/** A picture or table that is shown without being opened. */
export type ShownPreview =
  | { readonly type: 'picture'; readonly name: string; readonly data: string }
  | { readonly type: 'table'; readonly name: string; readonly rows: readonly (readonly string[])[] };

/** Each replaces the ones before. */
interface ShownPreviews {
  readonly type: 'previews';
  /** Pictures that the job printed. */
  readonly printed: readonly ShownPreview[];
  /** Of results. */
  readonly results: readonly ShownPreview[];
}

export type ToJobPage = ShownPage | ShownPreviews;

export type FromJobPage =
  | { readonly type: 'ready' }
  | { readonly type: 'run'; readonly action: PageAction }
  /** Opens the code that a line of output names from this character on. */
  | { readonly type: 'open'; readonly line: string; readonly start: number };
