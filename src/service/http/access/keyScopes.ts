import type { MiddlewareHandler } from 'hono';
import { hasScope, type KeyScope } from '../../store/accounts/apiKeys.ts';
import type { AppContext, AppEnv } from './appEnv.ts';
import { refusal } from './httpRefusal.ts';

/** Refuses requests whose key is restricted to other scopes with 403. */
export function requireScope(scope: KeyScope): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    if (!isAllowed(context, scope)) throw outOfScope(scope);
    await next();
  };
}

/** Whether the key of the request may be used for this. */
export function isAllowed({ var: { caller } }: AppContext, scope: KeyScope): boolean {
  return caller.key === undefined || hasScope(caller.key, scope);
}

/**
 * The ID of a key that may do less than its account: what its jobs leave must not run in jobs of the account's other keys, which may have
 * secrets and spend more. Undefined for all other keys.
 */
export function restrictedKey(context: AppContext): string | undefined {
  const { key } = context.var.caller;
  return key !== undefined && (key.budget !== null || !isAllowed(context, 'secrets')) ? key.id : undefined;
}

export function outOfScope(scope: KeyScope) {
  return refusal(
    403,
    `This API key does not have the scope "${scope}". Use a key that has it, or ask the operator of the service for one.`,
  );
}
