import { PROVIDER_NAMES, providerOfModel } from '../../agents/llm/providers.ts';
import type { FlowFile, ModelUse } from '../graph/graph.ts';
import { fileFault, type FlowDiagnostic, insideQuotes } from './diagnostic.ts';
import { closest, editDistance } from '../../core/text/similar.ts';

// With more different letters than this, it is another name rather than a misspelling.
const MAX_DISTANCE = 3;

/** Providers that LLMClient does not know, and models of no provider or of another one. */
export function modelFaults({ models, file }: FlowFile): FlowDiagnostic[] {
  return models.flatMap((use) => [...providerFault(use, file), ...modelFault(use, file)]);
}

// Also valid: any baseUrl, and the models of VS Code.
const OTHERS = ['custom', 'vscode'];

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

// These providers offer models of others under their original names.
const HOSTS: ReadonlySet<string> = new Set(
  'azure bedrock vertex groq together fireworks openrouter cerebras ollama lmstudio vllm custom vscode'.split(' '),
);
