/** Rows of the Jobs view. They contain only names, so that a row stays the same object while its job changes. */
export type JobNode =
  | { readonly type: 'group'; readonly group: JobGroup }
  | { readonly type: 'sweep'; readonly sweep: string }
  | { readonly type: 'job'; readonly id: string }
  | { readonly type: 'more' };

export const JOB_GROUPS = ['active', 'today', 'yesterday', 'week', 'older'] as const;
export type JobGroup = (typeof JOB_GROUPS)[number];
