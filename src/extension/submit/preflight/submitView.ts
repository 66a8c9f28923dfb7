import type { SubmitPlan } from '../../../jobs/submit/plan.ts';

/** A plan as the editor shows it. */
export interface SubmitView extends SubmitPlan {
  readonly folderName: string;
}
