// The picture of a training: both losses over time.
import { Canvas } from './canvas.mjs';

const WIDTH = 960;
const HEIGHT = 540;
const FRAME = { left: 72, right: WIDTH - 36, top: 64, bottom: HEIGHT - 72 };
const PAPER = [255, 255, 255];
const INK = [55, 65, 81];
const GRID = [229, 231, 235];
const CURVES = [
  { name: 'training', colour: [37, 99, 235], of: (entry) => entry.loss },
  { name: 'held out', colour: [234, 88, 12], of: (entry) => entry.heldOut },
];

/**
 * Draws the loss of the text that was learned and of the text that was held out.
 *
 * @param {{ seconds: number, loss: number, heldOut: number }[]} history at least two entries
 * @returns {Buffer} a PNG file
 */
export function plotLoss(history) {
  const canvas = new Canvas(WIDTH, HEIGHT, PAPER);
  const losses = history.flatMap((entry) => CURVES.map(({ of }) => of(entry)));
  const xTicks = ticks(0, history.at(-1).seconds, 10);
  const yTicks = ticks(Math.min(...losses), Math.max(...losses), 6);
  const x = scale(xTicks, FRAME.left, FRAME.right);
  const y = scale(yTicks, FRAME.bottom, FRAME.top);

  for (const tick of yTicks) {
    canvas.line([point(FRAME.left, y(tick)), point(FRAME.right, y(tick))], GRID);
    canvas.text(label(tick, yTicks), FRAME.left - 14, y(tick) + 6, INK, { align: 1 });
  }
  for (const tick of xTicks) {
    canvas.line([point(x(tick), FRAME.bottom), point(x(tick), FRAME.bottom + 6)], INK);
    canvas.text(label(tick, xTicks), x(tick), FRAME.bottom + 28, INK, { align: 0.5 });
  }
  canvas.line([point(FRAME.left, FRAME.bottom), point(FRAME.right, FRAME.bottom)], INK);
  canvas.text('loss, nats per character', FRAME.left, FRAME.top - 26, INK);
  canvas.text('seconds', FRAME.right, HEIGHT - 18, INK, { align: 1 });

  for (const [i, { name, colour, of }] of CURVES.entries()) {
    canvas.line(
      history.map((entry) => [x(entry.seconds), y(of(entry))]),
      colour,
      2.5,
    );
    const row = FRAME.top + 24 + i * 28;
    canvas.line([point(FRAME.right - 168, row), point(FRAME.right - 132, row)], colour, 2.5);
    canvas.text(name, FRAME.right - 120, row + 6, INK);
  }
  return canvas.toPng();
}

/** Round numbers that enclose the range from `low` to `high`, in about `count` steps of 1, 2 or 5 times a power of ten. */
function ticks(low, high, count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step - 0.01); // a range that ends a hair above a round number ends at that number
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Maps the range of the ticks to the range from `start` to `end`. */
function scale(tickValues, start, end) {
  const [low, high] = [tickValues[0], tickValues.at(-1)];
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/** As many decimals as the steps need. */
function label(tick, tickValues) {
  const step = tickValues[1] - tickValues[0];
  return tick.toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}

/** The middle of a pixel, so that thin straight lines are sharp. */
function point(x, y) {
  return [Math.floor(x) + 0.5, Math.floor(y) + 0.5];
}
