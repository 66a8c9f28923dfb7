import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { schemaMessage, schemaProblems } from '../../../../src/core/text/schemaMessage.ts';

const schema = z.strictObject({
  count: z.int().min(0).max(5).optional(),
  share: z.number().gt(0).lt(1).optional(),
  name: z.string().min(1).max(3).optional(),
  word: z.string().min(2).optional(),
  mode: z.enum(['auto', 'on', 'off']).optional(),
  kind: z.literal(2).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  env: z.record(z.string(), z.string()).optional(),
  isOpen: z.boolean().optional(),
  own: z.string().max(1, 'must be one letter').optional(),
  script: z.string(),
});

function problemsOf(value: object): string {
  const { error } = schema.safeParse({ script: 'x', ...value }, { error: schemaMessage });
  return error === undefined ? '' : schemaProblems(error);
}

test('what a value must be is said in plain English, after its name', () => {
  const cases: readonly (readonly [value: object, problem: string])[] = [
    [{ count: 1.5 }, 'count: must be a whole number'],
    [{ count: 'x' }, 'count: must be a number'],
    [{ count: -1 }, 'count: must be at least 0'],
    [{ count: 1e300 }, 'count: must be at most 5'],
    [{ share: 0 }, 'share: must be above 0'],
    [{ share: 1 }, 'share: must be below 1'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'abcd' }, 'name: must have at most 3 characters'],
    [{ word: 'a' }, 'word: must have at least 2 characters'],
    [{ mode: 'maybe' }, 'mode: must be "auto", "on" or "off"'],
    [{ kind: 1 }, 'kind: must be 2'],
    [{ tags: [] }, 'tags: must have at least 1 entry'],
    [{ tags: ['a', 'b', 'c'] }, 'tags: must have at most 2 entries'],
    [{ tags: {} }, 'tags: must be a list'],
    [{ env: [] }, 'env: must be an object'],
    [{ isOpen: 1 }, 'isOpen: must be true or false'],
    [{ own: 'ab' }, 'own: must be one letter'],
    [{ script: undefined }, 'script: is missing'],
    [{ count: 9, name: '' }, 'count: must be at most 5; name: must not be empty'],
    [{ more: 1 }, 'Unrecognized key: "more"'],
  ];
  for (const [value, problem] of cases) assert.equal(problemsOf(value), problem);
});

test('the name of a place can be given', () => {
  const { error } = schema.safeParse([], { error: schemaMessage });
  assert.equal(error && schemaProblems(error, (path) => path || 'meta'), 'meta: must be an object');
});
