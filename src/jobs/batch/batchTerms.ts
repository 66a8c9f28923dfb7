import { printableLine } from '../../core/text/printable.ts';
import { receivedAccount, type RateCardItem, UNPRICED_FEATURE } from '../../remote/protocol/schemas.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { BatchRequest, Remark } from './batchJob.ts';

const MAX_REMARKS = 20;
const SHOWN_OPTION = 100;
// A class without GPUs is smaller than any with one.
const GPU_IN_CORES = 10_000;

/** What a submit shows and decides about the batch script that it came from. */
export interface BatchTerms {
  /** The path of the script, as shown. */
  readonly source: string;
  readonly remarks: readonly Remark[];
  /** The resources by which a machine class is chosen; undefined once one was chosen. */
  readonly request: BatchRequest | undefined;
  readonly choice?: ClassChoice;
}

interface ClassChoice {
  /** Undefined for the default of the service. */
  readonly machineClass: string | undefined;
  readonly remarks: readonly Remark[];
}

/** The options of its batch script that a job with this machine class does not use. */
export function batchFindings(
  { source, remarks, choice }: BatchTerms,
  machineClass: string | undefined,
): readonly JobFinding[] {
  const classRemarks = choice === undefined || choice.machineClass !== machineClass ? [] : choice.remarks;
  const all = [...remarks, ...classRemarks].toSorted((a, b) => a.line - b.line);
  // Errors are shown whatever else a script has.
  const shownRemarks = all.filter(({ isFatal }, index) => isFatal === true || index < MAX_REMARKS);
  const findings = shownRemarks.map(({ line, option, reason, isFatal = false }): JobFinding => {
    const words = option.length > SHOWN_OPTION ? `${option.slice(0, SHOWN_OPTION)}…` : option;
    return {
      type: 'batch',
      severity: isFatal ? 'error' : 'warning',
      summary: printableLine(`Line ${line} of ${source}, ${words}, is not used`),
      detail: printableLine(reason),
    };
  });
  const more = all.length - shownRemarks.length;
  if (more === 0) return findings;
  const summary = printableLine(`${more.toLocaleString('en-US')} more options of ${source} are not used`);
  return [...findings, { type: 'batch', severity: 'warning', summary, detail: 'Only the first are listed.' }];
}

/**
 * The machine class of a rate card for what a batch script asks of its machine: the one with the name of a partition, else the cheapest
 * one with enough cores, memory and GPUs; of several without a price, the smallest.
 *
 * @param account the response of `GET /v1/me`; undefined if there is none.
 */
export function chooseMachineClass(account: unknown, request: BatchRequest): ClassChoice {
  const { partitions, resources } = request;
  const { rate_card: card, features } = receivedAccount.safeParse(account).data ?? {};
  const withoutPrice = features?.includes(UNPRICED_FEATURE) === true ? 0 : Infinity;
  const priceOf = (one: RateCardItem): number => one.credits_per_minute ?? withoutPrice;
  const sizeOf = (one: RateCardItem): number =>
    typeof one.credits_per_minute === 'number' ? 0 : (one.gpus ?? 0) * GPU_IN_CORES + (one.cpus ?? 0);
  const classes = (card ?? [])
    .filter(({ machine_class: name }) => typeof name === 'string')
    .toSorted((a, b) => priceOf(a) - priceOf(b) || sizeOf(a) - sizeOf(b));
  const named = partitions?.names
    .map((name) => classes.find(({ machine_class }) => machine_class === name))
    .find((one) => one !== undefined);
  if (named !== undefined) {
    const isEnough = resources === undefined || fits(named, request);
    const reason = `Machine class ${named.machine_class} has ${describe(named)}. Choose another one if the job needs more.`;
    return {
      machineClass: named.machine_class ?? undefined,
      remarks: isEnough ? [] : [{ ...resources, reason }],
    };
  }
  const remarks: Remark[] = [];
  const names = classes.map(({ machine_class: name }) => name).join(', ');
  const offers = names === '' ? 'The service lists no machine classes.' : `Machine classes: ${names}.`;
  if (partitions !== undefined) {
    const { line, option } = partitions;
    remarks.push({ line, option, reason: `No machine class has the name of a partition. ${offers}` });
  }
  if (resources === undefined) return { machineClass: undefined, remarks };
  const enough = classes.filter((one) => fits(one, request));
  const { gpuType } = request;
  const ofType = enough.find((one) => gpuType !== undefined && hasWord(one, gpuType));
  const choice = ofType ?? enough[0];
  if (choice === undefined) {
    const reason = `No machine class is large enough, so the job gets the default one. ${offers} Choose one if it needs more.`;
    remarks.push({ ...resources, reason });
  } else if (gpuType !== undefined && ofType === undefined) {
    const reason = `No machine class names GPUs of type ${gpuType}. The job gets ${choice.machine_class}, with ${describe(choice)}.`;
    remarks.push({ ...resources, reason });
  }
  return { machineClass: choice?.machine_class ?? undefined, remarks };
}

/** Whether a machine class has enough. What it does not state counts as enough. */
function fits({ cpus, memory_gb: memoryGb, gpus }: RateCardItem, request: BatchRequest): boolean {
  const isEnough = (has: number | null | undefined, needs: number | undefined): boolean =>
    needs === undefined || typeof has !== 'number' || has >= needs;
  return isEnough(cpus, request.cpus) && isEnough(memoryGb, request.memoryGb) && isEnough(gpus, request.gpus);
}

function hasWord({ machine_class: name, description }: RateCardItem, word: string): boolean {
  return `${name ?? ''} ${description ?? ''}`.toLowerCase().includes(word.toLowerCase());
}

/** `2 cores, 8 GB`. */
function describe({ cpus, memory_gb: memoryGb, gpus }: RateCardItem): string {
  const parts = [
    ...(typeof cpus === 'number' ? [`${cpus} cores`] : []),
    ...(typeof memoryGb === 'number' ? [`${memoryGb} GB`] : []),
    ...(typeof gpus === 'number' && gpus > 0 ? [`${gpus} GPUs`] : []),
  ];
  return parts.length === 0 ? 'unknown resources' : parts.join(', ');
}
