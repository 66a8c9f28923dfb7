/** What a test run reports. `done` comes last in a run inside VS Code, or it was cut short. */
export type TestEvent =
  | { readonly type: 'pass'; readonly file: string; readonly title: string; readonly durationMs: number }
  | { readonly type: 'fail'; readonly file: string; readonly title: string; readonly error: string }
  | { readonly type: 'skip'; readonly file: string; readonly title: string }
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'done' };
