import { randomFrom } from '../../test/random.ts';
import type { Calibration } from './calibration.ts';
import { Clock } from './clock.ts';
import { times } from './cpuMeter.ts';
import { ONE_SERVER } from './design.ts';
import { exponential } from './distributions.ts';
import { Front } from './front.ts';
import { Samples } from './samples.ts';
import { Station } from './station.ts';

const CONNECTIONS = 8;
const SECONDS = 60;
const CUSTOMERS = 400_000;
const SERVICE_MS = 1;
const SHARES = [0.5, 0.8, 0.9];

/** The time that customers of one server spend there, simulated and by the formulas for M/M/1 and M/D/1 (Pollaczek and Khinchine). */
export function checkFormulas(): readonly {
  readonly name: string;
  readonly simulated: number;
  readonly formula: number;
}[] {
  return SHARES.flatMap((share) => [
    { name: `M/M/1 at ${share * 100} %`, simulated: meanStay(share, true), formula: SERVICE_MS / (1 - share) },
    {
      name: `M/D/1 at ${share * 100} %`,
      simulated: meanStay(share, false),
      formula: SERVICE_MS + (share * SERVICE_MS) / (2 * (1 - share)),
    },
  ]);
}

function meanStay(share: number, isExponential: boolean): number {
  const clock = new Clock();
  const station = new Station(clock);
  const random = randomFrom(1);
  const stays = new Samples();
  let left = CUSTOMERS;
  const arrive = (): void => {
    const at = clock.now;
    station.use(isExponential ? exponential(SERVICE_MS, random) : SERVICE_MS, () => stays.add(clock.now - at));
    left -= 1;
    if (left > 0) clock.after(exponential(SERVICE_MS / share, random), arrive);
  };
  arrive();
  clock.run();
  return stays.mean;
}

/** The load of small submissions that a calibration measured, simulated: the same connections, at the same rate. */
export function simulateSubmits(calibration: Calibration, perSecond: number) {
  const clock = new Clock();
  const front = new Front(clock, randomFrom(1), { calibration, design: ONE_SERVER });
  const { submit, elsewhereMs } = calibration.requests;
  const delays = new Samples();
  let turn = 0;
  const sendOn = (): void => {
    const due = (turn++ / perSecond) * 1000;
    if (due > SECONDS * 1000) return;
    clock.at(due, () =>
      front.do(times(submit, 0.5), () =>
        clock.after(elsewhereMs, () =>
          front.do(times(submit, 0.5), () =>
            front.change(() => {
              delays.add(clock.now - due);
              sendOn();
            }),
          ),
        ),
      ),
    );
  };
  for (let connection = 0; connection < CONNECTIONS; connection += 1) sendOn();
  clock.run();
  return {
    p50: delays.quantile(0.5),
    p99: delays.quantile(0.99),
    /** With the waits for transactions, … */
    loopShare: (front.loop.highestShare * 3600) / SECONDS,
    /** … and without, as a processor's time is measured. */
    processorShare: (submit.loopMs * delays.count) / (clock.now || 1),
  };
}
