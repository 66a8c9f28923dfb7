import type { FlowFile } from '../graph.ts';
import { unconnectedActions, unreachableNodes, unusedConnections } from './connections.ts';
import { examine, type FlowDiagnostic } from './diagnostic.ts';
import { unwrittenKeys } from './keys.ts';
import { modelFaults } from './models.ts';
import { endlessCycles, missingStart } from './ways.ts';

const RULES = [missingStart, unconnectedActions, unusedConnections, unreachableNodes, endlessCycles, unwrittenKeys];

/** What is wrong in a file of flows, in the order of the text. A stale file tells its syntax error alone. */
export function diagnose(file: FlowFile): FlowDiagnostic[] {
  const diagnostics: FlowDiagnostic[] = [];
  if (file.syntaxError !== undefined) {
    const { message, range } = file.syntaxError;
    const shown = file.isStale ? ' The flow as it was before is shown until it is mended.' : '';
    diagnostics.push({
      code: 'syntax',
      severity: 'error',
      message: `${message}.${shown}`,
      range,
      related: [],
      fixes: [],
    });
  }
  if (file.isStale) return diagnostics;
  for (const { reason, range } of file.unread) {
    diagnostics.push({ code: 'unread', severity: 'hint', message: reason, range, related: [], fixes: [] });
  }
  for (const graph of file.flows) {
    const isHere = graph.range.file === file.file || graph.edges.some(({ range }) => range.file === file.file);
    if (!isHere) continue;
    const examined = examine(file, graph);
    for (const rule of RULES) diagnostics.push(...rule(examined));
  }
  diagnostics.push(...modelFaults(file));
  return diagnostics.sort((a, b) => a.range.start.offset - b.range.start.offset);
}
