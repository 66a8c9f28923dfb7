import * as l10n from '@vscode/l10n';
import { resolveEndpoint } from '../../../agents/llm/providers.ts';
import { AppError } from '../../../core/errors.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import type { AskJudge } from '../../../flows/run/evals/judge.ts';
import type { Keys } from '../../connection/keys.ts';
import { keyFor, openModel } from '../../models/models.ts';

/** Asks the model that a check names, with its key of this window, or else the selected model. */
export function askJudgeWith(keys: Keys): AskJudge {
  return async (messages, wanted, signal) => {
    if (Object.values(wanted).some((value) => value !== undefined)) {
      const endpoint = resolveEndpoint(wanted);
      const { provider, model, baseUrl } = endpoint;
      const apiKey = await keyFor(endpoint, keys);
      const { askModel } = await import('../../models/chatModel.ts');
      const transport = { signal, fetch: createNetworkFetch() };
      const { reply, call } = await askModel({ provider, model, baseUrl, apiKey }, messages, transport);
      return { reply, cost: call?.estimatedCost };
    }
    const selected = await openModel(keys);
    if (selected === undefined) {
      throw new AppError(
        'missing',
        l10n.t('No model is selected. Run "Farwharf: Select Model", or name one in $judge.'),
      );
    }
    let reply = '';
    for await (const part of selected.stream(messages, signal)) reply += part;
    return { reply, cost: undefined };
  };
}
