import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { explainFailure } from '../../../../src/jobs/service/explain.ts';
import { NetworkError, RemoteError } from '../../../../src/remote/http/errors.ts';

const host = 'https://gpu.example.org';
const explain = (error: unknown) => explainFailure(error, { host, remedies: { key: 'Sign in.', credits: 'Wait.' } });
const failureWith = (fields: object): Error => Object.assign(new Error('the reason'), fields);

test('our own errors keep their words', () => {
  const { kind, sentence } = explain(new AppError('missing', 'Job x does not exist.'));
  assert.deepEqual([kind, sentence], ['missing', 'Job x does not exist.']);
});

test('a failed connection names the service and the reason', () => {
  assert.equal(
    explain(failureWith({ code: 'ECONNREFUSED' })).sentence,
    'Could not reach gpu.example.org: nothing answers at that address.',
  );
  assert.equal(explain(failureWith({ code: 'ERR_TLS_X' })).sentence, 'Could not reach gpu.example.org: the reason.');
});

test('a proxy that refused is a network failure, and a certificate that is not trusted is none', () => {
  const proxy = failureWith({ name: 'ProxyError', message: 'The proxy refused.' });
  assert.deepEqual(explain(proxy), { kind: 'unreachable', code: 'unreachable', sentence: 'The proxy refused.' });
  const { kind, code, sentence } = explain(
    failureWith({ code: 'CERT_HAS_EXPIRED', message: 'certificate has expired' }),
  );
  assert.deepEqual([kind, code], ['certificate', 'CERT_HAS_EXPIRED']);
  assert.match(sentence, /^The certificate of gpu\.example\.org is not trusted \(certificate has expired\)/);
});

test('text from a service cannot move the cursor, and its refusal of input is a sentence', () => {
  const { sentence } = explain(new RemoteError(400, 'bad\u001b[2J \u202erequest'));
  assert.equal(sentence, 'gpu.example.org refused the request: bad request.');
});

test('a connection that broke comes with what to do, and without what only a programmer reads', () => {
  const failures: readonly [Error, RegExp][] = [
    [failureWith({ code: 'ECONNRESET', message: 'aborted' }), /^The connection to gpu\.example\.org broke off\./],
    [
      failureWith({ code: 'ERR_SSL_BAD_RECORD_TYPE', reason: 'bad record type', message: '40ADDF93C37F0000:error' }),
      /^The encrypted connection to gpu\.example\.org failed \(bad record type\)\./,
    ],
    [failureWith({ code: 'HPE_INVALID_CONSTANT' }), /^The response from gpu\.example\.org is damaged, or not HTTP\./],
    [new NetworkError(host, new Error('no data for 180 s')), /no data for 180 s\./],
  ];
  for (const [error, sentence] of failures) {
    const explanation = explain(error);
    assert.equal(explanation.kind, 'unreachable');
    assert.match(explanation.sentence, sentence);
    assert.match(explanation.sentence, /Check the network and try again\.$/);
  }
});
