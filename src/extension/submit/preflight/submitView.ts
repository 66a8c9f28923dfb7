import type { SubmitPlan } from '../../../jobs/plan/plan.ts';

/** A plan, as shown in the editor. */
export interface SubmitView extends SubmitPlan {
  readonly folderName: string;
}
