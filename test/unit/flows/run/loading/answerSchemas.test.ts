import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaExpressions } from '../../../../../src/flows/run/loading/answerSchemas.ts';

test('the schemas of answers are found in the calls of pause', () => {
  const text = `
    import { pause, tool } from 'farwharf/agents';
    const days = z.number() as Days;
    export const search = tool({ name: 'search', input: z.object({}) });
    class Ask extends Node<Shared> {
      post() { return pause({ question: 'When?', input: z.object({ days: days.default(3) }) }); }
      answer(_shared: Shared, input: unknown) { return agents.pause({ question: 'Sure?', 'input': days }) }
    }
    pause(other); pause({ question: 'What?' });
  `;
  assert.deepEqual(schemaExpressions('a.ts', text).toSorted(), ['days', 'z.object({ days: days.default(3) })']);
  assert.deepEqual(schemaExpressions('a.ts', 'pause({ input: '), []);
});
