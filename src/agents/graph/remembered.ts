import { type Awaitable, isPromise } from './awaitable.ts';
import type { ExecCall } from '../records/recording.ts';
import type { Visit } from '../run/visit.ts';

type RecordedPart = Pick<ExecCall, 'input' | 'item' | 'code'>;

/** Returns the recorded result of a call of `exec` if there is one; otherwise runs it, and records the result if the run records. */
export function remembered<O>(visit: Visit | undefined, part: RecordedPart, live: () => Awaitable<O>): Awaitable<O>;
export function remembered(visit: Visit | undefined, part: RecordedPart, live: () => unknown): unknown {
  if (visit?.isRemembered !== true) return live();
  const { record, replay } = visit.run.options;
  const call: ExecCall = { ...part, path: visit.path, visit: visit.number };
  const known = replay?.find(call);
  if (known !== undefined) {
    visit.isReplayed = true;
    record?.keep(call, known.result);
    return known.result;
  }
  const keep = (result: unknown): unknown => {
    record?.keep(call, result);
    return result;
  };
  const result = live();
  return isPromise(result) ? result.then(keep) : keep(result);
}
