/** What a test run inside VS Code reports to the process that started it. `done` comes last, or the run was cut short. */
export type TestEvent =
  | { readonly type: 'pass'; readonly title: string; readonly durationMs: number }
  | { readonly type: 'fail'; readonly title: string; readonly error: string }
  /** A failure whose file runs once more. */
  | { readonly type: 'retry'; readonly title: string; readonly error: string }
  | { readonly type: 'skip'; readonly title: string }
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'done' };
