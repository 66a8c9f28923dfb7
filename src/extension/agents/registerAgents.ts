import type { WindowParts } from '../contributions/parts.ts';
import type { Redactor } from '../../core/redact.ts';
import type { Hosts } from '../account/hosts.ts';
import { Keys } from '../account/keys.ts';
import type { Commands } from '../contributions/commands.ts';
import { AgentTools } from './agentTools.ts';

interface AgentInputs extends Pick<WindowParts, 'context' | 'home' | 'parts'> {
  readonly hosts: Hosts;
  readonly keys: Keys;
  readonly redactor: Redactor;
}

interface AgentFeature {
  /** Keys of language models. */
  readonly modelKeys: Keys;
  /** Created on first use. */
  readonly tools: () => AgentTools;
  readonly commands: () => Promise<Commands<'agents'>>;
}

/** The language models that people select, and the tools for agents. */
export function registerAgents({ context, home, hosts, keys, parts, redactor }: AgentInputs): AgentFeature {
  const modelKeys = new Keys(context.secrets, redactor, 'modelKey');
  return {
    modelKeys,
    tools: parts.onFirstUse(() => new AgentTools({ context, home, hosts, keys })),
    async commands() {
      const { selectModel } = await import('./modelPick.ts');
      return { 'farwharf.selectModel': () => selectModel(modelKeys) };
    },
  };
}
