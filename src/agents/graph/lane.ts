import type { HostedPart } from '../run/runHost.ts';
import type { Frame, Lane } from './unit.ts';

/** The item or branch whose state the hooks in a frame get; undefined if that is the shared state of the run. */
export function partOf(frame: Frame): HostedPart | undefined {
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
    if (at.lane !== undefined) return { path: pathOf(at, at.lane), previous: previousOf(at.path, at.lane) };
  }
  return undefined;
}

function pathOf(frame: Frame, { isItem }: Lane): string {
  return isItem ? frame.path : frame.pathOf(frame.node);
}

function previousOf(path: string, { index, isItem, isParallel }: Lane): string | undefined {
  if (!isItem || isParallel || index === 0) return undefined;
  return `${path.slice(0, -`[${index}]`.length)}[${index - 1}]`;
}
