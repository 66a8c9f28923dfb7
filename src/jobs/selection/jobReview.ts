import type { Selection } from '../../workspace/select/selection.ts';
import type { JobFinding } from './jobFinding.ts';
import { reviewPackages } from './packageReview.ts';
import { reviewScript } from './scriptReview.ts';
import { lineEndFindings, readScriptHead, type ScriptHead } from './scriptHead.ts';

/** What a job runs and installs. */
export interface ReviewedJob {
  readonly script: string;
  readonly venv?: Readonly<Record<string, unknown>> | undefined;
}

/** What is known about a job from the files to send. */
export interface JobReview {
  /** What is wrong with the script, or with the files it seems to read. */
  readonly findings: readonly JobFinding[];
  /** What is wrong with the lists of its packages, for a service that installs them as ours does. */
  readonly packageFindings: readonly JobFinding[];
  /** Undefined if the script is not among the files. */
  readonly start: ScriptHead | undefined;
}

/** Compares a job with the files to send. */
export async function reviewJob(selection: Selection, { script, venv }: ReviewedJob): Promise<JobReview> {
  const [findings, packageFindings, start] = await Promise.all([
    reviewScript(selection, script),
    reviewPackages(selection, venv),
    readScriptHead(selection, script),
  ]);
  return { findings: [...findings, ...(start ? lineEndFindings(start) : [])], packageFindings, start };
}
