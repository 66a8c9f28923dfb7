import { test } from 'node:test';
import { describeApi } from '../../../../src/service/http/openapi.ts';
import { assertContract } from '../../contract.ts';

test('the description of the service is the one that clients rely on', () => {
  assertContract('openapi', describeApi('1.2.3'));
});
