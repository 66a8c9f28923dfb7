import type { CostEstimate, Rate } from '../../../jobs/submit/estimate.ts';
import type { JobFinding } from '../../../jobs/submit/preflight.ts';
import type { Selection } from '../../../workspace/select/selection.ts';

/** A submit as it is being decided. */
export interface SubmitDraft {
  readonly script: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly machineClass?: string;
  readonly project?: string;
  /** Whether the packages of requirements.txt are installed first. */
  readonly usesRequirements: boolean;
  /** Paths sent although a rule leaves them out. */
  readonly include: readonly string[];
  /** Paths left out by hand. */
  readonly exclude: readonly string[];
}

/** What a draft means for this folder and this account at the moment. */
export interface SubmitView {
  readonly folderName: string;
  readonly host: string;
  readonly selection: Selection;
  readonly rates: readonly Rate[];
  readonly estimate: CostEstimate;
  /** What the service would refuse of it. */
  readonly findings: readonly JobFinding[];
  /** The largest archive that the service accepts, where it states that. */
  readonly maxUploadBytes: number | undefined;
}
