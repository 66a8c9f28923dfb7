import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenConnectionText, networkFailureText } from '../../../../src/core/network/failureText.ts';

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

test('a broken connection is explained in these words', () => {
  const remedy = 'Check the network and try again.';
  assert.equal(brokenConnectionText(failure('EPIPE')), `The connection to the service broke off. ${remedy}`);
  assert.equal(brokenConnectionText(failure('EPROTO'), 'h'), `The encrypted connection to h failed. ${remedy}`);
  const reason = failure('ERR_SSL_X', { reason: 'bad' });
  assert.equal(brokenConnectionText(reason, 'h'), `The encrypted connection to h failed (bad). ${remedy}`);
  assert.equal(
    brokenConnectionText(failure('ERR_SSL_X', { reason: 5 }), 'h'),
    `The encrypted connection to h failed. ${remedy}`,
  );
  assert.equal(brokenConnectionText(failure('HPE_X'), 'h'), `The response from h is damaged, or not HTTP. ${remedy}`);
  for (const code of ['XECONNRESET', 'ECONNRESETX', 'XERR_SSL_', 'EPROTOX']) {
    assert.equal(brokenConnectionText(failure(code)), undefined, code);
  }
});

test('the advice for a certificate depends on what is wrong with it', () => {
  const adviceFor = (code: string): string | undefined =>
    networkFailureText(Object.assign(new Error('bad; advice of Node'), { code }), 'h')?.replace(
      'The certificate of h is not trusted (bad), so nothing was sent. ',
      '',
    );
  const authority =
    "If your company or the service has its own certificate authority, add that authority's certificate to the operating system's store, or to the file in NODE_EXTRA_CA_CERTS, and start again. Otherwise ask the operator of the service.";
  for (const code of [
    'CERT_UNTRUSTED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ]) {
    assert.equal(adviceFor(code), authority, code);
  }
  const dates = "Check this computer's clock, or ask the operator of the service to renew its certificate.";
  for (const code of ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']) assert.equal(adviceFor(code), dates, code);
  const name = 'Check the address, or ask the operator of the service.';
  for (const code of ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH']) assert.equal(adviceFor(code), name, code);
  for (const code of ['INVALID_CA', 'CERT_REVOKED'])
    assert.equal(adviceFor(code), 'Ask the operator of the service.', code);
  assert.equal(networkFailureText('CERT_REVOKED'), undefined);
  assert.equal(networkFailureText(new Error('no code')), undefined);
});
