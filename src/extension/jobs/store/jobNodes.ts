/** Rows of the Jobs view. They contain only names, so that a row stays the same object while its job changes. */
export type JobNode =
  | { readonly type: 'group'; readonly group: string }
  | { readonly type: 'sweep'; readonly sweep: string; readonly group: string }
  | { readonly type: 'job'; readonly id: string }
  /** Shows more rows of a group, or without one, more jobs of the ledger. */
  | { readonly type: 'more'; readonly group?: string };

/** What the groups of the Jobs view stand for. */
export const GROUPINGS = ['day', 'state', 'project', 'sweep'] as const;
export type Grouping = (typeof GROUPINGS)[number];
