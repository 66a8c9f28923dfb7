import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { explainFailure } from '../../../../src/jobs/service/explainFailure.ts';
import { AuthError, NetworkError, RemoteError } from '../../../../src/remote/http/remoteErrors.ts';

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

test('the web page of a proxy or of another server is not shown', () => {
  const page = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>';
  for (const status of [400, 404, 502]) {
    assert.match(
      explain(new RemoteError(status, `HTTP ${status}: ${page}`)).sentence,
      new RegExp(
        `^The request to gpu\\.example\\.org failed: HTTP ${status}\\. The response is a web page, .* Try again later\\.$`,
      ),
    );
  }
  const refused = explain(new AuthError(401, `HTTP 401: ${page}`)).sentence;
  assert.equal(refused, 'The API key or sign-in was not accepted (HTTP 401). Sign in.');
});

test('a service that asks to wait is quoted with how long, unless it says so itself', () => {
  const busy = explain(new RemoteError(429, 'HTTP 429: Too Many Requests', { retryAfter: 3_600 }));
  assert.equal(
    busy.sentence,
    'The request to gpu.example.org failed: HTTP 429: Too Many Requests. The service asks you to wait 1 h.',
  );
  const down = explain(new RemoteError(503, 'HTTP 503: Service Unavailable', { retryAfter: 90 }));
  assert.match(down.sentence, / The service asks you to wait 2 min\.$/);
  const own = explain(new RemoteError(429, 'HTTP 429: Too many. Try again in 5 seconds.', { retryAfter: 5 }));
  assert.match(own.sentence, /Try again in 5 seconds\.$/);
});

test('a file that may not be written is named, or its folder while the file has another name', () => {
  const path = '/home/ada/flow.flowtest.json';
  for (const [written, shown] of [
    [path, path],
    [`${path}.0b911f9f.tmp`, '/home/ada'],
  ] as const) {
    assert.deepEqual(explain(failureWith({ code: 'EROFS', path: written })), {
      kind: 'permission',
      code: 'EROFS',
      sentence: `${shown} may not be read or written (EROFS). Check its permissions.`,
    });
  }
});

test('each status of a service has its kind, its code and its sentence', () => {
  const failed = 'The request to gpu.example.org failed: HTTP.';
  for (const [status, kind, sentence] of [
    [400, 'bad-input', 'gpu.example.org refused the request: HTTP.'],
    [401, 'not-signed-in', 'The API key or sign-in was not accepted (HTTP). Sign in.'],
    [402, 'no-credits', 'The job was not accepted: HTTP. Wait.'],
    [403, 'not-signed-in', 'gpu.example.org refused the request (HTTP).'],
    [404, 'missing', failed],
    [409, 'conflict', failed],
    [422, 'bad-input', 'gpu.example.org refused the request: HTTP.'],
    [429, 'conflict', failed],
    [418, 'refused', failed],
    [499, 'refused', failed],
    [500, 'unreachable', failed],
    [503, 'unreachable', failed],
  ] as const) {
    assert.deepEqual(
      explain(new RemoteError(status, 'HTTP')),
      { kind, code: `http-${status}`, sentence },
      String(status),
    );
  }
});

test('a message of a service ends with one full stop', () => {
  const { sentence } = explain(new RemoteError(404, 'Gone. . '));
  assert.equal(sentence, 'The request to gpu.example.org failed: Gone.');
});

test('each way in which a service is not reached has its words', () => {
  for (const [code, reason] of [
    ['ECONNREFUSED', 'nothing answers at that address'],
    ['ENOTFOUND', 'its name is unknown; are you online?'],
    ['EAI_AGAIN', 'its name could not be looked up; are you online?'],
    ['EHOSTUNREACH', 'there is no route to it'],
    ['ENETUNREACH', 'there is no route to it'],
    ['ETIMEDOUT', 'the connection timed out'],
    ['ECONNABORTED', 'the reason'],
    ['EHOSTDOWN', 'the reason'],
    ['ENETDOWN', 'the reason'],
    ['EAI_FAIL', 'the reason'],
  ] as const) {
    assert.deepEqual(explain(failureWith({ code })), {
      kind: 'unreachable',
      code,
      sentence: `Could not reach gpu.example.org: ${reason}${reason.endsWith('?') ? '' : '.'}`,
    });
  }
  for (const code of ['EACCES', 'XECONNREFUSED', 'ERR_X']) {
    assert.deepEqual(explain(failureWith({ code })), { kind: 'unexpected', code, sentence: 'the reason' });
  }
});

test('whatever else was thrown has a kind too', () => {
  assert.deepEqual(explain(new DOMException('x', 'AbortError')), {
    kind: 'interrupted',
    code: 'interrupted',
    sentence: 'Stopped.',
  });
  assert.deepEqual(explain('text\nof two lines'), {
    kind: 'unexpected',
    code: 'failed',
    sentence: 'text of two lines',
  });
  const gone = failureWith({ name: 'MachineUnreachable', message: 'The machine is off.' });
  assert.deepEqual(explain(gone), { kind: 'unreachable', code: 'unreachable', sentence: 'The machine is off.' });
  assert.deepEqual(explain(failureWith({ name: 'AppError', code: 'limit', message: 'Too much.' })), {
    kind: 'limit',
    code: 'limit',
    sentence: 'Too much.',
  });
  assert.deepEqual(explain(failureWith({ name: 'ProxyError', code: 'ERR_PROXY_REFUSED' })), {
    kind: 'unreachable',
    code: 'ERR_PROXY_REFUSED',
    sentence: 'the reason',
  });
  assert.deepEqual(explain(failureWith({ code: 'EPIPE' })).code, 'EPIPE');
  const nowhere = explainFailure(failureWith({ code: 'ECONNREFUSED' }), { remedies: { key: '', credits: '' } });
  assert.equal(nowhere.sentence, 'Could not reach the service: nothing answers at that address.');
  const odd = explainFailure(failureWith({ code: 'ENOTFOUND' }), {
    host: 'no url',
    remedies: { key: '', credits: '' },
  });
  assert.equal(odd.sentence, 'Could not reach the service: its name is unknown; are you online?');
  assert.deepEqual(explain(new NetworkError(host, new Error('no data.'))), {
    kind: 'unreachable',
    code: 'unreachable',
    sentence: 'Request to https://gpu.example.org timed out: no data. Check the network and try again.',
  });
});

test('a value that is nested too deeply for the program is the fault of the input, in words', () => {
  const descend = (depth: number): number => descend(depth + 1) + 1;
  let overflow: unknown;
  try {
    descend(0);
  } catch (error) {
    overflow = error;
  }
  const { kind, sentence } = explain(overflow);
  assert.deepEqual([kind, sentence], ['bad-input', 'The input is nested too deeply. Use a flatter one.']);
});
