import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { tryParseJson } from '../../core/jsonFields.ts';
import { schemaMessage } from '../../core/text/schemaMessage.ts';
import { type account, UNPRICED_FEATURE } from '../../remote/protocol/schemas.ts';
import { COMMAND_FEATURE } from '../../remote/protocol/command.ts';
import { DEBUG_FEATURE } from '../../remote/protocol/debugging.ts';
import { CONTENT_FEATURE, RESULT_CONTENT_FEATURE } from '../../remote/protocol/contents.ts';
import { ENVIRONMENTS_FEATURE } from '../../remote/protocol/environment.ts';
import { REDACTED_RESULTS_FEATURE, secretBody, secretName, SECRETS_FEATURE } from '../../remote/protocol/secret.ts';
import { CONNECT_FEATURE } from '../../remote/tunnel/tunnelProtocol.ts';
import { MAX_RUNTIME_SECONDS } from '../../remote/protocol/termValues.ts';
import { SCRIPT_KINDS } from '../../workspace/scripts/scriptKinds.ts';
import type { InsideSettings } from '../config/insideConfig.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { restrictedKey } from './access/keyScopes.ts';
import type { KeptEnvironments } from '../folders/keptEnvironments.ts';
import type { Executor } from '../executor/executor.ts';
import { toCredits } from '../store/accounts/creditLedger.ts';
import type { Volumes } from '../folders/volumes.ts';
import type { Store } from '../store/store.ts';
import type { AccountGauge } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';
import { readRequestBody } from './access/readBody.ts';
import { refusal } from './access/httpRefusal.ts';
import type { SecretVault } from '../jobs/secretVault.ts';
import type { RouteHandlers } from './apiRoutes.ts';
import { holdLimit } from './submit/acceptJob.ts';

// The largest value of a secret in JSON, where a character takes up to six bytes.
const MAX_SECRET_BODY_BYTES = 256 * 1024;

export interface AccountOptions {
  readonly store: Store;
  readonly gauge: AccountGauge;
  readonly machineClasses: MachineClasses;
  readonly environments: KeptEnvironments;
  readonly executor: Pick<Executor, 'keepsEnvironments' | 'scriptKinds' | 'packageTools' | 'placement' | 'connect'>;
  readonly inside: InsideSettings;
  readonly volumes: Pick<Volumes, 'of'>;
  readonly vault: SecretVault;
}

/** What an account has, and its secrets, of which nothing returns a value. */
export function accountHandlers(
  options: AccountOptions,
): Pick<RouteHandlers, 'account' | 'environments' | 'listSecrets' | 'setSecret' | 'removeSecret'> {
  const { vault, gauge, environments } = options;
  return {
    account: (context) => describeAccount(context, options),
    environments: async (context) => {
      const kept = await environments.list(context.var.account.id, restrictedKey(context));
      return {
        environments: kept.map(({ name, contents, builtAt, lastUsedAt, seconds, bytes }) => ({
          name,
          contents,
          built_at: new Date(builtAt).toISOString(),
          last_used_at: new Date(lastUsedAt).toISOString(),
          build_seconds: seconds,
          bytes,
        })),
      };
    },
    listSecrets: (context) => ({ secrets: [...vault.list(context.var.account.id)] }),
    setSecret: async (context) => {
      const name = nameOfSecret(context);
      gauge.take(context, 'bodies');
      const { value, redact_results: redactsResults } = await readSecret(context.env.incoming);
      vault.set(context.var.account.id, name, value, redactsResults);
      return { name };
    },
    removeSecret: (context) => {
      const name = nameOfSecret(context);
      if (!vault.remove(context.var.account.id, name)) throw refusal(404, `The secret ${name} does not exist.`);
      return { name };
    },
  };
}

/** `credits` is what the key of the request can spend, so that clients that know nothing of budgets forecast correctly. */
function describeAccount(
  context: AppContext,
  { store, gauge, machineClasses, environments, executor, inside, volumes }: AccountOptions,
): z.infer<typeof account> {
  const {
    account: holder,
    caller: { key },
  } = context.var;
  const { id, plan } = holder;
  const maxHold = holdLimit(id, { executor, inside });
  const kinds = executor.scriptKinds?.();
  const tools = executor.packageTools?.();
  return {
    account_id: id,
    plan,
    credits: toCredits(store.spendable(id, { keyId: key?.id }).amount),
    rate_card: machineClasses.rateCard().map((item) => {
      const unavailable = executor.placement?.refusalOf(item.machine_class);
      return { ...item, ...(unavailable !== undefined && { unavailable }) };
    }),
    features: [
      COMMAND_FEATURE,
      CONTENT_FEATURE,
      RESULT_CONTENT_FEATURE,
      SECRETS_FEATURE,
      REDACTED_RESULTS_FEATURE,
      UNPRICED_FEATURE,
      ...(executor.connect === undefined || !inside.enabled ? [] : [CONNECT_FEATURE]),
      ...(maxHold > 0 ? [DEBUG_FEATURE] : []),
      ...(executor.keepsEnvironments() && environments.nameOf(id) !== undefined ? [ENVIRONMENTS_FEATURE] : []),
    ],
    limits: {
      max_runtime: Math.min(MAX_RUNTIME_SECONDS, gauge.limitsOf(holder).run_time),
      max_upload_bytes: gauge.limitsOf(holder).upload_bytes,
      ...(maxHold > 0 && { max_hold: maxHold }),
    },
    volumes: [...volumes.of(id)],
    ...(kinds && {
      scripts: SCRIPT_KINDS.filter(({ name }) => kinds.includes(name)).map(({ name: kind, files }) => ({
        kind,
        files: [...files],
      })),
    }),
    ...(tools && { package_tools: [...tools] }),
    ...(key && {
      key: {
        key_id: key.id,
        budget: key.budget === null ? null : toCredits(key.budget),
        expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
        scopes: key.scopes?.split(',') ?? null,
      },
    }),
  };
}

function nameOfSecret(context: AppContext): string {
  const { data, error } = secretName.safeParse(context.req.param('name'));
  if (data === undefined) throw refusal(400, `The name of a secret ${error.issues[0]?.message}.`);
  return data;
}

/** Neither a parser's message nor a schema's repeats the value, because they would reach the client's log. */
async function readSecret(incoming: IncomingMessage): Promise<z.output<typeof secretBody>> {
  const bytes = await readRequestBody(incoming, MAX_SECRET_BODY_BYTES);
  const body = tryParseJson(bytes.toString('utf8'));
  if (body === undefined) throw refusal(400, 'The body is not JSON.');
  const { data, error } = secretBody.safeParse(body, { error: schemaMessage });
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const what =
    { value: 'The value of a secret', redact_results: 'redact_results' }[String(issue?.path[0])] ?? 'The body';
  throw refusal(400, `${what} ${issue?.message}.`);
}
