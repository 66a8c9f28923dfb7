// Kills real processes at random moments, wherever something is stored or a tunnel passes, and checks after the next start that nothing
// acknowledged is lost: `node scripts/killCampaign.ts [--kills 1000] [--seed 1] [--only PLACE]`. A violation is printed with what repeats it.
import { parseArgs } from 'node:util';
import { countsOf, describeViolation, killIn, type Tally, tableOf } from '../test/kills/campaign.ts';
import { PLACES } from '../test/kills/places/index.ts';

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const places = PLACES.filter(({ name }) => flags.only === undefined || name === flags.only);
if (places.length === 0)
  throw new Error(`There is no place ${flags.only}; there is ${PLACES.map(({ name }) => name).join(', ')}.`);
const [kills, seed] = [Number(flags.kills), Number(flags.seed)];
const tallies: Tally[] = [];
for (const [number, place] of places.entries()) {
  const missing = place.missing?.();
  if (missing !== undefined) throw new Error(`${place.name}: ${missing}`);
  const share = Math.floor(kills / places.length) + (number < kills % places.length ? 1 : 0);
  const started = performance.now();
  const onViolation: Parameters<typeof killIn>[1]['onViolation'] = (violation) =>
    print(describeViolation(place.name, violation));
  tallies.push(await killIn(place, { kills: share, seed, onViolation }));
  print(`${place.name}: ${share} kills in ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
}
print(`\n${tableOf(tallies)}`);
for (const line of tallies.flatMap((tally) => countsOf(tally) ?? [])) print(line);
process.exitCode = tallies.some(({ violations }) => violations.length > 0) ? 1 : 0;
