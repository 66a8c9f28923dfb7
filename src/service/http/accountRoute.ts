import type * as z from 'zod';
import { type account, UNPRICED_FEATURE } from '../../remote/protocol/schemas.ts';
import { CONTENT_FEATURE, RESULT_CONTENT_FEATURE } from '../../remote/protocol/contents.ts';
import { ENVIRONMENTS_FEATURE, type environmentList } from '../../remote/protocol/environment.ts';
import { REDACTED_RESULTS_FEATURE, SECRETS_FEATURE } from '../../remote/protocol/secret.ts';
import { MAX_RUNTIME_SECONDS } from '../../remote/protocol/submission.ts';
import { SCRIPT_KINDS } from '../../workspace/scripts/scriptKinds.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { restrictedKey } from './access/keyScopes.ts';
import type { KeptEnvironments } from '../environments/keptEnvironments.ts';
import type { Executor } from '../executor/executor.ts';
import { toCredits } from '../store/accounts/credits.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { Store } from '../store/store.ts';
import type { AccountGauge } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';

interface AccountSources {
  readonly store: Store;
  readonly gauge: AccountGauge;
  readonly machineClasses: MachineClasses;
  readonly environments: KeptEnvironments;
  readonly executor: Pick<Executor, 'keepsEnvironments' | 'scriptKinds'>;
  readonly volumes: Pick<Volumes, 'of'>;
}

/** `GET /v1/me`. `credits` is what the key of the request can spend, so that clients that know nothing of budgets forecast correctly. */
export function answerAccount({
  store,
  gauge,
  machineClasses,
  environments,
  executor,
  volumes,
}: AccountSources): (context: AppContext) => Response {
  return (context) => {
    const { id, plan } = context.var.account;
    const { key } = context.var.visit;
    const kinds = executor.scriptKinds?.();
    const body: z.infer<typeof account> = {
      account_id: id,
      plan,
      credits: toCredits(store.spendable(id, { keyId: key?.id }).amount),
      rate_card: machineClasses.rateCard(),
      features: [
        CONTENT_FEATURE,
        RESULT_CONTENT_FEATURE,
        SECRETS_FEATURE,
        REDACTED_RESULTS_FEATURE,
        UNPRICED_FEATURE,
        ...(executor.keepsEnvironments() && environments.nameOf(id) !== undefined ? [ENVIRONMENTS_FEATURE] : []),
      ],
      limits: {
        max_runtime: Math.min(MAX_RUNTIME_SECONDS, gauge.limitsOf(context.var.account).run_time),
        max_upload_bytes: gauge.limitsOf(context.var.account).upload_bytes,
      },
      volumes: [...volumes.of(id)],
      ...(kinds && {
        scripts: SCRIPT_KINDS.filter(({ name }) => kinds.includes(name)).map(({ name: kind, files }) => ({
          kind,
          files: [...files],
        })),
      }),
      ...(key && {
        key: {
          key_id: key.id,
          budget: key.budget === null ? null : toCredits(key.budget),
          expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
          scopes: key.scopes?.split(',') ?? null,
        },
      }),
    };
    return context.json(body);
  };
}

/** `GET /v1/environments`. */
export function answerEnvironments({
  environments,
}: Pick<AccountSources, 'environments'>): (context: AppContext) => Promise<Response> {
  return async (context) => {
    const kept = await environments.list(context.var.account.id, restrictedKey(context));
    const body: z.infer<typeof environmentList> = {
      environments: kept.map(({ name, contents, builtAt, lastUsedAt, seconds, bytes }) => ({
        name,
        contents,
        built_at: new Date(builtAt).toISOString(),
        last_used_at: new Date(lastUsedAt).toISOString(),
        build_seconds: seconds,
        bytes,
      })),
    };
    return context.json(body);
  };
}
