import type { ScriptProblem } from './script.ts';

/** Something about a job that stops it from running (`error`), or that the service may refuse or charge for (`warning`). */
export interface JobFinding extends ScriptProblem {
  readonly type:
    | 'machine-class'
    | 'time-limit'
    | 'debug'
    | 'credits'
    | 'budget'
    | 'upload-size'
    | 'batch'
    | 'secrets'
    | 'volumes'
    | 'packages'
    | 'script'
    | 'command'
    | 'line-ends'
    | 'left-out-read'
    | 'outside-read'
    | 'absolute-path';
  readonly severity: 'error' | 'warning';
}
