import { fieldOf, textField } from '../../core/jsonFields.ts';
import { MarkedLineReader } from '../../core/text/markedLines.ts';
import { logTextOf } from '../../remote/protocol/spellings.ts';
import { jobPause, type JobRecord } from '../ledger/record.ts';

// Limited, because it is stored in the job's record, which every window reads.
const MAX_CHARACTERS = 20_000;

/** Finds what the flow of a job waits for among the job's events: `flow` events, or marked lines in the log of other services. */
export class FlowPauses {
  readonly #lines = new MarkedLineReader();

  /** The pause with which a run of the flow ended, null if it ended without one; undefined for other events. */
  push(event: string, data: unknown): JobRecord['waiting'] | undefined {
    if (event === 'flow') return pauseOf(data);
    const text = logTextOf(event, data);
    if (text === undefined || textField(data, 'stream') === 'stderr') return undefined;
    const values = this.#lines.push(text).flatMap((piece) => (piece.type === 'value' ? [piece.value] : []));
    return values.map(pauseOf).findLast((pause) => pause !== undefined);
  }
}

function pauseOf(event: unknown): JobRecord['waiting'] | undefined {
  if (fieldOf(event, 'type') !== 'run-end') return undefined;
  const pause = jobPause.safeParse(fieldOf(event, 'pause')).data;
  return pause === undefined || JSON.stringify(pause).length > MAX_CHARACTERS ? null : pause;
}
