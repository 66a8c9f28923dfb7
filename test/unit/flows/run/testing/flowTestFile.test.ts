import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowTestName } from '../../../../../src/flows/run/testing/flowTestFile.ts';

test('a flow test is named by the part of its file name between the flow and the suffix', () => {
  const flowTest = { file: 'research.mts' };
  assert.equal(flowTestName('/x/research.harbours.flowtest.json', flowTest), 'harbours');
  assert.equal(flowTestName('/x/other.flowtest.json', flowTest), 'other');
});
