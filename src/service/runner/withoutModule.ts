import { printableLine } from '../../core/text/printable.ts';
import { readJobText } from '../jobFiles/jobFileReading.ts';
import type { ExitMarker } from '../jobFiles/markers.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { nodeName } from './program/nodeName.ts';

const MAX_WORDS = 500;

/** The outcome of a job whose node cannot load a module: it has not started, and costs nothing. */
export async function withoutModule(name: string, folder: JobFolder): Promise<Omit<ExitMarker, 'at'>> {
  const node = nodeName();
  const words = printableLine(((await readJobText(folder.moduleLog, MAX_WORDS)) ?? '').trim().replaceAll(/\s+/g, ' '));
  const why = words === '' ? `${node} has no command "module".` : `The node says: ${words}`;
  const detail = `The job could not start: the module ${name} is not available on ${node}. ${why}`;
  return { outcome: 'not-started', code: null, signal: null, detail, ranSeconds: 0 };
}
