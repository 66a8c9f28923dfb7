import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { type Endpoint, keyHeaders, requestUrl } from '../../agents/llm/providers.ts';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { classifyStatus } from '../../core/network/classifyFailure.ts';
import { networkFailureText } from '../../core/network/failureText.ts';
import { createNetworkFetch } from '../../core/network/networkFetch.ts';

const TIMEOUT_MS = 5000;
const MODELS = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/**
 * The names of the models that an endpoint offers, in the endpoint's order.
 *
 * @throws AppError `not-signed-in` if it does not accept the key, `unreachable` if it returns no list.
 */
export async function listModels(endpoint: Endpoint, key: string | undefined): Promise<readonly string[]> {
  const { host } = new URL(endpoint.baseUrl);
  let response: Response;
  let body: unknown;
  try {
    response = await createNetworkFetch()(requestUrl(endpoint, '/models'), {
      headers: keyHeaders(endpoint, key),
      redirect: 'error', // a redirect could send the key elsewhere
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    body = await response.json().catch(() => undefined);
  } catch (error) {
    const text =
      networkFailureText(error, host) ??
      l10n.t('{0} does not respond ({1}).', host, systemCode(error) ?? messageOf(error));
    throw new AppError('unreachable', text, { cause: error });
  }
  const failure = classifyStatus(response.status);
  if (failure === 'unauthorized' || failure === 'forbidden') {
    throw new AppError(
      'not-signed-in',
      key === undefined
        ? l10n.t('{0} does not accept requests without a key.', host)
        : l10n.t('{0} does not accept this key.', host),
    );
  }
  const models = MODELS.safeParse(body);
  if (!models.success) throw new AppError('unreachable', l10n.t('{0} did not return a list of models.', host));
  return models.data.data.map(({ id }) => id);
}
