import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { tryParseJson } from '../../core/jsonFields.ts';
import { schemaMessage } from '../../core/text/schemaMessage.ts';
import { secretBody, secretName, type secretChange, type secretList } from '../../remote/protocol/secret.ts';
import type { SecretVault } from '../secrets/secretVault.ts';
import type { AccountGauge } from './access/accountGauge.ts';
import type { App, AppContext } from './access/appEnv.ts';
import { requireScope } from './access/keyScopes.ts';
import { refusal } from './access/refusal.ts';
import { readBody } from './access/readBody.ts';

// The largest value in JSON, where a character takes up to six bytes.
const MAX_BODY_BYTES = 256 * 1024;

/** The routes of `/v1/secrets`. They set, list and remove secrets of the account; none returns a value. */
export function addSecretRoutes(
  app: App,
  { vault, gauge }: { readonly vault: SecretVault; readonly gauge: AccountGauge },
): void {
  app.get('/v1/secrets', requireScope('secrets'), (context) => {
    const body: z.infer<typeof secretList> = { secrets: [...vault.list(context.var.account.id)] };
    return context.json(body);
  });
  app.put('/v1/secrets/:name', requireScope('secrets'), async (context) => {
    const name = nameOf(context);
    gauge.take(context, 'bodies');
    const { value, redact_results: redactsResults } = await readSecret(context.env.incoming);
    vault.set(context.var.account.id, name, value, redactsResults);
    return context.json({ name } satisfies z.infer<typeof secretChange>);
  });
  app.delete('/v1/secrets/:name', requireScope('secrets'), (context) => {
    const name = nameOf(context);
    if (!vault.remove(context.var.account.id, name)) throw refusal(404, `The secret ${name} does not exist.`);
    return context.json({ name } satisfies z.infer<typeof secretChange>);
  });
}

function nameOf(context: AppContext): string {
  const { data, error } = secretName.safeParse(context.req.param('name'));
  if (data === undefined) throw refusal(400, `The name of a secret ${error.issues[0]?.message}.`);
  return data;
}

/** Neither a parser's message nor a schema's repeats the value, because they would reach the client's log. */
async function readSecret(incoming: IncomingMessage): Promise<z.output<typeof secretBody>> {
  const bytes = await readBody(incoming, MAX_BODY_BYTES);
  const body = tryParseJson(bytes.toString('utf8'));
  if (body === undefined) throw refusal(400, 'The body is not JSON.');
  const { data, error } = secretBody.safeParse(body, { error: schemaMessage });
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const what =
    { value: 'The value of a secret', redact_results: 'redact_results' }[String(issue?.path[0])] ?? 'The body';
  throw refusal(400, `${what} ${issue?.message}.`);
}
