import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeViolation, killIn } from '../kills/campaign.ts';
import { PLACES } from '../kills/places/index.ts';

// A sample: `node scripts/killCampaign.ts --kills 1000` is the whole.
const SEED = 20_261_120;

for (const place of PLACES) {
  test(`after a kill at any moment nothing acknowledged is lost: ${place.name}`, async (t) => {
    const missing = place.missing?.();
    if (missing !== undefined) return t.skip(`NOT TESTED: ${missing}`);
    const { kills, midWrite, violations } = await killIn(place, { kills: place.sample ?? 1, midWrite: 1, seed: SEED });
    t.diagnostic(`${midWrite} of ${kills} kills came while something was being written`);
    assert.deepEqual(
      violations.map((violation) => describeViolation(place.name, violation)),
      [],
    );
    assert.ok(midWrite > 0, 'nothing was killed while it wrote');
  });
}
