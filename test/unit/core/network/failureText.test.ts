import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenConnectionText } from '../../../../src/core/network/brokenConnection.ts';
import { networkFailureText } from '../../../../src/core/network/failureText.ts';

const failure = (code: string, fields: object = {}): Error => Object.assign(new Error('failed'), { code, ...fields });

test('a connection that failed while in use is explained with the host and what to do', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']) {
    assert.match(brokenConnectionText(failure(code), 'gpu.example.org') ?? '', /^The connection to gpu\.example\.org/);
  }
  const secure = brokenConnectionText(failure('ERR_SSL_WRONG_VERSION_NUMBER', { reason: 'wrong version' }), 'h') ?? '';
  assert.match(secure, /encrypted connection to h failed \(wrong version\)\./);
  assert.match(brokenConnectionText(failure('EPROTO')) ?? '', /encrypted connection to the service failed\./);
  assert.match(brokenConnectionText(failure('HPE_INVALID_CONSTANT')) ?? '', /damaged, or not HTTP/);
  for (const code of ['ENOTFOUND', 'EPROTONOSUPPORT', 'XHPE_']) {
    assert.equal(brokenConnectionText(failure(code)), undefined, code);
  }
  assert.equal(brokenConnectionText('ECONNRESET'), undefined);
});

test('a certificate that is not trusted is found among the causes, with advice for its kind', () => {
  const text = (code: string): string =>
    networkFailureText(new Error('fetch failed', { cause: failure(code) }), 'gpu.example.org') ?? '';
  assert.match(text('SELF_SIGNED_CERT_IN_CHAIN'), /gpu\.example\.org is not trusted \(failed\).*NODE_EXTRA_CA_CERTS/);
  assert.match(text('CERT_HAS_EXPIRED'), /Check this computer's clock/);
  assert.match(text('ERR_TLS_CERT_ALTNAME_INVALID'), /Check the address/);
  assert.match(text('CERT_REVOKED'), /nothing was sent\. Ask the operator of the service\.$/);
  assert.equal(text('ECONNREFUSED'), '');
  assert.equal(
    networkFailureText(failure('CERT_REVOKED')),
    'The certificate of the service is not trusted (failed), so nothing was sent. Ask the operator of the service.',
  );
});

test('the error of a proxy explains itself, also from another copy of its class', () => {
  const proxyError = Object.assign(new Error('The proxy does not answer.'), { name: 'ProxyError' });
  assert.equal(networkFailureText(new Error('outer', { cause: proxyError })), 'The proxy does not answer.');
});
