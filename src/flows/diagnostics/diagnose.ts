import type { FlowFile } from '../graph/graph.ts';
import { replacedConnections, unconnectedActions, unreachableNodes, unusedConnections } from './connections.ts';
import { examine, fileFault, type FlowDiagnostic, type Severity } from './diagnostic.ts';
import { unwrittenKeys } from './keys.ts';
import { modelFaults } from './models.ts';
import { endlessCycles, missingStart } from './reachability.ts';

const RULES = [
  missingStart,
  unconnectedActions,
  replacedConnections,
  unusedConnections,
  unreachableNodes,
  endlessCycles,
  unwrittenKeys,
];

const MAX_DIAGNOSTICS = 500;
// Some rules scan the whole file for each of its flows.
const MAX_FLOWS = 200;
const SEVERITIES: readonly Severity[] = ['error', 'warning', 'hint'];

/** The problems of a flow file, in the order of the text. A stale file has only its syntax error. */
export function diagnose(file: FlowFile): FlowDiagnostic[] {
  const diagnostics: FlowDiagnostic[] = [];
  if (file.syntaxError !== undefined) {
    const { message, range } = file.syntaxError;
    const shown = file.isStale ? ' The last version without errors is shown until you fix it.' : '';
    diagnostics.push(fileFault('syntax', 'error', `${message}.${shown}`, range));
  }
  if (file.isStale) return diagnostics;
  for (const { reason, range } of file.unread) diagnostics.push(fileFault('unread', 'hint', reason, range));
  const here = file.flows.filter(({ range, edges }) =>
    [{ range }, ...edges].some((one) => one.range.file === file.file),
  );
  for (const graph of here.slice(0, MAX_FLOWS)) {
    const examined = examine(file, graph);
    for (const rule of RULES) for (const fault of rule(examined)) diagnostics.push(fault);
  }
  const [unchecked] = here.slice(MAX_FLOWS);
  if (unchecked !== undefined) {
    const message = `Only the first ${MAX_FLOWS} flows of a file are checked. This flow and those after it are not.`;
    diagnostics.push(fileFault('unread', 'hint', message, unchecked.range));
  }
  for (const fault of modelFaults(file)) diagnostics.push(fault);
  return worst(diagnostics).sort((a, b) => a.range.start.offset - b.range.start.offset);
}

/** A readable number of problems, errors first; the last one says how many more there are. */
function worst(diagnostics: readonly FlowDiagnostic[]): FlowDiagnostic[] {
  if (diagnostics.length <= MAX_DIAGNOSTICS) return [...diagnostics];
  const ranked = SEVERITIES.flatMap((severity) => diagnostics.filter((one) => one.severity === severity));
  const kept = ranked.slice(0, MAX_DIAGNOSTICS - 1);
  const [next = diagnostics[0]] = ranked.slice(kept.length);
  if (next === undefined) return kept;
  const more = (ranked.length - kept.length).toLocaleString('en-US');
  const message = `${more} more problems in this file are not listed, starting here.`;
  return [...kept, fileFault('unread', 'hint', message, next.range)];
}
