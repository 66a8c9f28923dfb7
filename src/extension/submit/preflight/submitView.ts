import type { SubmitPlan } from '../../../jobs/submit/plan.ts';

/** A plan, as shown in the editor. */
export interface SubmitView extends SubmitPlan {
  readonly folderName: string;
}
