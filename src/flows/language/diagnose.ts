import type { FlowFile, ModelUse } from '../graph/graph.ts';
import { replacedConnections, unconnectedActions, unreachableNodes, unusedConnections } from './connectionChecks.ts';
import { examine, fileFault, type FlowDiagnostic, insideQuotes, type Severity } from './diagnostic.ts';
import { unwrittenKeys } from './keyChecks.ts';
import { endlessCycles, missingStart } from './reachability.ts';
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
  'azure bedrock vertex groq together fireworks openrouter cerebras ollama lmstudio vllm custom vscode'.split(' '),
);

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
