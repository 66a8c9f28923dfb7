import { type Awaitable, isPromise } from './awaitable.ts';
import type { ExecCall } from '../run/recording.ts';
import type { Visit } from '../run/visit.ts';

/** Answers a call of `exec` from the run's recording where it can; otherwise runs it, and keeps the result where one is made. */
export function remembered<O>(
  visit: Visit | undefined,
  part: Pick<ExecCall, 'input' | 'item' | 'code'>,
  live: () => Awaitable<O>,
): Awaitable<O> {
  if (visit?.isRemembered !== true) return live();
  const { record, replay } = visit.run.options;
  const call: ExecCall = { ...part, path: visit.path, visit: visit.number };
  const known = replay?.find(call);
  if (known !== undefined) {
    visit.isReplayed = true;
    record?.keep(call, known.result);
    return known.result as O;
  }
  const keep = (result: O): O => {
    record?.keep(call, result);
    return result;
  };
  const result = live();
  return isPromise(result) ? result.then(keep) : keep(result);
}
