import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { AppEnv } from '../../../../src/service/http/access/appEnv.ts';
import { describeApi } from '../../../../src/service/http/openapi.ts';
import { addRoutes, type RouteHandlers, ROUTES } from '../../../../src/service/http/apiRoutes.ts';
import { type KeyScope, SCOPES } from '../../../../src/service/store/accounts/apiKeys.ts';
import { assertContract } from '../../contract.ts';

interface Operation {
  readonly security?: readonly { readonly key: readonly string[] }[];
}

test('the description of the service is the one that clients rely on', () => {
  assertContract('openapi', describeApi('1.2.3'));
});

test('a key gets as far as a handler exactly if it has a scope that the description names', async () => {
  let scopes: readonly KeyScope[] = [];
  const app = new Hono<AppEnv>();
  app.use((context, next) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of a key is read before a handler
    context.set('caller', { key: { scopes: scopes.join(',') } } as AppEnv['Variables']['caller']);
    return next();
  });
  const handlers = Object.fromEntries(Object.keys(ROUTES).map((name) => [name, () => new Response('handled')]));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- has each of the names
  addRoutes(app, handlers as unknown as RouteHandlers);
  let checked = 0;
  for (const [path, operations] of Object.entries(describeApi('1.2.3').paths)) {
    for (const [method, { security = [] }] of Object.entries(operations as Record<string, Operation>)) {
      const needed = security.flatMap(({ key }) => key);
      for (const scope of SCOPES) {
        scopes = [scope];
        const { status } = await app.request(path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
        // Which of two scopes is needed depends on the job, so the handler checks it.
        const isHandled = needed.length !== 1 || needed.includes(scope);
        assert.equal(status, isHandled ? 200 : 403, `${method} ${path} with a key for ${scope}`);
        checked += 1;
      }
    }
  }
  assert.equal(checked, Object.keys(ROUTES).length * SCOPES.length);
});
