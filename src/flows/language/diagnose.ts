import type { FlowFile, FlowNode, ModelUse } from '../graph/graph.ts';
import { replacedConnections, unconnectedActions, unreachableNodes, unusedConnections } from './connectionChecks.ts';
import {
  examine,
  type Examined,
  fileFault,
  type FlowDiagnostic,
  insideQuotes,
  MAX_FAULTS,
  MAX_RELATED,
  placeOfFlow,
  placeOfNode,
  type Severity,
} from './diagnostic.ts';
import { unwrittenKeys } from './keyChecks.ts';
import { PROVIDER_NAMES, providerOfModel } from '../../agents/llm/providers.ts';
import { closest, editDistance } from '../../core/text/similar.ts';

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

// With more different letters than this, it is another name rather than a misspelling.
const MAX_DISTANCE = 3;

// Also valid: any baseUrl, and the models of VS Code.
const OTHERS = ['custom', 'vscode'];

// These providers offer models of others under their original names.
const HOSTS: ReadonlySet<string> = new Set(
  'azure bedrock vertex groq together fireworks openrouter cerebras ollama lmstudio llamacpp vllm custom vscode'.split(
    ' ',
  ),
);

const MAX_STARTS = 5;
const SHOWN_NODES = 6;

// The most nodes visited to find the cycles of a flow: thousands of nodes that lead into one cycle would take seconds.
const MAX_LOOKS = 2_000_000;

/** The problems of a flow file, in the order of the text. A stale file has only its syntax error. */
export function diagnose(file: FlowFile): FlowDiagnostic[] {
  const diagnostics: FlowDiagnostic[] = [];
  if (file.syntaxError !== undefined) {
    const { message, range } = file.syntaxError;
    const staleNote = file.isStale ? ' The last version without errors is shown until you fix it.' : '';
    diagnostics.push(fileFault('syntax', 'error', `${message}.${staleNote}`, range));
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
  const reported = ranked.slice(0, MAX_DIAGNOSTICS - 1);
  const [next = diagnostics[0]] = ranked.slice(reported.length);
  if (next === undefined) return reported;
  const more = (ranked.length - reported.length).toLocaleString('en-US');
  const message = `${more} more problems in this file are not listed, starting here.`;
  return [...reported, fileFault('unread', 'hint', message, next.range)];
}

/** Providers that LLMClient does not know, and models of no provider or of another one. */
function modelFaults({ models, file }: FlowFile): FlowDiagnostic[] {
  return models.flatMap((use) => [...providerFault(use, file), ...modelFault(use, file)]);
}

function providerFault({ provider }: ModelUse, file: string): FlowDiagnostic[] {
  if (provider === undefined || provider.range.file !== file) return [];
  const names = [...PROVIDER_NAMES, ...OTHERS];
  if (names.includes(provider.value)) return [];
  const message = `The provider "${provider.value}" is unknown, so LLMClient would throw. Choose one of ${PROVIDER_NAMES.join(', ')}, or set only baseUrl.`;
  const near = closest(provider.value, names).filter((name) => editDistance(name, provider.value) <= MAX_DISTANCE);
  const range = insideQuotes(provider.range);
  const fixes = near.map((name) => ({ title: `Change to "${name}"`, edits: [{ range, text: name }] }));
  return [fileFault('unknown-provider', 'error', message, provider.range, fixes)];
}

function modelFault({ provider, model, hasBaseUrl }: ModelUse, file: string): FlowDiagnostic[] {
  if (model === undefined || hasBaseUrl || model.range.file !== file) return [];
  const owner = providerOfModel(model.value);
  if (provider === undefined && owner === undefined) {
    const message = `The name "${model.value}" matches no provider, so openai would be used. Set provider, or correct the name.`;
    return [fileFault('unknown-model', 'warning', message, model.range)];
  }
  // Services that host models of others put the provider into the name: `openai/gpt-4o-mini`.
  const isElsewhere =
    provider !== undefined && owner !== undefined && owner !== provider.value && !HOSTS.has(provider.value);
  if (!isElsewhere) return [];
  const message = `The model "${model.value}" belongs to ${owner}, but the provider is ${provider.value}. Change one of them.`;
  return [fileFault('unknown-model', 'warning', message, model.range)];
}

/** Flows that no run can start. */
function missingStart({ file, graph }: Examined): FlowDiagnostic[] {
  if (graph.start !== undefined || graph.isBranches === true) return [];
  const targets = new Set(graph.edges.map(({ target }) => target));
  const first = graph.nodes.filter(({ id }) => !targets.has(id));
  const candidates = [...first, ...graph.nodes.filter(({ id }) => targets.has(id))].slice(0, MAX_STARTS);
  const isSure = graph.unread.length === 0 && (graph.nodes.length > 0 || graph.runs.length > 0);
  return [
    {
      code: 'no-start',
      severity: isSure ? 'error' : 'hint',
      message: `The start of ${graph.label} cannot be found${isSure ? ': a run would fail at once' : ''}. Set it with new Flow({ start: node }) or flow.start = node.`,
      range: placeOfFlow(file, graph),
      related: graph.unread.slice(0, MAX_RELATED).map(({ reason, range }) => ({ message: reason, range })),
      fixes: candidates.map(({ id, label }) => ({
        title: `Start at ${label}`,
        operation: { type: 'setStart', flow: graph.id, node: id },
      })),
      flow: graph.id,
    },
  ];
}

/** Nodes from which no path leads to an end: only maxVisits or an error would stop a run there. */
function endlessCycles(examined: Examined): FlowDiagnostic[] {
  const { graph, reached } = examined;
  const ending = endingNodes(examined);
  const caught = new Set([...reached].filter((id) => !ending.has(id)));
  const next = Map.groupBy(graph.edges, ({ source }) => source);
  const before = Map.groupBy(graph.edges, ({ target }) => target);
  const diagnostics: FlowDiagnostic[] = [];
  let looked = 0;
  for (const node of graph.nodes) {
    if (!caught.has(node.id)) continue;
    if (looked > MAX_LOOKS || diagnostics.length >= MAX_FAULTS) break;
    const behind = spread(node.id, (id) => next.get(id)?.map(({ target }) => target) ?? []);
    const ahead = spread(node.id, (id) => before.get(id)?.map(({ source }) => source) ?? []);
    looked += behind.size + ahead.size + graph.nodes.length;
    const cycle = graph.nodes.filter(({ id }) => behind.has(id) && ahead.has(id));
    caught.delete(node.id);
    for (const { id } of cycle) caught.delete(id);
    if (!cycle.includes(node)) continue; // it leads into a cycle that is reported separately
    const names = cycle.slice(0, SHOWN_NODES).map(({ label }) => label);
    const more = cycle.length > SHOWN_NODES ? ' → …' : '';
    diagnostics.push({
      code: 'endless-cycle',
      severity: 'warning',
      message: `The loop ${names.join(' → ')}${more} → ${names[0]} has no exit: a run would repeat it until maxVisits, an error or an abort ends it. Return an action that leaves the loop.`,
      range: placeOfNode(examined, node),
      related: cycle
        .slice(1, MAX_RELATED)
        .map((other) => ({ message: other.label, range: placeOfNode(examined, other) })),
      fixes: [],
      flow: graph.id,
      node: node.id,
    });
  }
  return diagnostics;
}

/** The nodes from which an end can be reached; an unknown action counts as an end. */
function endingNodes({ graph }: Examined): Set<string> {
  const sources = Map.groupBy(graph.edges, ({ target }) => target);
  const returned = new Map(
    graph.nodes.map((node) => [node.id, new Set(node.actions.known.map(({ action }) => action))]),
  );
  const exits = new Set(
    graph.edges.filter(({ target }) => target !== null).map(({ source, action }) => `${source}:${action}`),
  );
  const canEnd = ({ id, actions }: FlowNode): boolean =>
    actions.unknown !== undefined || actions.known.some(({ action }) => !exits.has(`${id}:${action}`));
  const ending = new Set(graph.nodes.filter(canEnd).map(({ id }) => id));
  for (const id of ending) {
    for (const { source, action } of sources.get(id) ?? []) {
      if (returned.get(source)?.has(action) === true) ending.add(source);
    }
  }
  return ending;
}

/** The nodes reached from a node; includes the node itself if a path leads back to it. */
function spread(from: string, step: (id: string) => readonly (string | null)[]): Set<string> {
  const ends = new Set<string>();
  const left = [from];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    for (const other of step(id)) {
      if (other === null || ends.has(other)) continue;
      ends.add(other);
      left.push(other);
    }
  }
  return ends;
}
