import { recordingEntrySchema } from '../../../agents/records/recordSchemas.ts';
import { describeRunEnd } from '../history/describeRun.ts';
import { readIfThere } from '../history/runFiles.ts';
import type { RunFolder } from '../history/runFolder.ts';
import type { RunRecord } from '../history/runRecord.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { inLaneOrder, type RunTimeline } from '../protocol/runTimeline.ts';
import { type ExpectedRun, type FlowTest, recordedReply } from './flowTestFile.ts';

/** The result of a run for a test. A file that could not run counts as a run that failed immediately. */
export function expectationsOf(all: readonly RunTimeline[], outcome: RunRecord['outcome']): ExpectedRun[] {
  // A replay that uses the result of an `exec` does not repeat the runs that it started.
  const timelines = all.filter(({ start }) => start.isInner !== true);
  const isWhole = outcome?.type === 'done' || (outcome?.type === 'failed' && timelines.some(({ end }) => end?.error));
  const failure = isWhole ? undefined : describeRunEnd(outcome);
  if (timelines.length === 0) return [{ flow: '', steps: [], shared: null, error: failure ?? 'no flow ran' }];
  return timelines.map((timeline, index) => {
    const { start, end, steps } = timeline;
    const error = end?.error?.message ?? (index === timelines.length - 1 ? failure : undefined);
    return {
      flow: start.name,
      steps: inLaneOrder(steps)
        .filter(({ type }) => type === 'node')
        .map(({ path, action, status }) => stepLine(path, action, status)),
      shared: timeline.stateAfter(steps.length - 1),
      ...(error !== undefined && { error }),
    };
  });
}

function stepLine(path: string, action: string | undefined, status: string): string {
  return `${path} -> ${status === 'done' ? (action ?? 'default') : status}`;
}

/** The recorded results of the runs, and all known replies of models. */
export async function keptIn(
  folders: readonly RunFolder[],
  earlierModels: FlowTest['models'] = [],
): Promise<Pick<FlowTest, 'recording' | 'models'>> {
  const readEntry = (value: unknown) => recordingEntrySchema.safeParse(value).data;
  const recording: FlowTest['recording'] = [];
  const models = [...earlierModels];
  for (const folder of folders) {
    for (const entry of parseLines(await readIfThere(folder.recording), readEntry)) recording.push(entry);
    const calls = parseLines(await readIfThere(folder.calls), (value) => recordedReply.safeParse(value).data);
    for (const call of calls) models.push(call);
  }
  return { recording, models: [...new Map(models.map((call) => [JSON.stringify(call), call])).values()] };
}
