import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { describeTally, FaultCampaign } from './support/faultCampaign.ts';
import { FAULTS, type FaultType } from './support/faultyLine.ts';
import { FaultySite } from './support/faultySite.ts';
import { temporaryFolder } from './support/service.ts';

declare module 'tls' {
  // The Node.js that runs the tests has it; the lowest one, whose types these are, does not.
  function setDefaultCACertificates(certificates: readonly string[]): void;
}

// 101 is every percent: what CI runs is a sample.
const PLACES = Number(process.env['FARWHARF_TEST_FAULTS'] ?? 4);
const SEED = Number(process.env['FARWHARF_TEST_SEED'] ?? 7);
/** What changes bytes rather than withholds them; without encryption nobody could tell such an event from a true one. */
const FALSIFYING: ReadonlySet<FaultType> = new Set(['duplicate', 'flip']);
const MOVING = FAULTS.filter((type) => !FALSIFYING.has(type));
const guarded = { timeout: 60 * 60_000 };

test('no delay, stall, reset or early close loses or duplicates a job, credit, event or result', guarded, async (t) => {
  const site = await FaultySite.start(t);
  await campaign(t, site, MOVING);
});

test('bytes that were changed or duplicated in transit are never accepted', {
  ...guarded,
  skip: opensslIsMissing() ?? false,
}, async (t) => {
  const site = await encryptedSite(t);
  await campaign(
    t,
    site,
    FAULTS.filter((type) => FALSIFYING.has(type)),
  );
});

async function campaign(t: TestContext, site: FaultySite, types: readonly FaultType[]): Promise<void> {
  const faults = new FaultCampaign(site, { places: PLACES, seed: SEED });
  const tally = await faults.run(types);
  t.diagnostic(describeTally(tally));
  assert.deepEqual(
    tally.flatMap(({ violations }) => violations),
    [],
  );
  await site.checkBalance();
}

async function encryptedSite(t: TestContext): Promise<FaultySite> {
  const files = makeCertificate(await temporaryFolder(t), 'service');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, readFileSync(files.cert, 'utf8')]);
  t.after(() => setDefaultCACertificates(trusted));
  return FaultySite.start(t, { tls: files });
}
